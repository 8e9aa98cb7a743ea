import { sql as raw, type Selectable } from "kysely";
import type { FileId, TenantId } from "../base/ids.ts";
import type { LinkVersion } from "../cache/feed.ts";
import { type Actor, recordHistory } from "../history/history.ts";
import type { FileTable } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import { type Params, statement } from "../sql/statement.ts";
import { acrossTenants, type Db, ofTenant, type TenantDb, type Trx } from "../sql/tenant-db.ts";
import { type Place, raiseVersions } from "../sql/versions.ts";
import type { TenantFile } from "./file.ts";
import {
  type CountedStorage,
  lockStorageTotal,
  type StorageTotal,
  setStorageTotal,
  storageTotalColumns,
  sumOfBytes,
} from "./quota/storage-total.ts";

/**
 * Files in SQL. A change of which files count also changes the tenant's storage total, in the same transaction.
 *
 * A file counts from `stored` on, also while it is `deleting`, until its row is deleted. One that is `deleting` but was
 * never stored does not count.
 */
export interface FileStore {
  /** Returns what else the tenant has; `undefined` if the ID exists. */
  insert(file: NewFile): Promise<StorageUse | undefined>;
  /** Its hold exists: from now on it may be uploaded, and is found. False if the row is gone. */
  admit(file: FileKey, until: number): Promise<boolean>;
  /** For an upload refused before it was admitted. */
  withdraw(file: FileKey): Promise<void>;
  /** In any state. */
  get(tenant: TenantId, id: FileId): Promise<TenantFile | undefined>;
  /** Of any tenant, in any state: for the holder of a signed URL. */
  byId(id: FileId): Promise<TenantFile | undefined>;
  /** Those that exist, in any state. */
  several(tenant: TenantId, ids: readonly FileId[]): Promise<TenantFile[]>;
  /** Files that are stored or may be uploaded, newest first. */
  list(tenant: TenantId, limit: number, before?: FileId): Promise<TenantFile[]>;
  /** Makes a pending file a stored one if it fits: the last check of the quota, whatever the counters say. */
  keep(file: FileKey, found: Found): Promise<StoreOutcome>;
  settled(file: FileKey): Promise<void>;
  /**
   * From now on it cannot be completed or seen. Only from this state; otherwise `undefined`.
   */
  condemn(file: FileKey, from: "pending" | "stored", about?: Condemnation): Promise<TenantFile | undefined>;
  /** Gives some of the links to it their next version, in the order of their codes. */
  touchLinks(file: FileKey, after: LinkVersion | undefined, limit: number, at: number): Promise<LinkVersion[]>;
  /**
   * Deletes the row and subtracts its bytes if they counted; returns the standing. `undefined` if it was already
   * deleted.
   */
  erase(file: FileKey): Promise<{ readonly total: StorageTotal | undefined } | undefined>;
  /** Unfinished work: uploads that ended or were not admitted before then, files to be deleted, and unsettled holds. */
  unfinished(endedBefore: number, bornBefore: number, after: FileId | undefined, limit: number): Promise<TenantFile[]>;
  /** Uploads that are held, or should be. */
  admitted(tenant: TenantId): Promise<TenantFile[]>;
  /** Which of these are still pending. */
  stillPending(tenant: TenantId, ids: readonly FileId[]): Promise<Set<FileId>>;
  /** What is stored, by the tenant's row, and what is announced in addition. */
  storageUse(tenant: TenantId): Promise<StorageUse>;
}

export interface Condemnation {
  /** An upload only if it ended before then. */
  readonly endedBefore?: number;
  /** Omitted for an upload that was never completed: it is not in the history. */
  readonly deletion?: { readonly by: Actor; readonly at: number };
}

export type FileKey = Pick<TenantFile, "id" | "tenantId">;
export type NewFile = Pick<TenantFile, "id" | "tenantId" | "name" | "sizeBytes" | "type" | "sha256" | "createdAt">;

export interface Found {
  readonly sha256: string;
  /** The tenant's quota; null for no limit. */
  readonly max: number | null;
  readonly at: number;
}

export interface StorageUse extends CountedStorage {
  /** Bytes and number of admitted uploads. */
  readonly pending: number;
  readonly uploads: number;
}

export type StoreOutcome =
  | { readonly kind: "kept"; readonly file: TenantFile; readonly total: StorageTotal }
  /** Another request was first. */
  | { readonly kind: "already"; readonly file: TenantFile }
  | { readonly kind: "full"; readonly total: StorageTotal }
  | { readonly kind: "gone" };

/**
 * `unforced`: the same database, with commits that on SQLite do not wait for the disk (`openUnforced` in `core.ts`). Rows that
 * are not admitted are written and deleted there. A power cut may lose or bring back one: its URL was never given out, and the
 * commit that admits it waits for the disk, with everything before it.
 */
