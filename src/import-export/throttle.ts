import type { Clock } from "../base/clock.ts";

/**
 * Pauses between batches to stay below a number of rows per second. Lost time is not made up for: a database that could
 * not keep up gets no burst once it recovers.
 */
export type Throttle = (rows: number) => Promise<void>;

export function createThrottle(
  rowsPerSecond: number,
  clock: Pick<Clock, "elapsed">,
  sleep: (ms: number) => Promise<unknown>,
): Throttle {
  let dueMs = clock.elapsed();
  return async (rows) => {
    const nowMs = clock.elapsed();
    dueMs += (rows * 1_000) / rowsPerSecond;
    if (dueMs > nowMs) await sleep(dueMs - nowMs);
    else dueMs = nowMs;
  };
}
