import type { Clock } from "../base/clock.ts";
import type { LinkId, TenantId } from "../base/ids.ts";
import type { Sql } from "./sql.ts";
import { ofTenant, type Trx } from "./tenant-db.ts";
import { raiseVersions } from "./versions.ts";

/**
 * Handles changes of a tenant that affect the answers of its links: its plan, its limits, its suspension. Every link of
 * the tenant needs a new version, or cached copies stay as they were. A tenant may have a million links, and one
 * transaction over all of them would block everyone.
 *
 * So the change and a note (`outdate`) are one transaction, and the links follow in pages. Each page raises its
 * versions and advances the note in one transaction, and the last one deletes it. Any process that finds a note
 * continues with it: the command that made the change, and every server, which checks every ten seconds. A killed
 * process leaves the note where it was. Another change of the same tenant resets it to the beginning.
 *
 * Notes are rows of `walks`, named after their tenant, with the ID of the last processed link.
 */
export interface Outdated {
  /** Whether a tenant's links are waiting for new versions. */
  pending(): Promise<boolean>;
  /** Runs until nothing is left: for this tenant, or for all. Returns how many links it raised. */
  finish(tenant?: TenantId): Promise<number>;
}

const prefix = "outdated:";
const afterPrefix = "outdated;"; // the next character
const pageLinks = 200;
const notesAtOnce = 1_000;

/** Call in the transaction of the change. */
export async function outdate(trx: Trx, tenants: readonly TenantId[]): Promise<void> {
  // Sorted, so that two transactions cannot deadlock; in chunks, because a plan may have many tenants.
  const notes = tenants.toSorted().map((tenant) => ({ name: prefix + tenant, position: "" }));
  for (let at = 0; at < notes.length; at += notesAtOnce) {
    await trx
      .insertInto("walks")
      .values(notes.slice(at, at + notesAtOnce))
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ position: "" }))
      .execute();
  }
}

export function createOutdated(sql: Sql, clock: Clock, page = pageLinks): Outdated {
  const notes = () =>
    sql.db.selectFrom("walks").select("name").where("name", ">", prefix).where("name", "<", afterPrefix);

  /** `undefined` if nothing is left to do. */
  const raisePage = (tenant: TenantId): Promise<number | undefined> =>
    sql.transaction(async (trx) => {
      const name = prefix + tenant;
      const note = await sql
        .forUpdate(trx.selectFrom("walks").select("position").where("name", "=", name))
        .executeTakeFirst();
      if (note === undefined) return undefined;
      const rows = await ofTenant(trx, tenant)
        .selectFrom("links")
        .select(["id", "domain", "code"])
        .where("id", ">", note.position as LinkId)
        .orderBy("id")
        .limit(page)
        .execute();
      await raiseVersions(sql, trx, { links: rows }, clock.now());
      const last = rows.at(-1)?.id;
      if (last === undefined || rows.length < page) await trx.deleteFrom("walks").where("name", "=", name).execute();
      else await trx.updateTable("walks").set({ position: last }).where("name", "=", name).execute();
      return rows.length;
    });

  async function finishOne(tenant: TenantId): Promise<number> {
    for (let total = 0; ; ) {
      const count = await raisePage(tenant);
      if (count === undefined) return total;
      total += count;
    }
  }

  return {
    async pending() {
      return (await notes().limit(1).executeTakeFirst()) !== undefined;
    },

    async finish(tenant) {
      if (tenant !== undefined) return finishOne(tenant);
      for (let total = 0; ; ) {
        const note = await notes().orderBy("name").limit(1).executeTakeFirst();
        if (note === undefined) return total;
        total += await finishOne(note.name.slice(prefix.length) as TenantId);
      }
    },
  };
}
