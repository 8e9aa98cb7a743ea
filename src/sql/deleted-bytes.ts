import { CompiledQuery } from "kysely";
import type { Sql } from "./sql.ts";

/**
 * Removes from the disk what is deleted in the tables. SQLite overwrites deleted rows (`secure_delete`, in `sqlite.ts`), but
 * the database file has them until the next checkpoint, and the write-ahead log until it is overwritten. This moves the log into
 * the database and truncates it. On PostgreSQL it does nothing: a vacuum frees the place of deleted rows, and later rows
 * overwrite it.
 *
 * The first checkpoint does most of the work, and lets others write meanwhile. Returns false if somebody reads or writes just now, so
 * that the log stays.
 */
export async function removeDeletedBytes({ dialect, db }: Sql): Promise<boolean> {
  if (dialect === "postgres") return true;
  let isBusy = true;
  for (const mode of ["passive", "truncate"]) {
    const { rows } = await db.executeQuery<{ busy: number }>(CompiledQuery.raw(`pragma wal_checkpoint(${mode})`));
    isBusy = rows[0]?.busy !== 0;
  }
  return !isBusy;
}
