import { type Change, recordChange } from "./feed.ts";
import type { Sql } from "./sql.ts";
import type { Trx } from "./tenant-db.ts";

/** Where a link is, or was. */
export interface Place {
  /** Empty: the server's own domain. */
  readonly domain: string;
  readonly code: string;
}

/**
 * The next version of each of these, and its row in the change feed: every copy of them is then out of date. The answer is in
 * the order of domain and code, without those that never existed.
 *
 * Rows are locked in the order of domain and code, so that two transactions cannot wait for each other. A page of links
 * has few domains, so each takes two statements: an `update` alone would lock in any order it likes.
 */
export async function raiseVersions(sql: Sql, trx: Trx, places: readonly Place[], at: number): Promise<Change[]> {
  const changes: Change[] = [];
  for (const [domain, some] of byDomain(places)) {
    const codes = some.map(({ code }) => code);
    const those = trx
      .selectFrom("link_versions")
      .select("code")
      .where("domain", "=", domain)
      .where("code", "in", codes);
    await sql.forUpdate(those.orderBy("code")).execute();
    const raised = await trx
      .updateTable("link_versions")
      .set((expression) => ({ version: expression("version", "+", 1) }))
      .where("domain", "=", domain)
      .where("code", "in", codes)
      .returning(["code", "version"])
      .execute();
    changes.push(
      ...raised.map(({ code, version }) => ({ domain, code, version })).sort((a, b) => (a.code < b.code ? -1 : 1)),
    );
  }
  if (changes.length > 0) await recordChange(trx, changes, at);
  return changes;
}

const byDomain = (places: readonly Place[]): [domain: string, Place[]][] =>
  [...Map.groupBy(places, ({ domain }) => domain)].sort(([a], [b]) => (a < b ? -1 : 1));
