import type { FileId, LinkId, TenantId } from "../base/ids.ts";
import type { Versioned } from "../cache/cache.ts";
import { type Actor, recordHistory } from "../history/history.ts";
import type { CodeState, LinkNumber, TenantNumber } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import { type Params, statement } from "../sql/statement.ts";
import { acrossTenants, type Db, ofTenant, type TenantDb, type Trx } from "../sql/tenant-db.ts";
import { type Place, raiseVersions } from "../sql/versions.ts";
import { eraseAttached } from "./attached.ts";
import { createChangeMany, type ManyChange, type ManyOutcome } from "./bulk/change-many.ts";
import { createMoveLink, type MoveLink } from "./bulk/move-link.ts";
import { createNewLinks, type NewLinks, type StoredFields } from "./create/new-links.ts";
import { cacheKey, type Link, type MeteredTarget } from "./link.ts";
import { changedFields, identityOf, type LinkEdit } from "./past/changed-fields.ts";
import { trimEvery, trimPast } from "./past/link-history.ts";
import { conditionsOf, type LinkQuery, orderOf } from "./read/find.ts";
import { withUtm } from "./routing/utm.ts";
import { choiceFromRow, fieldColumns, fileOf, lockFiles, toLink, toUtm, withVersion } from "./rows.ts";
import { moveToTrash } from "./trash/trash-store.ts";

/**
 * Links in SQL. Every change of a link raises the version of its (domain, code) and adds a row to the change feed, all
 * in one transaction; the version row stays when the link is deleted. Every method reachable from outside takes the
 * tenant first, and finds nothing of other tenants.
 */
export interface LinkStore extends NewLinks {
  get(tenant: TenantId, id: LinkId): Promise<Link | undefined>;
  byCode(tenant: TenantId, domain: string, code: string): Promise<Link | undefined>;
  /** Newest first; `before` is the last ID of the previous page. */
  list(tenant: TenantId, limit: number, before?: LinkId): Promise<Link[]>;
  /** In the requested order, from its position on. */
  find(tenant: TenantId, query: LinkQuery): Promise<Link[]>;
  /** Oldest first; `after` is the last ID of the previous page. */
  listUp(tenant: TenantId, limit: number, after?: LinkId): Promise<Link[]>;
  update(tenant: TenantId, id: LinkId, change: Edit, at: number, expected?: number): Promise<Changed>;
  /** Edits and deletes several, in one transaction. */
  changeMany(tenant: TenantId, changes: readonly ManyChange[], by: Actor, at: number): Promise<ManyOutcome[]>;
  /** To another domain. Throws a problem if it cannot be there. */
  readonly move: MoveLink;
  /** Moves it to the trash. */
  remove(tenant: TenantId, id: LinkId, by: Actor, at: number, expected?: number): Promise<Changed>;
  /** For the redirect: of any tenant. A disabled link counts as missing. */
  target(domain: string, code: string): Promise<Versioned<MeteredTarget>>;
  /** The same for many, in one statement and in their order. An error is that of a row that cannot be read. */
  targets(places: readonly Place[]): Promise<(Versioned<MeteredTarget> | Error)[]>;
  /**
   * Raises the version without any other change: every cached copy is then outdated and reloaded. For the operator.
   * `undefined` if the link never existed.
   */
  touch(domain: string, code: string, at: number): Promise<number | undefined>;
  /** Reduces links that expired before `expiredBefore` to their version rows; returns how many. */
  purge(expiredBefore: number, limit: number, at: number): Promise<number>;
}

export interface Edit {
  readonly edit: (link: Link) => StoredFields;
  /** The file it may lead to afterwards; null if the edit does not change it. */
  readonly file: FileId | null;
  readonly by: Actor;
  /** It goes back to this version. */
  readonly undoTo?: number;
}

export type Changed =
  | { readonly kind: "changed"; readonly link: Link }
  | { readonly kind: "conflict"; readonly version: number }
  | { readonly kind: "no_file" }
  | { readonly kind: "missing" };

