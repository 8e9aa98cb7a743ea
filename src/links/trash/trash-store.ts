import type { FileId, LinkId, TenantId } from "../../base/ids.ts";
import { type Actor, type HistoryEntry, recordEach, recordHistory } from "../../history/history.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import { acrossTenants, type Db, ofTenant, type TenantDb, type Trx } from "../../sql/tenant-db.ts";
import { raiseVersions } from "../../sql/versions.ts";
import { eraseAttached } from "../attached.ts";
import { cacheKey, type Link, type LinkFields, ownDomain } from "../link.ts";
import { identityOf } from "../past/changed-fields.ts";
import { fieldColumns, lockFiles, toLink } from "../rows.ts";
import { type KeptRow, keptColumns, keptLink, numberOfKept, parseKept } from "./kept-row.ts";

/**
 * Deleted links. Deleting moves a link's row here with everything that it has, including its number: its clicks and hits
 * stay its own. No other query sees it, so it is gone for redirects, lists, reports and checks. Its code stays taken
 * (`live` in `link_versions`) until it is deleted for good, which any owner can do, or a job after 30 days. Every step
 * raises the version: copies of an older one are outdated everywhere.
 */
export interface TrashStore {
  /** The last deleted first; `after` is the last one of the previous page. */
  list(tenant: TenantId, limit: number, after?: Pick<TrashedLink, "deletedAt" | "id">): Promise<TrashedLink[]>;
  get(tenant: TenantId, id: LinkId): Promise<TrashedLink | undefined>;
  byCode(tenant: TenantId, domain: string, code: string): Promise<TrashedLink | undefined>;
  /** For the operator: of any tenant. */
  find(domain: string, code: string): Promise<{ readonly tenant: TenantId; readonly id: LinkId } | undefined>;
  /** `check` returns the fields to restore, or throws a problem. */
  restore(tenant: TenantId, id: LinkId, check: CheckRestored, by: Actor, at: number): Promise<Restored>;
  /** Deletes for good; false if it is not in the trash. */
  erase(tenant: TenantId, id: LinkId, by: Actor, at: number): Promise<boolean>;
  /** The same for some of the trash, or of one domain's; returns how many. Fewer than `limit`: that was all. */
  eraseSome(tenant: TenantId, limit: number, by: Actor, at: number, domain?: string): Promise<number>;
  /** The same for links of any tenant deleted before then, the oldest first. */
  eraseOld(deletedBefore: number, limit: number, by: Actor, at: number): Promise<number>;
}

export interface TrashedLink {
  readonly id: LinkId;
  readonly link: Link;
  readonly deletedAt: number;
}

export type CheckRestored = (link: Link) => LinkFields;

export type Restored =
  | { readonly kind: "restored"; readonly link: Link }
  | { readonly kind: "missing" }
  | { readonly kind: "no_domain"; readonly domain: string }
  | { readonly kind: "no_file" };

/** How long a deleted link can be restored. */
export const trashDays = 30;

/** In the transaction that deletes the link and has raised its version. */
export async function moveToTrash(trx: Trx, tenant: TenantId, id: LinkId, at: number): Promise<void> {
  const own = ofTenant(trx, tenant);
  const row = await selectWhole.one(own, { id });
  await insertTrashed.run(own, { id, domain: row.domain, code: row.code, link: JSON.stringify(row), at });
  await deleteLink.run(own, { id });
}

