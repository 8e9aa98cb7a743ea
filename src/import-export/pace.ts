import type { Clock } from "../base/clock.ts";

/**
 * Rests between batches, so that no more than so many rows are taken in a second. What was slow is not made up for later:
 * a database that could not keep up gets no burst when it can again.
 */
export type Rest = (rows: number) => Promise<void>;

export function createRest(
  rowsPerSecond: number,
  clock: Pick<Clock, "elapsed">,
  sleep: (ms: number) => Promise<unknown>,
): Rest {
  let dueMs = clock.elapsed();
  return async (rows) => {
    const nowMs = clock.elapsed();
    dueMs += (rows * 1_000) / rowsPerSecond;
    if (dueMs > nowMs) await sleep(dueMs - nowMs);
    else dueMs = nowMs;
  };
}
