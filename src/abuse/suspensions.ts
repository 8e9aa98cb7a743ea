import type { Clock } from "../base/clock.ts";
import type { TenantId } from "../base/ids.ts";
import type { Change, Publish } from "../cache/feed.ts";
import { type Actor, type HistoryEntry, recordHistory, wordFor } from "../history/history.ts";
import { cacheKey } from "../links/link.ts";
import type { SuspendedLinkTable } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import { type Params, statement } from "../sql/statement.ts";
import { acrossTenants, type Db, ofTenant, type Trx } from "../sql/tenant-db.ts";
import { type Place, raiseVersions } from "../sql/versions.ts";
import { raisedTenant } from "../tenants/tenant-number.ts";

/**
 * What the operator has suspended. It is stored in tables that no tenant's request writes, and a link is suspended by
 * its (domain, code): neither editing it nor deleting and recreating it undoes that.
 *
 * Suspending a link gives it a new version like any other change, so every cached copy is outdated at once. A tenant is
 * suspended by one row, and gets a new version itself: what its links answer is put together with it when they are used
 * (`tenants/known-tenants.ts`).
 */
export interface Suspensions {
  /** The link's new version; `undefined` if it never existed. Suspending it again changes the reason. */
  suspendLink(link: Place, why: SuspensionReason): Promise<number | undefined>;
  /** The link's new version; `undefined` if it was not suspended, or not for that cause. */
  restoreLink(link: Place, by: Actor, cause?: Cause): Promise<number | undefined>;
  /** Reasons by `cacheKey`. */
  ofLinks(links: readonly Place[]): Promise<Map<string, string>>;
  suspendTenant(tenant: TenantId, reason: string, by: Actor): Promise<void>;
  /** False if it was not suspended. */
  restoreTenant(tenant: TenantId, by: Actor): Promise<boolean>;
}

export type Cause = SuspendedLinkTable["cause"];

export interface SuspensionReason {
  readonly cause: Cause;
  /** For the owner and the operator; not shown to visitors. */
  readonly reason: string;
  readonly by: Actor;
}

export function createSuspensions(sql: Sql, clock: Clock, publish: Publish = () => {}): Suspensions {
  const { db } = sql;

  async function touch(trx: Trx, place: Place): Promise<number | undefined> {
    return (await raiseVersions(sql, trx, { links: [place] }, clock.now()))[0]?.version;
  }

  /** With its domains, whose root and 404 targets follow it. There are at most a hundred. */
  async function touchTenant(trx: Trx, tenant: TenantId): Promise<Change[]> {
    const domains = await ofTenant(trx, tenant)
      .selectFrom("domains")
      .select("host")
      .where("state", "=", "verified")
      .execute();
    const keys = domains.map(({ host }) => host);
    return raiseVersions(sql, trx, [{ kind: "domain", keys }, await raisedTenant(trx, tenant)], clock.now());
  }

  /** After its commit. */
  function published(changes: readonly Change[]): void {
    for (const change of changes) publish(change);
  }

  /** In the log of the tenant that has the code, or had it last. */
  async function recordLink(
    trx: Trx,
    { domain, code }: Place,
    version: number | undefined,
    actor: Actor,
    action: string,
    change: Pick<HistoryEntry, "before" | "after">,
  ): Promise<void> {
    const owner = await selectOwner.first(trx, { domain, code });
    if (owner === undefined) return;
    const name = cacheKey(domain, code);
    await recordHistory(trx, clock, {
      ...{
        tenant: owner.tenant_id,
        actor,
        action,
        subject: { kind: "link", id: owner.id ?? owner.trashed ?? name, name },
      },
      ...(version !== undefined && { version }),
      ...change,
    });
  }

  const recordTenant = (
    trx: Trx,
    tenant: TenantId,
    actor: Actor,
    action: string,
    change: Pick<HistoryEntry, "before" | "after">,
  ) => recordHistory(trx, clock, { tenant, actor, action, subject: { kind: "workspace", id: tenant }, ...change });

  return {
    suspendLink: ({ domain, code }, { cause, reason, by }) =>
      sql.transaction(async (trx) => {
        const version = await touch(trx, { domain, code });
        if (version === undefined) return undefined;
        const row = { cause, reason, suspended_by: wordFor(by), suspended_at: clock.now() };
        await trx
          .insertInto("suspended_links")
          .values({ domain, code, ...row })
          .onConflict((conflict) => conflict.columns(["domain", "code"]).doUpdateSet(row))
          .execute();
        await recordLink(trx, { domain, code }, version, by, "link.suspend", { after: { cause, reason } });
        return version;
      }),

    restoreLink: ({ domain, code }, by, cause) =>
      sql
        .transaction(async (trx) => {
          const version = await touch(trx, { domain, code });
          let query = trx.deleteFrom("suspended_links").where("domain", "=", domain).where("code", "=", code);
          if (cause !== undefined) query = query.where("cause", "=", cause);
          const { numDeletedRows } = await query.executeTakeFirst();
          if (numDeletedRows === 0n) throw new NotSuspended();
          await recordLink(trx, { domain, code }, version, by, "link.unsuspend", {});
          return version;
        })
        .catch((error: unknown) => {
          if (error instanceof NotSuspended) return undefined;
          throw error;
        }),

    async ofLinks(links) {
      if (links.length === 0) return new Map();
      const rows = await selectReasons.all(db, { codes: links.map(({ code }) => code) });
      return new Map(rows.map(({ domain, code, reason }) => [cacheKey(domain, code), reason]));
    },

    async suspendTenant(tenant, reason, by) {
      const changes = await sql.transaction(async (trx) => {
        const raised = await touchTenant(trx, tenant);
        const row = { reason, suspended_by: wordFor(by), suspended_at: clock.now() };
        await ofTenant(trx, tenant)
          .insertInto("suspended_tenants")
          .values(row)
          .onConflict((conflict) => conflict.column("tenant_id").doUpdateSet(row))
          .execute();
        await recordTenant(trx, tenant, by, "workspace.suspend", { after: { reason } });
        return raised;
      });
      published(changes);
    },

    async restoreTenant(tenant, by) {
      try {
        const changes = await sql.transaction(async (trx) => {
          const raised = await touchTenant(trx, tenant);
          const { numDeletedRows } = await ofTenant(trx, tenant).deleteFrom("suspended_tenants").executeTakeFirst();
          if (numDeletedRows === 0n) throw new NotSuspended();
          await recordTenant(trx, tenant, by, "workspace.unsuspend", {});
          return raised;
        });
        published(changes);
        return true;
      } catch (error) {
        if (error instanceof NotSuspended) return false;
        throw error;
      }
    },
  };
}

/** Rolls back the new version of what was not suspended: the version is locked first, see `sql/versions.ts`. */
class NotSuspended extends Error {}

const selectOwner = statement((db: Db, { domain, code }: Params<Place>) =>
  acrossTenants(db)
    .selectFrom("link_versions as v")
    .leftJoin("links as l", (join) => join.onRef("l.domain", "=", "v.domain").onRef("l.code", "=", "v.code"))
    .leftJoin("trashed_links as t", (join) => join.onRef("t.domain", "=", "v.domain").onRef("t.code", "=", "v.code"))
    .select(["v.tenant_id", "l.id", "t.id as trashed"])
    .where("v.domain", "=", domain)
    .where("v.code", "=", code),
);

const selectReasons = statement((db: Db, { codes }: Params<{ codes: readonly string[] }>) =>
  db.selectFrom("suspended_links").select(["domain", "code", "reason"]).where("code", "in", codes),
);
