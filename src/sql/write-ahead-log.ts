import { CompiledQuery } from "kysely";
import type { Sql } from "./sql.ts";

/**
 * SQLite appends what is written to a log, and moves it into the database file once the log has a thousand pages: in the commit
 * that finds it so long, whichever thread that is. Moving a thousand pages takes 3 to 15 ms, and on a slow disk ten
 * times as long, because it waits for the disk twice, also on connections that otherwise do not wait.
 *
 * So the serving thread leaves the log alone. The threads that write clicks and imports move it as they commit, and if
 * neither writes, a job of the server asks the background thread to (`server/jobs.ts`). They do not keep the serving thread from reading or
 * writing. Only if all of that fails does the serving thread move a log of 64 MB itself.
 */
export const logMostPages = 16_000;
/** So that the job acts only if the other threads, which act from 1,000 pages on, have not. */
const logManyPages = 2_000;
/** What was appended while pages were moved is moved by the next try; a log that was moved to its end is overwritten. */
const moveTries = 3;

/** Whether it is long enough that somebody should move it. Takes some microseconds. Always false on PostgreSQL. */
export async function hasLongLog(sql: Sql): Promise<boolean> {
  if (sql.dialect === "postgres") return false;
  return (await checkpoint(sql, "noop")) >= logManyPages;
}

/** Blocks its thread for some milliseconds. */
export async function moveLog(sql: Sql): Promise<void> {
  if (sql.dialect === "postgres") return;
  for (let tries = 0; tries < moveTries; tries++) if ((await checkpoint(sql, "passive")) === 0) return;
}

/** Returns how many pages of the log have not been moved. */
async function checkpoint({ db }: Sql, mode: "noop" | "passive"): Promise<number> {
  const query = CompiledQuery.raw(`pragma wal_checkpoint(${mode})`);
  const { rows } = await db.executeQuery<{ log: number; checkpointed: number }>(query);
  const [{ log, checkpointed } = { log: 0, checkpointed: 0 }] = rows;
  return log - checkpointed;
}
