import type { Insertable, Selectable } from "kysely";
import type { TenantId } from "../base/ids.ts";
import type { Change } from "../cache/feed.ts";
import { type Actor, differenceOf, type HistoryEntry, recordHistory } from "../history/history.ts";
import type { DomainTable } from "../sql/schema.ts";
import { isUniqueViolation, type Sql } from "../sql/sql.ts";
import { type Params, statement } from "../sql/statement.ts";
import { acrossTenants, type Db, ofTenant, type TenantDb, type Trx } from "../sql/tenant-db.ts";
import { type RaiseKeys, raiseVersions } from "../sql/versions.ts";
import { createOneAtATime } from "../tenants/one-at-a-time.ts";
import { raisedTenant } from "../tenants/tenant-number.ts";
import type { Domain } from "./domain.ts";

/**
 * Domains in SQL. What a redirect must know of a domain (that it is ours, where `/` and unknown codes redirect) changes
 * together with its version; such a change is returned, to be published.
 */
export interface DomainStore {
  /** Unless the tenant already has `most` of them. */
  add(domain: Domain, most: number, by: Actor): Promise<"added" | "exists" | "full">;
  get(tenant: TenantId, host: string): Promise<Domain | undefined>;
  /** Oldest first; `after` is the last one of the previous page. */
  list(tenant: TenantId, limit: number, after?: Pick<Domain, "createdAt" | "host">): Promise<Domain[]>;
  /** Assigns it to the tenant, unless another tenant has it. */
  verify(tenant: TenantId, host: string, by: Actor, at: number): Promise<ChangedDomain | "taken" | undefined>;
  change(
    tenant: TenantId,
    host: string,
    fields: DomainFields,
    by: Actor,
    at: number,
  ): Promise<ChangedDomain | undefined>;
  /** Only when it has no links, and none in the trash. */
  remove(
    tenant: TenantId,
    host: string,
    by: Actor,
    at: number,
  ): Promise<ChangedDomain | "missing" | "trash" | { readonly links: number }>;
  /** Where the tenant's new links are created by default; `undefined` for the server's own domain. */
  defaultHost(tenant: TenantId): Promise<string | undefined>;
  /** For redirects: the domains of all tenants, or one of them. Targets that must not be used are null. */
  verified(host?: string): Promise<Domain[]>;
  /** Marks targets on blocked hosts, and unmarks the others. Returns how many domains changed. */
  markBlocked(isBlocked: (host: string) => boolean, at: number): Promise<number>;
}

export interface ChangedDomain {
  readonly domain: Domain;
  /** None if redirects do not depend on it: a domain that is not verified. */
  readonly changes: readonly Change[];
}

export interface DomainFields {
  readonly isDefault?: boolean;
  readonly rootUrl?: string | null;
  readonly missingUrl?: string | null;
}

