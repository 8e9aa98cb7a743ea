import { Problem } from "../../base/errors.ts";
import type { LinkId, TenantId } from "../../base/ids.ts";
import type { LinkVersion } from "../../cache/feed.ts";
import { type Actor, recordHistory } from "../../history/history.ts";
import { monthName } from "../../limits/window.ts";
import type { LinkNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import { type Db, ofTenant, type TenantDb, type Trx } from "../../sql/tenant-db.ts";
import { type Place, raiseVersions } from "../../sql/versions.ts";
import { changedMeanwhile, foreignDomain, missing, refusal } from "../create/refusals.ts";
import { cacheKey, type Link, ownDomain } from "../link.ts";
import { toLink, withVersion } from "../rows.ts";

/**
 * Moves a link to another domain, with its code. The old address answers 404, and its code stays the owner's, so the move
 * can be undone. The hits of the month move along: a move must not give a link a new month. Neither must it end a
 * suspension, so a suspended link stays where it is.
 */
export type MoveLink = (
  tenant: TenantId,
  id: LinkId,
  domain: string,
  by: Actor,
  at: number,
  expected?: number,
) => Promise<Moved>;

export interface Moved {
  readonly before: Link;
  readonly link: Link;
  /** Of both places; empty if it was there already. */
  readonly changes: readonly LinkVersion[];
}

export function createMoveLink(sql: Sql): MoveLink {
  const lockLink = statement((own: TenantDb, { id }: Params<{ id: LinkId }>) =>
    sql.forUpdate(own.selectFrom("links").select("id").where("id", "=", id)),
  );
  const holdHost = statement((own: TenantDb, { host }: Params<{ host: string }>) =>
    sql.forShare(own.selectFrom("domains").select("host").where("host", "=", host).where("state", "=", "verified")),
  );

  return (tenant, id, domain, by, at, expected) =>
    sql.transaction(async (trx) => {
      const own = ofTenant(trx, tenant);
      if (domain !== ownDomain && (await holdHost.first(own, { host: domain })) === undefined)
        throw foreignDomain(domain);
      await lockLink.first(own, { id });
      const row = await selectLink.first(own, { id });
      const { number } = (await selectNumber.first(own, { id })) ?? {};
      if (row === undefined || number === undefined) throw missing();
      const before = toLink(row);
      if (expected !== undefined && expected !== before.version) throw changedMeanwhile();
      if (before.domain === domain) return { before, link: before, changes: [] };
      const [from, to] = [before, { domain, code: before.code }];
      const changes = await raiseVersions(sql, trx, { from, to, tenant }, at);
      const version = changes[1]?.version;
      if (version === undefined) throw refusal({ kind: "taken" }, { ...to, generated: false });
      if ((await selectSuspended.first(trx, { domain: from.domain, code: from.code })) !== undefined) {
        throw new Problem("link_suspended", "The operator has suspended this link, so it cannot be moved.");
      }
      await setDomain.run(own, { id, domain, at });
      // Its name once it is deleted. Clicks at the old address may still be on their way, and be its first: they must find it renamed.
      if (number !== null) {
        await insertClicks.run(own, { number, domain, code: to.code });
        await renameClicks.run(own, { number, domain });
      }
      await carryHits(trx, from, to, monthName(at));
      const link = { ...before, domain, version, updatedAt: at };
      await recordHistory(
        trx,
        { now: () => at },
        {
          ...{ tenant, actor: by, action: "link.move", version },
          subject: { kind: "link", id, name: cacheKey(domain, link.code) },
          ...{ before: { domain: from.domain }, after: { domain } },
        },
      );
      return { before, link, changes };
    });
}

/** Leases of the old place that are still out count as spent: at most a few hits, and never too few. */
async function carryHits(trx: Trx, from: Place, to: Place, month: string): Promise<void> {
  const old = await selectHits.all(trx, { domain: from.domain, code: from.code, month });
  for (const { draws, counted, reserved } of old) {
    const known = await selectHitsOf.first(trx, { ...to, month, draws });
    const total = Math.max(counted + reserved, known?.counted ?? 0);
    if (known === undefined) await insertHits.run(trx, { ...to, month, draws, counted: total });
    else await setHits.run(trx, { ...to, month, draws, counted: total });
  }
}

const selectLink = statement((own: TenantDb, { id }: Params<{ id: LinkId }>) =>
  withVersion(own).where("links.id", "=", id),
);

const setDomain = statement((own: TenantDb, { id, domain, at }: Params<{ id: LinkId; domain: string; at: number }>) =>
  own.updateTable("links").set({ domain, updated_at: at }).where("id", "=", id),
);

const selectNumber = statement((own: TenantDb, { id }: Params<{ id: LinkId }>) =>
  own.selectFrom("links").select("number").where("id", "=", id),
);

interface ClicksName {
  readonly number: LinkNumber;
  readonly domain: string;
}

const insertClicks = statement((own: TenantDb, { number, domain, code }: Params<ClicksName & { code: string }>) =>
  own
    .insertInto("click_links")
    .values({ link: number, domain, code, clicks: 0, first_at: null, last_at: null })
    .onConflict((conflict) => conflict.column("link").doNothing()),
);

const renameClicks = statement((own: TenantDb, { number, domain }: Params<ClicksName>) =>
  own.updateTable("click_links").set({ domain }).where("link", "=", number),
);

const selectSuspended = statement((db: Db, { domain, code }: Params<{ domain: string; code: string }>) =>
  db.selectFrom("suspended_links").select("domain").where("domain", "=", domain).where("code", "=", code),
);

interface Month {
  readonly domain: string;
  readonly code: string;
  readonly month: string;
}
type Drawn = Month & { readonly draws: "hits" | "exempt" };

const selectHits = statement((db: Db, { domain, code, month }: Params<Month>) =>
  db
    .selectFrom("quotas")
    .select(["draws", "counted", "reserved"])
    .where("domain", "=", domain)
    .where("code", "=", code)
    .where("month", "=", month)
    .orderBy("draws"),
);

const selectHitsOf = statement((db: Db, { domain, code, month, draws }: Params<Drawn>) =>
  db
    .selectFrom("quotas")
    .select("counted")
    .where("domain", "=", domain)
    .where("code", "=", code)
    .where("month", "=", month)
    .where("draws", "=", draws),
);

const insertHits = statement(
  (db: Db, { domain, code, month, draws, counted }: Params<Drawn & { readonly counted: number }>) =>
    db.insertInto("quotas").values({ domain, code, month, draws, counted, reserved: 0 }),
);

const setHits = statement(
  (db: Db, { domain, code, month, draws, counted }: Params<Drawn & { readonly counted: number }>) =>
    db
      .updateTable("quotas")
      .set({ counted })
      .where("domain", "=", domain)
      .where("code", "=", code)
      .where("month", "=", month)
      .where("draws", "=", draws),
);