export function createLinkStore(sql: Sql): LinkStore {
  const { db } = sql;

  const selectForUpdate = statement((own: TenantDb, { id }: Params<{ id: LinkId }>) =>
    sql.forUpdate(withVersion(own).where("links.id", "=", id)),
  );

  /** What every change has in common: the link is locked, its version raised, and a row added to the feed. */
  async function change(
    tenant: TenantId,
    id: LinkId,
    expected: number | undefined,
    at: number,
    state: CodeState,
    apply: (trx: Trx, link: Link, version: number) => Promise<Link>,
    /** Takes locks before that of the link. */
    prepare: (trx: Trx) => Promise<void> = async () => {},
  ): Promise<Changed> {
    return sql.transaction(async (trx) => {
      await prepare(trx);
      const row = await selectForUpdate.first(ofTenant(trx, tenant), { id });
      if (!row) return { kind: "missing" };
      const link = toLink(row);
      if (expected !== undefined && expected !== link.version) return { kind: "conflict", version: link.version };
      const [change] = await raiseVersions(sql, trx, { links: [link], state }, at);
      if (change === undefined) throw new Error("a link without a version");
      return { kind: "changed", link: await apply(trx, link, change.version) };
    });
  }

  const selectTargets = statement((db: Db, { asked }: Params<{ asked: string }>) =>
    acrossTenants(db)
      .selectFrom(sql.eachPlace(asked))
      // Left joins keep the order on SQLite: each place is looked up in the index.
      .leftJoin("link_versions as v", (join) =>
        join.onRef("v.domain", "=", "asked.domain").onRef("v.code", "=", "asked.code"),
      )
      .leftJoin("links as l", (join) => join.onRef("l.domain", "=", "v.domain").onRef("l.code", "=", "v.code"))
      .leftJoin("files as f", (join) =>
        join.onRef("f.id", "=", "l.file_id").onRef("f.tenant_id", "=", "l.tenant_id").on("f.state", "=", "stored"),
      )
      .leftJoin("tenants as t", "t.id", "l.tenant_id")
      .leftJoin("suspended_links as s", (join) =>
        join.onRef("s.domain", "=", "v.domain").onRef("s.code", "=", "v.code"),
      )
      .select(["asked.domain", "asked.code", "v.version"])
      .select(["l.url", "l.permanent", "l.status", "l.expires_at", "l.fallback_url", "l.password_hash"])
      .select(["l.rules", "l.split", "l.utm", "l.forward_query"])
      .select(["l.file_id", "l.tenant_id", "f.name", "f.type", "f.size_bytes", "f.sha256"])
      .select(["l.hits_per_month", "l.number", "t.number as tenant", "l.tags", "l.facts", "s.suspended_at"]),
  );
  type TargetRow = Awaited<ReturnType<typeof selectTargets.one>>;

  async function targets(places: readonly Place[]): Promise<(Versioned<MeteredTarget> | Error)[]> {
    const asked = JSON.stringify(places.map(({ domain, code }) => [domain, code]));
    const rows = new Map<string, TargetRow>();
    for (const row of await selectTargets.all(db, { asked })) rows.set(`${row.domain}/${row.code}`, row);
    return places.map(({ domain, code }) => {
      const row = rows.get(`${domain}/${code}`);
      if (row === undefined) return new Error(`the database did not answer for ${domain}/${code}`);
      try {
        return toTarget(row);
      } catch (error) {
        return error instanceof Error ? error : new Error(String(error));
      }
    });
  }

  function toTarget(row: TargetRow): Versioned<MeteredTarget> {
    if (row.version === null) return { version: 0, value: undefined };
    const file = fileOf(row);
    const fileGone = row.file_id !== null && file === null;
    if (row.url === null || fileGone || row.status !== "active") return { version: row.version, value: undefined };
    return {
      version: row.version,
      value: {
        url: row.url === "" ? "" : withUtm(row.url, toUtm(row.utm)),
        file,
        permanent: row.permanent === 1,
        expiresAt: row.expires_at,
        fallbackUrl: row.fallback_url,
        password: row.password_hash !== null,
        suspended: row.suspended_at !== null,
        choice: choiceFromRow(row),
        hitsPerMonth: row.hits_per_month,
        clicks: {
          link: row.number ?? (0 as LinkNumber),
          tenant: row.tenant ?? (0 as TenantNumber),
          tags: tagsOf(row.tags),
          facts: row.facts === 1,
        },
      },
    };
  }

  return {
    ...createNewLinks(sql),
    changeMany: createChangeMany(sql),
    move: createMoveLink(sql),

    async get(tenant, id) {
      const row = await selectById.first(ofTenant(db, tenant), { id });
      return row && toLink(row);
    },

    async byCode(tenant, domain, code) {
      const row = await selectByCode.first(ofTenant(db, tenant), { domain, code });
      return row && toLink(row);
    },

    async list(tenant, limit, before) {
      let query = withVersion(ofTenant(db, tenant));
      if (before !== undefined) query = query.where("links.id", "<", before);
      const rows = await query.orderBy("links.id", "desc").limit(limit).execute();
      return rows.map(toLink);
    },

    async find(tenant, query) {
      const own = ofTenant(db, tenant);
      // First the ids alone: sorting 100,000 whole rows takes five times as long.
      let found = own.selectFrom("links").select("links.id").orderBy(orderOf(query)).limit(query.limit);
      for (const condition of await conditionsOf(sql, tenant, query)) found = found.where(condition);
      const rows = withVersion(own).where("links.id", "in", found).orderBy(orderOf(query));
      return (await rows.execute()).map(toLink);
    },

    async listUp(tenant, limit, after) {
      let query = withVersion(ofTenant(db, tenant));
      if (after !== undefined) query = query.where("links.id", ">", after);
      const rows = await query.orderBy("links.id").limit(limit).execute();
      return rows.map(toLink);
    },

    update(tenant, id, { edit, file, by, undoTo }, at, expected) {
      let files: ReadonlySet<FileId> = new Set();
      const lock = async (trx: Trx) => {
        files = await lockFiles(sql, trx, tenant, [{ file }]);
      };
      const apply = async (trx: Trx, link: Link, version: number) => {
        const { passwordHash, ...fields } = edit(link);
        if (fields.file !== null && fields.file !== link.file && !files.has(fields.file)) throw new NoFile();
        const own = ofTenant(trx, tenant);
        await setFields.run(own, { id, at, ...fieldColumns(fields) });
        if (passwordHash !== undefined) await setPassword.run(own, { id, hash: passwordHash });
        const password = passwordHash === undefined ? link.password : passwordHash !== null;
        const edited = { ...link, ...fields, password, version, updatedAt: at };
        const changed = changedFields(link, edited, passwordHash !== undefined);
        if (changed !== undefined && undoTo === undefined) await record(trx, edited, by, "link.update", changed);
        if (changed !== undefined && undoTo !== undefined) {
          await record(trx, edited, by, "link.undo", { ...changed, after: { ...changed.after, undoTo } });
        }
        if (version % trimEvery === 0) await trimPast(trx, tenant, id);
        return edited;
      };
      return change(tenant, id, expected, at, "live", apply, lock).catch((error: unknown): Changed => {
        if (error instanceof NoFile) return { kind: "no_file" };
        throw error;
      });
    },

    remove: (tenant, id, by, at, expected) =>
      change(tenant, id, expected, at, "live", async (trx, link, version) => {
        await moveToTrash(trx, tenant, id, at);
        const gone = { ...link, version, updatedAt: at };
        await record(trx, gone, by, "link.delete", { before: identityOf(link) });
        return { ...link, version };
      }),

    async target(domain, code) {
      const [found] = await targets([{ domain, code }]);
      if (found === undefined || found instanceof Error) throw found ?? new Error("the database did not answer");
      return found;
    },

    targets,

    touch: (domain, code, at) =>
      sql.transaction(async (trx) => (await raiseVersions(sql, trx, { links: [{ domain, code }] }, at))[0]?.version),

    async purge(expiredBefore, limit, at) {
      const rows = await acrossTenants(db)
        .selectFrom("links")
        .innerJoin("link_versions", (join) =>
          join.onRef("link_versions.domain", "=", "links.domain").onRef("link_versions.code", "=", "links.code"),
        )
        .select(["links.id", "links.number", "links.tenant_id", "link_versions.version"])
        .where("links.expires_at", "<", expiredBefore)
        .orderBy("links.expires_at")
        .limit(limit)
        .execute();
      let purged = 0;
      for (const row of rows) {
        const outcome = await change(row.tenant_id, row.id, row.version, at, "purged", async (trx, link, version) => {
          const own = ofTenant(trx, link.tenantId);
          await own.deleteFrom("links").where("id", "=", link.id).execute();
          await eraseAttached(own, [row]);
          // The code is now free for anyone.
          await trx
            .deleteFrom("suspended_links")
            .where("domain", "=", link.domain)
            .where("code", "=", link.code)
            .execute();
          await record(trx, { ...link, version, updatedAt: at }, byClean, "link.purge", { before: identityOf(link) });
          return { ...link, version };
        });
        if (outcome.kind === "changed") purged++;
      }
      return purged;
    },
  };
}