export function createTrashStore(sql: Sql): TrashStore {
  const { db } = sql;

  const lockTrashed = statement((own: TenantDb, { id }: Params<{ id: LinkId }>) =>
    sql.forUpdate(own.selectFrom("trashed_links").select(columns).where("id", "=", id)),
  );
  const holdDomain = statement((own: TenantDb, { host }: Params<{ host: string }>) =>
    sql.forShare(own.selectFrom("domains").select("host").where("host", "=", host).where("state", "=", "verified")),
  );

  /** Locks in the order of `sql/versions.ts`: the trashed rows by ID, then versions. */
  async function eraseIn(trx: Trx, tenant: TenantId, ids: readonly LinkId[], by: Actor, at: number): Promise<number> {
    const own = ofTenant(trx, tenant);
    const wanted = own.selectFrom("trashed_links").select(columns).where("id", "in", ids).orderBy("id");
    const rows = await sql.forUpdate(wanted).execute();
    if (rows.length === 0) return 0;
    const versions = await raiseVersions(sql, trx, { links: rows, state: "deleted" }, at);
    const versionOf = new Map(versions.map(({ domain, code, version }) => [cacheKey(domain, code), version]));
    const gone = rows.map(({ id, link }) => ({ id, number: numberOfKept(link) }));
    const those = gone.map(({ id }) => id);
    await own.deleteFrom("trashed_links").where("id", "in", those).execute();
    await eraseAttached(own, gone);
    const entries = rows.map((row): Omit<HistoryEntry, "tenant"> => {
      const link = keptLink(row, 0);
      const version = versionOf.get(cacheKey(row.domain, row.code));
      return {
        ...entryOf(link, by, "link.erase"),
        ...(version !== undefined && { version }),
        before: identityOf(link),
      };
    });
    await recordEach(trx, { now: () => at }, tenant, entries);
    return rows.length;
  }

  const eraseThose = (tenant: TenantId, ids: readonly LinkId[], by: Actor, at: number): Promise<number> =>
    ids.length === 0 ? Promise.resolve(0) : sql.transaction((trx) => eraseIn(trx, tenant, ids, by, at));

  return {
    async list(tenant, limit, after) {
      let query = withVersion(ofTenant(db, tenant));
      if (after !== undefined) {
        const { deletedAt, id } = after;
        query = query.where((row) =>
          row.or([
            row("trashed_links.deleted_at", "<", deletedAt),
            row.and([row("trashed_links.deleted_at", "=", deletedAt), row("trashed_links.id", "<", id)]),
          ]),
        );
      }
      const rows = query.orderBy("trashed_links.deleted_at", "desc").orderBy("trashed_links.id", "desc").limit(limit);
      return (await rows.execute()).map(toTrashed);
    },

    async get(tenant, id) {
      const row = await selectOne.first(ofTenant(db, tenant), { id });
      return row && toTrashed(row);
    },

    async byCode(tenant, domain, code) {
      const row = await selectByCode.first(ofTenant(db, tenant), { domain, code });
      return row && toTrashed(row);
    },

    async find(domain, code) {
      const row = await selectAny.first(db, { domain, code });
      return row && { tenant: row.tenant_id, id: row.id };
    },

    restore: (tenant, id, check, by, at) =>
      sql.transaction(async (trx): Promise<Restored> => {
        const own = ofTenant(trx, tenant);
        const seen = await selectOne.first(own, { id });
        if (seen === undefined) return { kind: "missing" };
        const { domain, code } = seen;
        const hasDomain = domain === ownDomain || (await holdDomain.first(own, { host: domain })) !== undefined;
        if (!hasDomain) return { kind: "no_domain", domain };
        const { file } = toTrashed(seen).link;
        const files: ReadonlySet<FileId> = await lockFiles(sql, trx, tenant, [{ file }]);
        if (file !== null && !files.has(file)) return { kind: "no_file" };
        // Another restore, or a deletion for good, may have been first.
        const row = await lockTrashed.first(own, { id });
        if (row === undefined) return { kind: "missing" };
        const fields = check(keptLink(row, seen.version));
        const [change] = await raiseVersions(sql, trx, { links: [{ domain, code }], state: "live" }, at);
        if (change === undefined) throw new Error("a trashed link without a version");
        const kept = { ...parseKept(row), ...fieldColumns(fields), updated_at: at };
        await own.insertInto("links").values(kept).execute();
        await own.deleteFrom("trashed_links").where("id", "=", id).execute();
        const link = toLink({ ...kept, tenant_id: tenant, version: change.version });
        const entry = { ...entryOf(link, by, "link.restore"), version: change.version, after: identityOf(link) };
        await recordHistory(trx, { now: () => at }, { ...entry, tenant });
        return { kind: "restored", link };
      }),

    erase: async (tenant, id, by, at) => (await eraseThose(tenant, [id], by, at)) > 0,

    async eraseSome(tenant, limit, by, at, domain) {
      let query = ofTenant(db, tenant).selectFrom("trashed_links").select("id");
      if (domain !== undefined) query = query.where("domain", "=", domain);
      const ids = (await query.orderBy("id").limit(limit).execute()).map(({ id }) => id);
      return await eraseThose(tenant, ids, by, at);
    },

    async eraseOld(deletedBefore, limit, by, at) {
      const rows = await acrossTenants(db)
        .selectFrom("trashed_links")
        .select(["id", "tenant_id"])
        .where("deleted_at", "<", deletedBefore)
        .orderBy("deleted_at")
        .limit(limit)
        .execute();
      let erased = 0;
      for (const [tenant, some] of Map.groupBy(rows, (row) => row.tenant_id)) {
        erased += await eraseThose(
          tenant,
          some.map(({ id }) => id),
          by,
          at,
        );
      }
      return erased;
    },
  };
}

