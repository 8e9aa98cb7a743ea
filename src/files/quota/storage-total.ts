import { sql as raw } from "kysely";
import type { TenantId } from "../../base/ids.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import { type Db, ofTenant, type TenantDb, type Trx } from "../../sql/tenant-db.ts";

/**
 * The bytes that a tenant has stored: one row, which changes in the transaction that changes a file, with a new version
 * each time. A writer takes its lock before the file's. So it is always the sum of the files that count, it never
 * exceeds what was checked under the lock, and of two copies the newer is known.
 */
export interface StorageTotal {
  readonly bytes: number;
  readonly version: number;
}

/** Also with the number of files, which stays in SQL. */
export interface CountedStorage extends StorageTotal {
  readonly files: number;
}

export interface Recount {
  /** How many of them count. */
  readonly files: number;
  /** What the row had before. */
  readonly before: number;
  readonly total: StorageTotal;
}

/** Locked until the transaction ends. */
export async function lockStorageTotal(trx: Trx, tenant: TenantId): Promise<CountedStorage> {
  return await lockRow.one(ofTenant(trx, tenant));
}

export async function setStorageTotal(
  trx: Trx,
  tenant: TenantId,
  { bytes, version, files }: CountedStorage,
): Promise<StorageTotal> {
  await setRow.run(ofTenant(trx, tenant), { bytes, version, files });
  return { bytes, version };
}

export async function readStorageTotal(db: Db, tenant: TenantId): Promise<CountedStorage> {
  return (await selectRow.first(ofTenant(db, tenant))) ?? { bytes: 0, version: 0, files: 0 };
}

/**
 * Recounts the files. Under the lock, so that no upload comes or goes meanwhile; the row is then correct, and newer
 * than every copy, unless it is a dry run. Reads every file of the tenant: not for the serving thread.
 */
export function recount(sql: Sql, tenant: TenantId, dryRun: boolean): Promise<Recount> {
  return sql.transaction(async (trx) => {
    const addUp = ofTenant(trx, tenant)
      .selectFrom("files")
      .select((is) => [is.fn.countAll<number>().as("files"), sumOfBytes.as("bytes")])
      .where("stored_at", "is not", null);
    // Most tenants have no files and need no row.
    if ((await addUp.executeTakeFirstOrThrow()).files === 0 && !(await selectRow.first(ofTenant(trx, tenant)))) {
      return { files: 0, before: 0, total: { bytes: 0, version: 0 } };
    }
    const { bytes: before, version } = await lockStorageTotal(trx, tenant);
    const { files, bytes } = await addUp.executeTakeFirstOrThrow();
    const total = { bytes, version: version + 1 };
    if (!dryRun) await setStorageTotal(trx, tenant, { ...total, files });
    return { files, before, total };
  });
}

/** For another statement of the tenant: 0 if there is no row. */
export const storageTotalColumns = (own: TenantDb) =>
  (["bytes", "version", "files"] as const).map((column) =>
    raw<number>`coalesce(${own.selectFrom("tenant_storage").select(column)}, 0)`.as(column),
  );

/** PostgreSQL would return the sum of bigints as a numeric, which we get as text. */
export const sumOfBytes = raw<number>`cast(coalesce(sum(size_bytes), 0) as bigint)`;

const selectRow = statement((own: TenantDb) => own.selectFrom("tenant_storage").select(["bytes", "version", "files"]));

/** Inserts the row if there is none. Setting a column to itself locks the row and returns what it holds. */
const lockRow = statement((own: TenantDb) =>
  own
    .insertInto("tenant_storage")
    .values({ bytes: 0, version: 0 })
    .onConflict((conflict) =>
      conflict.column("tenant_id").doUpdateSet((row) => ({ bytes: row.ref("tenant_storage.bytes") })),
    )
    .returning(["bytes", "version", "files"]),
);

const setRow = statement((own: TenantDb, { bytes, version, files }: Params<CountedStorage>) =>
  own.updateTable("tenant_storage").set({ bytes, version, files }),
);
