import type { Clock } from "../base/clock.ts";
import type { OthersWrote } from "../sql/other-writers.ts";

/**
 * How many rows the next transaction of an import has. Large ones take a sixth less CPU for a row, and half of the waits for the disk.
 * But on SQLite other writers wait for each of them: up to 10 ms for 512 rows, four times as long for 2,048. So they are large only
 * while nobody else writes. A server that has visitors writes every second, and one that has none every ten. On PostgreSQL nobody waits for
 * them.
 */
export const batchRows = 512;
const quietRows = 2_048;
const quietMs = 1_100;

export type BatchSize = () => Promise<number>;

export function createBatchSize(othersWrote: OthersWrote, clock: Pick<Clock, "elapsed">): BatchSize {
  let wroteAtMs = clock.elapsed();
  return async () => {
    if (await othersWrote()) wroteAtMs = clock.elapsed();
    return clock.elapsed() - wroteAtMs < quietMs ? batchRows : quietRows;
  };
}