export function createDomainStore(sql: Sql): DomainStore {
  const { db } = sql;
  const inTurn = createOneAtATime(sql);

  const selectLocked = statement((own: TenantDb, { host }: Params<{ host: string }>) =>
    sql.forUpdate(own.selectFrom("domains").select(columns).where("host", "=", host)),
  );

  const locked = (trx: Trx, tenant: TenantId, host: string) => selectLocked.first(ofTenant(trx, tenant), { host });

  const raise = (trx: Trx, host: string, at: number, ...more: readonly RaiseKeys[]): Promise<readonly Change[]> =>
    raiseVersions(sql, trx, [{ kind: "domain", keys: [host] }, ...more], at);

  return {
    add: (domain, most, by) =>
      inTurn(domain.tenantId, async (trx) => {
        const tenant = ofTenant(trx, domain.tenantId);
        if (await selectByHost.first(tenant, { host: domain.host })) return "exists";
        const others = tenant.selectFrom("domains").select("host").limit(most);
        if ((await others.execute()).length >= most) return "full";
        await tenant.insertInto("domains").values(toRow(domain)).execute();
        await record(trx, domain, by, domain.createdAt, "domain.add", { after: { host: domain.host } });
        return "added";
      }),

    async get(tenant, host) {
      const row = await selectByHost.first(ofTenant(db, tenant), { host });
      return row && toDomain(row);
    },

    async list(tenant, limit, after) {
      let query = ofTenant(db, tenant).selectFrom("domains").selectAll();
      if (after !== undefined) {
        const { createdAt, host } = after;
        query = query.where((is) =>
          is.or([is("created_at", ">", createdAt), is.and([is("created_at", "=", createdAt), is("host", ">", host)])]),
        );
      }
      return (await query.orderBy("created_at").orderBy("host").limit(limit).execute()).map(toDomain);
    },

    async verify(tenant, host, by, at) {
      try {
        return await sql.transaction(async (trx) => {
          const row = await locked(trx, tenant, host);
          if (!row) return undefined;
          if (row.state === "verified") return { domain: toDomain(row), changes: [] };
          const changed = { state: "verified" as const, verified_at: at };
          await ofTenant(trx, tenant).updateTable("domains").set(changed).where("host", "=", host).execute();
          const changes = await raise(trx, host, at);
          const states = { before: { state: row.state }, after: { state: changed.state } };
          await record(trx, toDomain(row), by, at, "domain.verify", states);
          return { domain: toDomain({ ...row, ...changed }), changes };
        });
      } catch (error) {
        if (isUniqueViolation(error)) return "taken";
        throw error;
      }
    },

    change: (tenant, host, fields, by, at) =>
      sql.transaction(async (trx) => {
        const own = ofTenant(trx, tenant);
        // Those that are not the default any more change with it: all are locked, in one order.
        const others = own.selectFrom("domains").selectAll().orderBy("host");
        const rows = await sql.forUpdate(fields.isDefault ? others : others.where("host", "=", host)).execute();
        const row = rows.find((one) => one.host === host);
        if (!row) return undefined;
        const changed = {
          is_default: flag(fields.isDefault, row.is_default),
          root_url: fields.rootUrl === undefined ? row.root_url : fields.rootUrl,
          missing_url: fields.missingUrl === undefined ? row.missing_url : fields.missingUrl,
          // A target that was just accepted is not on the blocklist.
          root_blocked: fields.rootUrl === undefined ? row.root_blocked : 0,
          missing_blocked: fields.missingUrl === undefined ? row.missing_blocked : 0,
        } as const;
        if (changed.is_default === 1 && row.is_default === 0) {
          await own.updateTable("domains").set({ is_default: 0 }).execute();
        }
        await own.updateTable("domains").set(changed).where("host", "=", host).execute();
        // The default belongs to the tenant, as servers keep it in memory.
        const more = changed.is_default === row.is_default ? [] : [await raisedTenant(trx, tenant)];
        const changes = row.state === "verified" ? await raise(trx, host, at, ...more) : [];
        const [before, after] = [toDomain(row), toDomain({ ...row, ...changed })];
        await recordChange(trx, before, after, by, at);
        return { domain: after, changes };
      }),

    remove: (tenant, host, by, at) =>
      sql.transaction(async (trx) => {
        const row = await locked(trx, tenant, host);
        if (!row) return "missing";
        const isVerified = row.state === "verified";
        if (isVerified) {
          const { links } = await acrossTenants(trx)
            .selectFrom("links")
            .select((expression) => expression.fn.countAll<number>().as("links"))
            .where("domain", "=", host)
            .executeTakeFirstOrThrow();
          if (Number(links) > 0) return { links: Number(links) };
          const trashed = ofTenant(trx, tenant).selectFrom("trashed_links").select("id").where("domain", "=", host);
          if (await trashed.limit(1).executeTakeFirst()) return "trash";
        }
        await ofTenant(trx, tenant).deleteFrom("domains").where("host", "=", host).execute();
        const more = row.is_default === 1 ? [await raisedTenant(trx, tenant)] : [];
        const changes = isVerified ? await raise(trx, host, at, ...more) : [];
        const domain = toDomain(row);
        await record(trx, domain, by, at, "domain.remove", { before: { host, ...settingsOf(domain) } });
        return { domain, changes };
      }),

    async defaultHost(tenant) {
      return (await selectDefault.first(ofTenant(db, tenant)))?.host;
    },

    async verified(host) {
      const rows = await (host === undefined ? selectVerified.all(db) : selectVerifiedHost.all(db, { host }));
      return rows.map(({ suspended_at: suspended, delete_at: deleted, ...row }) => {
        // The domains of a suspended or deleted tenant redirect nowhere.
        const stopped = (suspended ?? deleted) !== null;
        return toDomain({
          ...row,
          root_url: !stopped && row.root_blocked === 0 ? row.root_url : null,
          missing_url: !stopped && row.missing_blocked === 0 ? row.missing_url : null,
        });
      });
    },

    async markBlocked(isBlocked, at) {
      const flags = (row: Selectable<DomainTable>) => ({
        root_blocked: flagged(leadsToSuch(row.root_url, isBlocked)),
        missing_blocked: flagged(leadsToSuch(row.missing_url, isBlocked)),
      });
      const isRight = (row: Selectable<DomainTable>) => {
        const { root_blocked, missing_blocked } = flags(row);
        return row.root_blocked === root_blocked && row.missing_blocked === missing_blocked;
      };
      const mark = (tenant: TenantId, host: string) =>
        sql.transaction(async (trx) => {
          const row = await locked(trx, tenant, host);
          if (!row || isRight(row)) return 0;
          await ofTenant(trx, tenant).updateTable("domains").set(flags(row)).where("host", "=", host).execute();
          if (row.state === "verified") await raise(trx, host, at);
          await recordChange(trx, toDomain(row), toDomain({ ...row, ...flags(row) }), byBlocklist, at);
          return 1;
        });
      let marked = 0;
      let after = { tenant_id: "" as TenantId, host: "" };
      for (;;) {
        const rows = await acrossTenants(db)
          .selectFrom("domains")
          .selectAll()
          .where((row) =>
            row.or([
              row("tenant_id", ">", after.tenant_id),
              row.and([row("tenant_id", "=", after.tenant_id), row("host", ">", after.host)]),
            ]),
          )
          .orderBy("tenant_id")
          .orderBy("host")
          .limit(pageRows)
          .execute();
        for (const row of rows) if (!isRight(row)) marked += await mark(row.tenant_id, row.host);
        const last = rows.at(-1);
        if (last === undefined || rows.length < pageRows) return marked;
        after = last;
      }
    },
  };
}

