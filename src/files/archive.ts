import { constants } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type FileId, parseId } from "../base/ids.ts";
import { pagesOf } from "../base/pages.ts";
import { type ArchiveReader, type ArchiveWriter, pieceBytes } from "../sql/backup.ts";
import type { Sql } from "../sql/sql.ts";
import { acrossTenants, ofTenant } from "../sql/tenant-db.ts";
import { storedKey, type TenantFile } from "./file.ts";
import { isCode } from "./storage/folder.ts";
import { toFile } from "./store.ts";

/**
 * Copies uploaded files on disk into a backup and out of it.
 *
 * The backup's database snapshot, taken first, determines its files: a file stored since is not needed. A file deleted
 * since has no bytes any more; the caller marks it as deleted in the snapshot too. A file that is missing, or differs
 * from what was stored, is damaged.
 */
export interface Archived {
  readonly files: number;
  readonly bytes: number;
  /** Deleted during the backup. */
  readonly deleted: readonly FileId[];
  /** Missing, or different from what was stored; some of them by name. */
  readonly damaged: number;
  readonly named: readonly string[];
}

export interface ArchiveFiles {
  /** The backup's database. */
  readonly snapshot: Sql;
  /** The current database. */
  readonly live: Sql;
  readonly root: string;
  readonly archive: Pick<ArchiveWriter, "put">;
  readonly progress: (bytes: number) => void;
}

const namedMost = 20;

export async function archiveFiles({ snapshot, live, root, archive, progress }: ArchiveFiles): Promise<Archived> {
  let [files, bytes, damaged] = [0, 0, 0];
  const [deleted, named]: [FileId[], string[]] = [[], []];

  async function archiveOne(file: TenantFile): Promise<void> {
    const key = storedKey(file);
    // The size was announced and checked, the checksum computed when it was stored.
    const expected = { bytes: file.sizeBytes, sha256: file.sha256 ?? "" };
    const entry = await archive.put(key, piecesOf(join(root, key), progress), expected).catch(ifUnreadable);
    if (entry !== undefined) {
      files++;
      bytes += entry.bytes;
    } else if (await isStored(live, file)) {
      damaged++;
      if (named.length < namedMost) named.push(key);
    } else {
      deleted.push(file.id);
    }
  }

  for await (const page of storedFiles(snapshot)) for (const file of page) await archiveOne(file);
  return { files, bytes, deleted, damaged, named };
}

/** How many bytes there are to read. */
export async function bytesOfAllTenants({ db }: Sql): Promise<number> {
  const row = await acrossTenants(db)
    .selectFrom("tenant_storage")
    .select((is) => is.fn.sum<number | null>("bytes").as("bytes"))
    .executeTakeFirst();
  return Number(row?.bytes ?? 0);
}

/** So that a server on the restored database finishes the deletion: counts, links and row. */
export async function markDeleted({ db }: Sql, ids: readonly FileId[]): Promise<void> {
  for (let start = 0; start < ids.length; start += idsAtOnce) {
    await acrossTenants(db)
      .updateTable("files")
      .set({ state: "deleting" })
      .where("id", "in", ids.slice(start, start + idsAtOnce))
      .where("state", "=", "stored")
      .execute();
  }
}

const idsAtOnce = 500;

/** Into a new folder: nothing that exists is followed or replaced. Returns how many there were. */
export async function unarchiveFiles(
  archive: Pick<ArchiveReader, "entries" | "pieces">,
  root: string,
  progress: (bytes: number) => void,
): Promise<number> {
  await mkdir(root, { mode: 0o700 });
  let files = 0;
  for (const entry of archive.entries()) {
    const key = fileKeyIn(entry.name);
    if (key === undefined) continue;
    const path = join(root, key);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const handle = await open(path, "wx", 0o600);
    try {
      for (const piece of archive.pieces(entry)) {
        await writeAll(handle, piece);
        progress(piece.length);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    files++;
  }
  return files;
}

/** The key made of the IDs in a name; `undefined` for any other name, which could lead anywhere. */
function fileKeyIn(name: string): string | undefined {
  const [, tenant = "", file = ""] = name.split("/");
  const [tenantId, id] = [parseId("tenant", tenant), parseId("file", file)];
  const key = tenantId && id && storedKey({ tenantId, id });
  return key === name ? key : undefined;
}

const storedFiles = ({ db }: Sql) =>
  pagesOf<TenantFile>(async (limit, last) => {
    let query = acrossTenants(db).selectFrom("files").selectAll().where("state", "=", "stored");
    if (last !== undefined) query = query.where("id", ">", last.id);
    return (await query.orderBy("id").limit(limit).execute()).map(toFile);
  });

async function isStored({ db }: Sql, { tenantId, id }: TenantFile): Promise<boolean> {
  const row = await ofTenant(db, tenantId).selectFrom("files").select("state").where("id", "=", id).executeTakeFirst();
  return row?.state === "stored";
}

/** A symbolic link in place of a file is not followed. */
export async function* piecesOf(path: string, progress: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(pieceBytes), 0, pieceBytes, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      progress(bytesRead);
    }
  } finally {
    await handle.close();
  }
}

export async function writeAll(handle: FileHandle, piece: Uint8Array): Promise<void> {
  for (let start = 0; start < piece.length; ) start += (await handle.write(piece, start)).bytesWritten;
}

function ifUnreadable(error: unknown): undefined {
  if (isCode(error, "ENOENT", "ELOOP", "EISDIR", "EIO")) return undefined;
  throw error;
}
