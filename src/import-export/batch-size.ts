import type { Clock } from "../base/clock.ts";
import type { OthersWrote } from "../sql/other-writers.ts";

/**
 * How many rows the next transaction of an import has. Large ones take a sixth less CPU for a row, and fewer waits for the disk.
 *
 * On SQLite other writers wait for each of them. So while somebody else writes, a transaction has as many rows as fit in 10 ms, judged by
 * how long the previous one took with everything around it, but at least 512, and at most twice as many as before. A server that has visitors
 * writes every second, and one that has none every ten. On PostgreSQL nobody waits for them.
 */
export const batchRows = 512;
const rowsMost = 2_048;
const othersWaitMs = 10;
const quietMs = 1_100;

export type BatchSize = () => Promise<number>;

export function createBatchSize(othersWrote: OthersWrote | undefined, clock: Pick<Clock, "elapsed">): BatchSize {
  if (othersWrote === undefined) return async () => rowsMost;
  let wroteAtMs = clock.elapsed();
  let before: { readonly rows: number; readonly atMs: number } | undefined;
  return async () => {
    const hasWritten = await othersWrote();
    const atMs = clock.elapsed();
    if (hasWritten) wroteAtMs = atMs;
    let rows = rowsMost;
    if (atMs - wroteAtMs < quietMs) {
      const inTime = before === undefined ? 0 : Math.floor((before.rows * othersWaitMs) / (atMs - before.atMs));
      rows = Math.min(rowsMost, Math.max(batchRows, Math.min(inTime, 2 * (before?.rows ?? 0))));
    }
    before = { rows, atMs };
    return rows;
  };
}
