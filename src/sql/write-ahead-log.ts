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
/** Somebody may write or read just then. */
const restartTries = 50;
const retryMs = 1;

/** Whether it is long enough that somebody should move it. Takes some microseconds. Always false on PostgreSQL. */
export async function hasLongLog(sql: Sql): Promise<boolean> {
  if (sql.dialect === "postgres") return false;
  const { pages } = await checkpoint(sql, "noop");
  return pages >= logManyPages;
}

/**
 * Blocks its thread for some milliseconds. Most pages are moved while others write. What they append meanwhile is moved with the
 * lock of writers, so that the log begins again from its start: on a server that never stops writing it would only grow otherwise.
 */
export async function moveLog(sql: Sql): Promise<void> {
  if (sql.dialect === "postgres") return;
  await checkpoint(sql, "passive");
  for (let tries = 0; tries < restartTries; tries++) {
    const { isBusy } = await checkpoint(sql, "restart");
    if (!isBusy) return;
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}

/** `pages`: how many of the log have not been moved. */
async function checkpoint(
  { db }: Sql,
  mode: "noop" | "passive" | "restart",
): Promise<{ readonly pages: number; readonly isBusy: boolean }> {
  const query = CompiledQuery.raw(`pragma wal_checkpoint(${mode})`);
  const { rows } = await db.executeQuery<{ busy: number; log: number; checkpointed: number }>(query);
  const [{ busy, log, checkpointed } = { busy: 1, log: 0, checkpointed: 0 }] = rows;
  return { pages: log - checkpointed, isBusy: busy !== 0 };
}