const entryOf = ({ id, domain, code }: Link, actor: Actor, action: string): Omit<HistoryEntry, "tenant"> => ({
  ...{ actor, action, subject: { kind: "link", id, name: cacheKey(domain, code) } },
});

const columns = ["id", "tenant_id", "domain", "code", "link", "deleted_at"] as const;

const withVersion = (own: TenantDb) =>
  own
    .selectFrom("trashed_links")
    .innerJoin("link_versions", (join) =>
      join
        .onRef("link_versions.domain", "=", "trashed_links.domain")
        .onRef("link_versions.code", "=", "trashed_links.code"),
    )
    .select(columns.map((column) => `trashed_links.${column}` as const))
    .select("link_versions.version");

const toTrashed = (row: KeptRow & { readonly version: number; readonly deleted_at: number }): TrashedLink => ({
  ...{ id: row.id, link: keptLink(row, row.version), deletedAt: row.deleted_at },
});

const selectOne = statement((own: TenantDb, { id }: Params<{ id: LinkId }>) =>
  withVersion(own).where("trashed_links.id", "=", id),
);

const selectByCode = statement((own: TenantDb, { domain, code }: Params<{ domain: string; code: string }>) =>
  withVersion(own).where("trashed_links.domain", "=", domain).where("trashed_links.code", "=", code),
);

const selectAny = statement((all: Db, { domain, code }: Params<{ domain: string; code: string }>) =>
  acrossTenants(all)
    .selectFrom("trashed_links")
    .select(["id", "tenant_id"])
    .where("domain", "=", domain)
    .where("code", "=", code),
);

const selectWhole = statement((own: TenantDb, { id }: Params<{ id: LinkId }>) =>
  own.selectFrom("links").select(keptColumns).where("id", "=", id),
);

interface NewTrashed {
  readonly id: LinkId;
  readonly domain: string;
  readonly code: string;
  readonly link: string;
  readonly at: number;
}

const insertTrashed = statement((own: TenantDb, { at, ...row }: Params<NewTrashed>) =>
  own.insertInto("trashed_links").values({ ...row, deleted_at: at }),
);

const deleteLink = statement((own: TenantDb, { id }: Params<{ id: LinkId }>) =>
  own.deleteFrom("links").where("id", "=", id),
);

/** Which of these codes a tenant has in its trash. */
export async function trashedAmong(
  trx: Db,
  tenant: TenantId,
  links: readonly { readonly domain: string; readonly code: string }[],
): Promise<ReadonlyMap<string, LinkId>> {
  if (links.length === 0) return new Map();
  const domains = [...new Set(links.map(({ domain }) => domain))];
  const codes = [...new Set(links.map(({ code }) => code))];
  const rows = await selectAmong.all(ofTenant(trx, tenant), { domains, codes });
  return new Map(rows.map(({ id, domain, code }) => [cacheKey(domain, code), id]));
}

interface Among {
  readonly domains: readonly string[];
  readonly codes: readonly string[];
}

const selectAmong = statement((own: TenantDb, { domains, codes }: Params<Among>) =>
  own
    .selectFrom("trashed_links")
    .select(["id", "domain", "code"])
    .where("domain", "in", domains)
    .where("code", "in", codes),
);