/** `updatedAt` is the time of the change. */
const record = (trx: Trx, link: Link, by: Actor, action: string, change: LinkEdit): Promise<void> =>
  recordHistory(
    trx,
    { now: () => link.updatedAt },
    {
      ...{ tenant: link.tenantId, actor: by, action, version: link.version, ...change },
      subject: { kind: "link", id: link.id, name: cacheKey(link.domain, link.code) },
    },
  );

const byClean: Actor = { kind: "job", name: "clean" };

const selectById = statement((own: TenantDb, { id }: Params<{ id: LinkId }>) =>
  withVersion(own).where("links.id", "=", id),
);

const selectByCode = statement((own: TenantDb, { domain, code }: Params<Place>) =>
  withVersion(own).where("links.domain", "=", domain).where("links.code", "=", code),
);

type Fields = ReturnType<typeof fieldColumns> & { readonly id: LinkId; readonly at: number };

const setFields = statement((own: TenantDb, { id, at, ...fields }: Params<Fields>) =>
  own
    .updateTable("links")
    .set({ ...fields, updated_at: at })
    .where("id", "=", id),
);

const setPassword = statement((own: TenantDb, { id, hash }: Params<{ id: LinkId; hash: string | null }>) =>
  own.updateTable("links").set({ password_hash: hash }).where("id", "=", id),
);

/** Undoes a change to a missing file. */
class NoFile extends Error {}

/** Most links have none, and share one list: they are kept in memory by the thousand. */
const tagsOf = (stored: string | null): readonly string[] =>
  stored === null || stored === "[]" ? noTags : (JSON.parse(stored) as string[]);
const noTags: readonly string[] = [];
