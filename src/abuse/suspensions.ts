import type { Transaction } from "kysely";
import type { Clock } from "../base/clock.ts";
import type { LinkId, TenantId } from "../base/ids.ts";
import { domainCode } from "../domains/store.ts";
import { cacheKey } from "../links/link.ts";
import { recordChange } from "../sql/feed.ts";
import type { Schema, SuspendedLinkTable } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";

/**
 * What the operator has stopped. It stands in tables that no tenant's request writes, and a link is stopped by its
 * (domain, code): neither an edit nor deleting it and making it again undoes that.
 *
 * Stopping a link is a new version of it like any other change, so every copy is out of date at once. A tenant is stopped
 * by one row, which every lookup joins and every API call reads; its links get their new versions in pages after that
 * (`touchLinks`), for a million of them in one transaction would hold up everybody.
 */
export interface Suspensions {
  /** The link's new version; nothing where there never was one. Stopping it again changes the reason. */
  suspendLink(link: Place, why: Why): Promise<number | undefined>;
  /** The link's new version; nothing if it was not stopped, or not by that cause. */
  restoreLink(link: Place, cause?: Cause): Promise<number | undefined>;
  /** Reasons by `cacheKey`. */
  ofLinks(links: readonly Place[]): Promise<Map<string, string>>;
  suspendTenant(tenant: TenantId, reason: string, by: string): Promise<void>;
  /** False if it was not stopped. */
  restoreTenant(tenant: TenantId): Promise<boolean>;
  /** New versions for a page of a tenant's links; the last of them, nothing behind the last page. */
  touchLinks(tenant: TenantId, after: LinkId | undefined, limit: number): Promise<Touched | undefined>;
}

export interface Place {
  readonly domain: string;
  readonly code: string;
}

export type Cause = SuspendedLinkTable["cause"];

export interface Why {
  readonly cause: Cause;
  /** For the owner and the operator; visitors are told none. */
  readonly reason: string;
  /** Who did it. */
  readonly by: string;
}

export interface Touched {
  readonly last: LinkId;
  readonly count: number;
}

export function createSuspensions(sql: Sql, clock: Clock): Suspensions {
  const { db } = sql;

  async function touch(trx: Transaction<Schema>, { domain, code }: Place): Promise<number | undefined> {
    const row = await trx
      .updateTable("link_versions")
      .set((expression) => ({ version: expression("version", "+", 1) }))
      .where("domain", "=", domain)
      .where("code", "=", code)
      .returning("version")
      .executeTakeFirst();
    if (row) await recordChange(trx, [{ domain, code, version: row.version }], clock.now());
    return row?.version;
  }

  /** Their root and 404 targets go with the tenant. There are at most a hundred. */
  async function touchDomains(trx: Transaction<Schema>, tenant: TenantId): Promise<void> {
    const domains = await trx
      .selectFrom("domains")
      .select("host")
      .where("tenant_id", "=", tenant)
      .where("state", "=", "verified")
      .orderBy("host")
      .execute();
    for (const { host } of domains) await touch(trx, { domain: host, code: domainCode });
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
      sql.transaction(async (trx) => {
        let query = trx.deleteFrom("suspended_links").where("domain", "=", domain).where("code", "=", code);
        if (cause !== undefined) query = query.where("cause", "=", cause);
        const { numDeletedRows } = await query.executeTakeFirst();
        return numDeletedRows === 0n ? undefined : await touch(trx, { domain, code });
      }),

    async ofLinks(links) {
      if (links.length === 0) return new Map();
      const rows = await db
        .selectFrom("suspended_links")
        .select(["domain", "code", "reason"])
        .where(
          "code",
          "in",
          links.map(({ code }) => code),
        )
        .execute();
      return new Map(rows.map(({ domain, code, reason }) => [cacheKey(domain, code), reason]));
    },

    async suspendTenant(tenant, reason, by) {
      const row = { reason, suspended_by: by, suspended_at: clock.now() };
      await sql.transaction(async (trx) => {
        await trx
          .insertInto("suspended_tenants")
          .values({ tenant_id: tenant, ...row })
          .onConflict((conflict) => conflict.column("tenant_id").doUpdateSet(row))
          .execute();
        await touchDomains(trx, tenant);
      });
    },

    restoreTenant: (tenant) =>
      sql.transaction(async (trx) => {
        const { numDeletedRows } = await trx
          .deleteFrom("suspended_tenants")
          .where("tenant_id", "=", tenant)
          .executeTakeFirst();
        await touchDomains(trx, tenant);
        return numDeletedRows > 0n;
      }),

    touchLinks: (tenant, after, limit) =>
      sql.transaction(async (trx) => {
        let query = trx.selectFrom("links").select(["id", "domain", "code"]).where("tenant_id", "=", tenant);
        if (after !== undefined) query = query.where("id", ">", after);
        const rows = await query.orderBy("id").limit(limit).execute();
        // In the order of their codes, as everywhere: two transactions cannot wait for each other.
        for (const place of rows.toSorted((a, b) => (a.code < b.code ? -1 : 1))) await touch(trx, place);
        const last = rows.at(-1)?.id;
        return last === undefined ? undefined : { last, count: rows.length };
      }),
  };
}