export function createFileStore(sql: Sql, unforced: Sql = sql): FileStore {
  const { db } = sql;

  const selectLocked = statement((own: TenantDb, { id }: Params<One>) =>
    sql.forUpdate(own.selectFrom("files").select(columns).where("id", "=", id)),
  );

  return {
    async insert(file) {
      const { id, name, type, sha256, sizeBytes: size_bytes, createdAt: created_at } = file;
      const own = ofTenant(unforced.db, file.tenantId);
      return await insertPending.first(own, { id, name, type, sha256, size_bytes, created_at });
    },

    async admit({ tenantId, id }, until) {
      return (await setUploadUntil.run(ofTenant(db, tenantId), { id, until })) > 0;
    },

    async withdraw({ tenantId, id }) {
      await deleteUnadmitted.run(ofTenant(unforced.db, tenantId), { id });
    },

    async get(tenantId, id) {
      const row = await selectOne.first(ofTenant(db, tenantId), { id });
      return row && toFile(row);
    },

    async byId(id) {
      const row = await selectAnyTenants.first(db, { id });
      return row && toFile(row);
    },

    async several(tenant, ids) {
      if (ids.length === 0) return [];
      return (await selectSeveral.all(ofTenant(db, tenant), { ids })).map(toFile);
    },

    async list(tenant, limit, before) {
      let query = ofTenant(db, tenant)
        .selectFrom("files")
        .selectAll()
        .where("state", "<>", "deleting")
        .whereRef("upload_until", ">", "created_at");
      if (before !== undefined) query = query.where("id", "<", before);
      return (await query.orderBy("id", "desc").limit(limit).execute()).map(toFile);
    },

    keep: (key, { sha256, max, at }) =>
      sql.transaction(async (trx): Promise<StoreOutcome> => {
        const { bytes, version, files } = await lockStorageTotal(trx, key.tenantId);
        const own = ofTenant(trx, key.tenantId);
        const row = await selectLocked.first(own, { id: key.id });
        if (row === undefined || row.state === "deleting") return { kind: "gone" };
        if (row.state === "stored") return { kind: "already", file: toFile(row) };
        if (max !== null && bytes + row.size_bytes > max) return { kind: "full", total: { bytes, version } };
        const changes = { state: "stored", sha256, stored_at: at } as const;
        await setStored.run(own, { id: key.id, sha256, at });
        const after = { bytes: bytes + row.size_bytes, version: version + 1, files: files + 1 };
        const total = await setStorageTotal(trx, key.tenantId, after);
        return { kind: "kept", file: toFile({ ...row, ...changes }), total };
      }),

    async settled({ tenantId, id }) {
      await setSettled.run(ofTenant(db, tenantId), { id });
    },

    condemn: ({ tenantId, id }, from, { endedBefore = Number.MAX_SAFE_INTEGER, deletion } = {}) =>
      sql.transaction(async (trx) => {
        const row = await setDeleting.first(ofTenant(trx, tenantId), { id, from, endedBefore });
        if (row !== undefined && deletion !== undefined) await recordDeletion(trx, toFile(row), deletion);
        return row && toFile(row);
      }),

    touchLinks: ({ tenantId, id }, after, limit, at) =>
      sql.transaction(async (trx) => {
        const { domain, code } = after ?? { domain: "", code: "" };
        const links = await selectLinks.all(ofTenant(trx, tenantId), { id, domain, code, limit });
        return await raiseVersions(sql, trx, { links }, at);
      }),

    erase: (key) =>
      sql.transaction(async (trx) => {
        const { bytes, version, files } = await lockStorageTotal(trx, key.tenantId);
        const row = await deleteUnstored.first(ofTenant(trx, key.tenantId), { id: key.id });
        if (row === undefined) return undefined;
        if (row.stored_at === null) return { total: undefined };
        // Negative only if the row was wrong before; the sync reports by how much.
        const left = { bytes: Math.max(0, bytes - row.size_bytes), files: Math.max(0, files - 1) };
        return { total: await setStorageTotal(trx, key.tenantId, { ...left, version: version + 1 }) };
      }),

    async unfinished(endedBefore, bornBefore, after, limit) {
      let query = acrossTenants(db)
        .selectFrom("files")
        .selectAll()
        .where((is) => is.or([is("state", "<>", "stored"), is("settled", "=", 0)]))
        .where((is) =>
          is.or([
            is("state", "<>", "pending"),
            is("upload_until", "<", endedBefore),
            is.and([is("upload_until", "<", bornBefore), is("upload_until", "=", is.ref("created_at"))]),
          ]),
        );
      if (after !== undefined) query = query.where("id", ">", after);
      return (await query.orderBy("id").limit(limit).execute()).map(toFile);
    },

    async admitted(tenant) {
      const rows = await ofTenant(db, tenant)
        .selectFrom("files")
        .selectAll()
        .where("state", "=", "pending")
        .whereRef("upload_until", ">", "created_at")
        .execute();
      return rows.map(toFile);
    },

    async stillPending(tenant, ids) {
      if (ids.length === 0) return new Set();
      const rows = await ofTenant(db, tenant)
        .selectFrom("files")
        .select("id")
        .where("id", "in", [...ids])
        .where("state", "=", "pending")
        .execute();
      return new Set(rows.map(({ id }) => id));
    },

    storageUse: (tenant) => selectUse.one(ofTenant(db, tenant)),
  };
}

