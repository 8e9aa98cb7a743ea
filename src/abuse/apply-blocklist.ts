import type { Clock } from "../base/clock.ts";
import type { LinkId } from "../base/ids.ts";
import { createDomainStore } from "../domains/store.ts";
import type { Actor } from "../history/history.ts";
import type { Sql } from "../sql/sql.ts";
import { acrossTenants } from "../sql/tenant-db.ts";
import type { Place } from "../sql/versions.ts";
import type { Blocklist } from "./blocklist.ts";
import type { SuspensionReason, Suspensions } from "./suspensions.ts";

/**
 * Applies a changed blocklist to existing links: links to a listed host are suspended, and links suspended only by the
 * list are restored when it no longer lists their host. The same goes for the root and 404 targets of custom domains.
 * Processes all links in short pages; an interrupted run starts over and finds most of it done.
 */
export interface BlocklistParts {
  readonly sql: Sql;
  readonly suspensions: Suspensions;
  readonly blocklist: Blocklist;
  readonly clock: Clock;
}

export interface BlocklistOutcome {
  readonly looked: number;
  readonly suspended: number;
  readonly freed: number;
  /** Custom domains with a target that was blocked or unblocked. */
  readonly domains: number;
}

const walk = "blocklist";
const pageRows = 500;

/** Whether there is a list that differs from the one applied last. */
export async function isOutdated({ sql, blocklist }: Pick<BlocklistParts, "sql" | "blocklist">): Promise<boolean> {
  const fingerprint = blocklist.fingerprint();
  if (fingerprint === undefined) return false;
  const row = await sql.db.selectFrom("walks").select("position").where("name", "=", walk).executeTakeFirst();
  return row?.position !== fingerprint;
}

export async function applyBlocklist(parts: BlocklistParts): Promise<BlocklistOutcome> {
  const { sql, blocklist } = parts;
  // As it was at the start: later changes are applied by the next run.
  const position = blocklist.fingerprint();
  if (position === undefined) return { looked: 0, suspended: 0, freed: 0, domains: 0 };
  const freed = await free(parts);
  const { looked, suspended } = await suspend(parts);
  const domains = await createDomainStore(sql).markBlocked(blocklist.isBlocked, parts.clock.now());
  await sql.db
    .insertInto("walks")
    .values({ name: walk, position })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ position }))
    .execute();
  return { looked, suspended, freed, domains };
}

/**
 * Restores a link, unless the list still contains a host it leads to: then it stays suspended by the list alone, and is
 * restored with it. Returns the host in that case.
 */
export async function restoreUnlessBlocked(
  { sql, suspensions, blocklist }: Omit<BlocklistParts, "clock">,
  { domain, code }: Place,
  by: Actor,
): Promise<{ kind: "restored" } | { kind: "not_suspended" } | { kind: "blocked"; host: string }> {
  const row = await acrossTenants(sql.db)
    .selectFrom("suspended_links as s")
    .leftJoin("links as l", (join) => join.onRef("l.domain", "=", "s.domain").onRef("l.code", "=", "s.code"))
    .select(addresses)
    .where("s.domain", "=", domain)
    .where("s.code", "=", code)
    .executeTakeFirst();
  const host = row && blockedHost(blocklist, row);
  if (host !== undefined) {
    await suspensions.suspendLink({ domain, code }, becauseOf(host));
    return { kind: "blocked", host };
  }
  const version = await suspensions.restoreLink({ domain, code }, by);
  return version === undefined ? { kind: "not_suspended" } : { kind: "restored" };
}

const byBlocklist: Actor = { kind: "job", name: "blocklist" };

const becauseOf = (host: string): SuspensionReason => ({
  cause: "blocklist",
  reason: `${host} is on the blocklist`,
  by: byBlocklist,
});

async function suspend({
  sql,
  suspensions,
  blocklist,
}: BlocklistParts): Promise<Pick<BlocklistOutcome, "looked" | "suspended">> {
  let [looked, suspended] = [0, 0];
  let after = "" as LinkId;
  for (;;) {
    const rows = await acrossTenants(sql.db)
      .selectFrom("links as l")
      .leftJoin("suspended_links as s", (join) =>
        join.onRef("s.domain", "=", "l.domain").onRef("s.code", "=", "l.code"),
      )
      .select(["l.id", "l.domain", "l.code", "s.cause"])
      .select(addresses)
      .where("l.id", ">", after)
      .orderBy("l.id")
      .limit(pageRows)
      .execute();
    for (const { domain, code, cause, ...row } of rows) {
      const host = cause === null ? blockedHost(blocklist, row) : undefined;
      if (host === undefined) continue;
      if ((await suspensions.suspendLink({ domain, code }, becauseOf(host))) !== undefined) suspended++;
    }
    looked += rows.length;
    const last = rows.at(-1)?.id;
    if (last === undefined || rows.length < pageRows) return { looked, suspended };
    after = last;
  }
}

/** All at once: a list suspends only few links. */
async function free({ sql, suspensions, blocklist }: BlocklistParts): Promise<number> {
  const rows = await acrossTenants(sql.db)
    .selectFrom("suspended_links as s")
    .leftJoin("links as l", (join) => join.onRef("l.domain", "=", "s.domain").onRef("l.code", "=", "s.code"))
    .select(["s.domain", "s.code"])
    .select(addresses)
    .where("s.cause", "=", "blocklist")
    .execute();
  let freed = 0;
  for (const { domain, code, ...row } of rows) {
    if (blockedHost(blocklist, row) !== undefined) continue;
    if ((await suspensions.restoreLink({ domain, code }, byBlocklist, "blocklist")) !== undefined) freed++;
  }
  return freed;
}

/** Every column with a destination. */
const addresses = ["l.url", "l.fallback_url", "l.rules", "l.split"] as const;

interface Addresses {
  readonly url: string | null;
  readonly fallback_url: string | null;
  /** JSON: objects with a `url`. */
  readonly rules: string | null;
  readonly split: string | null;
}

function blockedHost(blocklist: Blocklist, row: Addresses): string | undefined {
  const listed = [row.rules, row.split].flatMap((json) => JSON.parse(json ?? "[]") as { url: string }[]);
  return [row.url, row.fallback_url, ...listed.map(({ url }) => url)]
    .flatMap((url) => (url !== null && URL.canParse(url) ? [new URL(url).hostname] : []))
    .find((host) => blocklist.isBlocked(host));
}