const byBlocklist: Actor = { kind: "job", name: "blocklist" };

const record = (
  trx: Trx,
  { tenantId: tenant, host }: Domain,
  actor: Actor,
  at: number,
  action: string,
  change: Pick<HistoryEntry, "before" | "after">,
): Promise<void> =>
  recordHistory(
    trx,
    { now: () => at },
    { tenant, actor, action, subject: { kind: "domain", id: host, name: host }, ...change },
  );

async function recordChange(trx: Trx, before: Domain, after: Domain, by: Actor, at: number): Promise<void> {
  const change = differenceOf(settingsOf(before), settingsOf(after));
  if (change !== undefined) await record(trx, after, by, at, "domain.update", change);
}

const settingsOf = ({ isDefault, rootUrl, missingUrl, rootBlocked, missingBlocked }: Domain) => ({
  ...{ isDefault, rootUrl, missingUrl, rootBlocked, missingBlocked },
});

const columns = [
  ...(["tenant_id", "host", "state", "token", "is_default", "root_url", "missing_url"] as const),
  ...(["root_blocked", "missing_blocked", "created_at", "verified_at"] as const),
] as const;

const selectByHost = statement((own: TenantDb, { host }: Params<{ host: string }>) =>
  own.selectFrom("domains").select(columns).where("host", "=", host),
);

const selectDefault = statement((own: TenantDb) =>
  own.selectFrom("domains").select("host").where("is_default", "=", 1),
);

const verified = (db: Db) =>
  acrossTenants(db)
    .selectFrom("domains as d")
    .innerJoin("tenants as t", "t.id", "d.tenant_id")
    .leftJoin("suspended_tenants as s", "s.tenant_id", "d.tenant_id")
    .select(columns.map((column) => `d.${column}` as const))
    .select(["s.suspended_at", "t.delete_at"])
    .where("d.state", "=", "verified");

const selectVerified = statement((db: Db) => verified(db));

const selectVerifiedHost = statement((db: Db, { host }: Params<{ host: string }>) =>
  verified(db).where("d.host", "=", host),
);

const pageRows = 500;

const leadsToSuch = (url: string | null, isSuch: (host: string) => boolean): boolean =>
  url !== null && URL.canParse(url) && isSuch(new URL(url).hostname);

const flagged = (is: boolean): 0 | 1 => (is ? 1 : 0);

const flag = (given: boolean | undefined, before: 0 | 1): 0 | 1 => (given === undefined ? before : flagged(given));

function toRow(domain: Domain): Omit<Insertable<DomainTable>, "tenant_id"> {
  return {
    host: domain.host,
    state: domain.state,
    token: domain.token,
    is_default: flagged(domain.isDefault),
    root_url: domain.rootUrl,
    missing_url: domain.missingUrl,
    root_blocked: flagged(domain.rootBlocked),
    missing_blocked: flagged(domain.missingBlocked),
    created_at: domain.createdAt,
    verified_at: domain.verifiedAt,
  };
}

function toDomain(row: Selectable<DomainTable>): Domain {
  return {
    tenantId: row.tenant_id,
    host: row.host,
    state: row.state,
    token: row.token,
    isDefault: row.is_default === 1,
    rootUrl: row.root_url,
    missingUrl: row.missing_url,
    rootBlocked: row.root_blocked === 1,
    missingBlocked: row.missing_blocked === 1,
    createdAt: row.created_at,
    verifiedAt: row.verified_at,
  };
}
