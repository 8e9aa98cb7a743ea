import type { Clock } from "../base/clock.ts";
import type { TenantId } from "../base/ids.ts";
import { cacheKey } from "../links/link.ts";
import { outdate } from "../sql/outdated-tenants.ts";
import type { SuspendedLinkTable } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import { type Params, statement } from "../sql/statement.ts";
import { type Db, ofTenant, type Trx } from "../sql/tenant-db.ts";
import { type Place, raiseVersions } from "../sql/versions.ts";

/**
 * What the operator has suspended. It is stored in tables that no tenant's request writes, and a link is suspended by
 * its (domain, code): neither editing it nor deleting and recreating it undoes that.
 *
 * Suspending a link gives it a new version like any other change, so every cached copy is outdated at once. A tenant is
 * suspended by one row, which every lookup joins and every API call reads; its links get new versions in pages
 * afterwards (`sql/outdated-tenants.ts`).
 */
export interface Suspensions {
  /** The link's new version; `undefined` if it never existed. Suspending it again changes the reason. */
  suspendLink(link: Place, why: SuspensionReason): Promise<number | undefined>;
  /** The link's new version; `undefined` if it was not suspended, or not for that cause. */
  restoreLink(link: Place, cause?: Cause): Promise<number | undefined>;
  /** Reasons by `cacheKey`. */
  ofLinks(links: readonly Place[]): Promise<Map<string, string>>;
  suspendTenant(tenant: TenantId, reason: string, by: string): Promise<void>;
  /** False if it was not suspended. */
  restoreTenant(tenant: TenantId): Promise<boolean>;
}

export type Cause = SuspendedLinkTable["cause"];

export interface SuspensionReason {
  readonly cause: Cause;
  /** For the owner and the operator; not shown to visitors. */
  readonly reason: string;
  /** Who did it. */
  readonly by: string;
}

export function createSuspensions(sql: Sql, clock: Clock): Suspensions {
  const { db } = sql;

  async function touch(trx: Trx, place: Place): Promise<number | undefined> {
    return (await raiseVersions(sql, trx, { links: [place] }, clock.now()))[0]?.version;
  }

  /** Its root and 404 targets follow the tenant. There are at most a hundred domains. */
  async function touchDomains(trx: Trx, tenant: TenantId): Promise<void> {
    const domains = await ofTenant(trx, tenant)
      .selectFrom("domains")
      .select("host")
      .where("state", "=", "verified")
      .execute();
    const keys = domains.map(({ host }) => host);
    await raiseVersions(sql, trx, { kind: "domain", keys }, clock.now());
  }

  return {
    suspendLink: ({ domain, code }, { cause, reason, by }) =>
      sql.transaction(async (trx) => {
        const version = await touch(trx, { domain, code });
        if (version === undefined) return undefined;
        const row = { cause, reason, suspended_by: by, suspended_at: clock.now() };
        await trx
          .insertInto("suspended_links")
          .values({ domain, code, ...row })
          .onConflict((conflict) => conflict.columns(["domain", "code"]).doUpdateSet(row))
          .execute();
        return version;
      }),

    restoreLink: ({ domain, code }, cause) =>
      sql
        .transaction(async (trx) => {
          const version = await touch(trx, { domain, code });
          let query = trx.deleteFrom("suspended_links").where("domain", "=", domain).where("code", "=", code);
          if (cause !== undefined) query = query.where("cause", "=", cause);
          const { numDeletedRows } = await query.executeTakeFirst();
          if (numDeletedRows === 0n) throw new NotSuspended();
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

    suspendTenant: (tenant, reason, by) =>
      sql.transaction(async (trx) => {
        const row = { reason, suspended_by: by, suspended_at: clock.now() };
        await ofTenant(trx, tenant)
          .insertInto("suspended_tenants")
          .values(row)
          .onConflict((conflict) => conflict.column("tenant_id").doUpdateSet(row))
          .execute();
        await outdate(trx, [tenant]);
        await touchDomains(trx, tenant);
      }),

    restoreTenant: (tenant) =>
      sql.transaction(async (trx) => {
        const { numDeletedRows } = await ofTenant(trx, tenant).deleteFrom("suspended_tenants").executeTakeFirst();
        if (numDeletedRows === 0n) return false;
        await outdate(trx, [tenant]);
        await touchDomains(trx, tenant);
        return true;
      }),
  };
}

/** Rolls back the new version of a link that was not suspended: the version is locked first, see `sql/versions.ts`. */
class NotSuspended extends Error {}

const selectReasons = statement((db: Db, { codes }: Params<{ codes: readonly string[] }>) =>
  db.selectFrom("suspended_links").select(["domain", "code", "reason"]).where("code", "in", codes),
);
