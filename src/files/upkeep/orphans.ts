/**
 * Finds objects without a row, and rows without an object.
 *
 * Both sides are read in the same order, page by page, and anything found on one side only is checked again, because
 * files come and go meanwhile. A row is always written before its object, so an object without a row has lost it for
 * good; still, only objects older than the grace time are removed. Under `incoming/`, an object whose file is already
 * stored is also an orphan: its URL was used once more.
 *
 * A row without its object is a loss, and deleting it frees what it counted for. But if many or all are missing, the
 * store itself is probably wrong: a folder that is not mounted, another bucket. Then nothing is deleted.
 */
import type { Clock } from "../../base/clock.ts";
import { type FileId, parseId } from "../../base/ids.ts";
import type { Actor } from "../../history/history.ts";
import type { Sql } from "../../sql/sql.ts";
import { acrossTenants } from "../../sql/tenant-db.ts";
import { storedKey, type TenantFile } from "../file.ts";
import type { Files } from "../files.ts";
import type { Storage, StoredObject } from "../storage/storage.ts";
import { type FileStore, toFile } from "../store.ts";

export interface OrphanSettings {
  readonly sql: Sql;
  readonly store: FileStore;
  readonly storage: Storage;
  readonly files: Pick<Files, "finish">;
  readonly clock: Clock;
  /** Ends it between two files. */
  readonly signal?: AbortSignal;
}

export interface Orphans {
  /** Some of them, by name. */
  readonly objects: readonly StoredObject[];
  readonly rows: readonly TenantFile[];
  readonly objectsFound: number;
  readonly objectBytes: number;
  readonly rowsFound: number;
  readonly removedObjects: number;
  readonly removedRows: number;
  /** So many rows have no object that the store itself must be wrong. */
  readonly suspicious: boolean;
}

export const graceMs = 86_400_000;
/** Greater than every key. */
const afterAll = "\uffff";
const pageRows = 500;
const namedMost = 100;
/** More than this number, and more than this share: then the store is wrong. */
const lostMost = 10;
const lostShare = 0.1;
const bySync: Actor = { kind: "job", name: "files-sync" };

export async function findOrphans(settings: OrphanSettings, dryRun: boolean, olderThanMs = graceMs): Promise<Orphans> {
  const { sql, store, storage, files, clock, signal } = settings;
  const before = clock.now() - olderThanMs;
  const named: StoredObject[] = [];
  const lost: TenantFile[] = [];
  const sums = { objectsFound: 0, objectBytes: 0, rowsFound: 0, removedObjects: 0, removedRows: 0 };
  const seen = { objects: 0, rows: 0 };

  async function orphaned(object: StoredObject): Promise<void> {
    if (named.length < namedMost) named.push(object);
    sums.objectsFound++;
    sums.objectBytes += object.sizeBytes;
    if (dryRun) return;
    await storage.remove(object.key);
    sums.removedObjects++;
  }

  async function lookAtStored(): Promise<void> {
    const objects = flat(pagesOf(storage, "stored/"));
    const rows = flat(rowsOf(sql));
    let [object, row] = [await objects.next(), await rows.next()];
    while (!object.done || !row.done) {
      signal?.throwIfAborted();
      const key = object.done ? afterAll : object.value.key;
      const wanted = row.done ? afterAll : storedKey(row.value);
      if (!object.done && key < wanted) await withoutRow(object.value);
      if (!row.done && wanted < key) await withoutObject(row.value);
      if (key <= wanted) [object, seen.objects] = [await objects.next(), seen.objects + 1];
      if (wanted <= key) [row, seen.rows] = [await rows.next(), seen.rows + 1];
    }
  }

  async function withoutRow(object: StoredObject): Promise<void> {
    const id = parseId("file", object.key.split("/")[2] ?? "");
    if (id === undefined || object.modifiedAt >= before) return;
    if ((await statesOf(sql, [id])).get(id) === undefined) await orphaned(object);
  }

  async function withoutObject(row: TenantFile): Promise<void> {
    if (row.state !== "stored" || row.storedAt === null || row.storedAt >= before) return;
    if ((await storage.stat(storedKey(row))) !== undefined) return;
    sums.rowsFound++;
    if (lost.length < namedMost) lost.push(row);
  }

  for await (const object of strayUploads(sql, storage, before)) await orphaned(object);
  await lookAtStored();
  const many = sums.rowsFound > lostMost && sums.rowsFound > seen.rows * lostShare;
  const suspicious = sums.rowsFound > 0 && (many || seen.objects === 0);
  if (!dryRun && !suspicious) {
    for (const row of lost) {
      const condemned = await store.condemn(row, "stored", { deletion: { by: bySync, at: clock.now() } });
      if (condemned !== undefined && (await files.finish(condemned))) sums.removedRows++;
    }
  }
  return { ...sums, objects: named, rows: lost, suspicious };
}

/** Uploads that are not needed: the row is gone, or the file is already stored. */
export async function* strayUploads(sql: Sql, storage: Storage, before: number): AsyncGenerator<StoredObject> {
  for await (const page of pagesOf(storage, "incoming/")) {
    const old = page.flatMap((object) => {
      const id = parseId("file", object.key.slice("incoming/".length));
      return id !== undefined && object.modifiedAt < before ? [{ object, id }] : [];
    });
    const ids = old.map(({ id }) => id);
    const states = await statesOf(sql, ids);
    for (const { object, id } of old) if ((states.get(id) ?? "stored") === "stored") yield object;
  }
}

async function* pagesOf(storage: Storage, prefix: string): AsyncGenerator<StoredObject[]> {
  for (let after: string | undefined; ; ) {
    const page = await storage.list(prefix, after, pageRows);
    yield page;
    after = page.at(-1)?.key;
    if (page.length < pageRows) return;
  }
}

/** In the order of their keys. */
async function* rowsOf({ db }: Sql): AsyncGenerator<TenantFile[]> {
  let after: TenantFile | undefined;
  for (;;) {
    const last = after;
    let query = acrossTenants(db).selectFrom("files").selectAll();
    if (last !== undefined) {
      query = query.where((is) =>
        is.or([
          is("tenant_id", ">", last.tenantId),
          is.and([is("tenant_id", "=", last.tenantId), is("id", ">", last.id)]),
        ]),
      );
    }
    const page = (await query.orderBy("tenant_id").orderBy("id").limit(pageRows).execute()).map(toFile);
    yield page;
    after = page.at(-1);
    if (page.length < pageRows) return;
  }
}

async function* flat<Item>(pages: AsyncGenerator<Item[]>): AsyncGenerator<Item> {
  for await (const page of pages) yield* page;
}

async function statesOf({ db }: Sql, ids: readonly FileId[]): Promise<Map<FileId, TenantFile["state"]>> {
  if (ids.length === 0) return new Map();
  const rows = await acrossTenants(db)
    .selectFrom("files")
    .select(["id", "state"])
    .where("id", "in", [...ids])
    .execute();
  return new Map(rows.map(({ id, state }) => [id, state]));
}