async function recordDeletion(
  trx: Trx,
  file: TenantFile,
  { by, at }: Required<Condemnation>["deletion"],
): Promise<void> {
  const { tenantId: tenant, id, name, sizeBytes, type } = file;
  const entry = { tenant, actor: by, action: "file.delete", subject: { kind: "file", id, name } };
  await recordHistory(trx, { now: () => at }, { ...entry, before: { name, sizeBytes, type } });
}

const columns = [
  ...(["id", "tenant_id", "name", "size_bytes", "type", "sha256", "state", "settled"] as const),
  ...(["created_at", "upload_until", "stored_at"] as const),
] as const;

type One = Pick<FileKey, "id">;
type NewRow = Pick<FileTable, "id" | "name" | "size_bytes" | "type" | "sha256" | "created_at">;

/** The row that is being inserted is not one of them, whether the database sees it already or not. */
const admitted = (own: TenantDb) =>
  own.selectFrom("files as announced").where("state", "=", "pending").whereRef("upload_until", ">", "created_at");

const insertPending = statement((own: TenantDb, row: Params<NewRow>) =>
  own
    .insertInto("files")
    .values({ ...row, upload_until: row.created_at, state: "pending", settled: 0, stored_at: null })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returning([
      raw<number>`${admitted(own).select(sumOfBytes.as("bytes"))}`.as("pending"),
      raw<number>`${admitted(own).select((is) => is.fn.countAll<number>().as("files"))}`.as("uploads"),
      ...storageTotalColumns(own),
    ]),
);

const selectOne = statement((own: TenantDb, { id }: Params<One>) =>
  own.selectFrom("files").select(columns).where("id", "=", id),
);

const selectSeveral = statement((own: TenantDb, { ids }: Params<{ ids: readonly FileId[] }>) =>
  own.selectFrom("files").select(columns).where("id", "in", ids),
);

const selectAnyTenants = statement((db: Db, { id }: Params<One>) =>
  acrossTenants(db).selectFrom("files").select(columns).where("id", "=", id),
);

const setUploadUntil = statement((own: TenantDb, { id, until }: Params<One & { until: number }>) =>
  own.updateTable("files").set({ upload_until: until }).where("id", "=", id).where("state", "=", "pending"),
);

const setStored = statement((own: TenantDb, { id, sha256, at }: Params<One & { sha256: string; at: number }>) =>
  own.updateTable("files").set({ state: "stored", sha256, stored_at: at }).where("id", "=", id),
);

const setSettled = statement((own: TenantDb, { id }: Params<One>) =>
  own.updateTable("files").set({ settled: 1 }).where("id", "=", id).where("state", "=", "stored"),
);

const setDeleting = statement(
  (own: TenantDb, { id, from, endedBefore }: Params<One & { from: "pending" | "stored"; endedBefore: number }>) =>
    own
      .updateTable("files")
      .set({ state: "deleting" })
      .where("id", "=", id)
      .where("state", "=", from)
      .where("upload_until", "<", endedBefore)
      .returning(columns),
);

const selectLinks = statement((own: TenantDb, { id, domain, code, limit }: Params<One & Place & { limit: number }>) =>
  own
    .selectFrom("links")
    .select(["domain", "code"])
    .where("file_id", "=", id)
    .where((row) => row.or([row("domain", ">", domain), row.and([row("domain", "=", domain), row("code", ">", code)])]))
    .orderBy("domain")
    .orderBy("code")
    .limit(limit),
);

const selectUse = statement((own: TenantDb) =>
  admitted(own).select((is) => [
    sumOfBytes.as("pending"),
    is.fn.countAll<number>().as("uploads"),
    ...storageTotalColumns(own),
  ]),
);

const deleteUnstored = statement((own: TenantDb, { id }: Params<One>) =>
  own.deleteFrom("files").where("id", "=", id).where("state", "<>", "stored").returning(["size_bytes", "stored_at"]),
);

const deleteUnadmitted = statement((own: TenantDb, { id }: Params<One>) =>
  own
    .deleteFrom("files")
    .where("id", "=", id)
    .where("state", "=", "pending")
    .whereRef("upload_until", "=", "created_at"),
);

export function toFile(row: Selectable<FileTable>): TenantFile {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    name: row.name,
    sizeBytes: row.size_bytes,
    type: row.type,
    sha256: row.sha256,
    state: row.state,
    settled: row.settled === 1,
    createdAt: row.created_at,
    uploadUntil: row.upload_until,
    storedAt: row.stored_at,
  };
}
