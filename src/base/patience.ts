import { longestTimes } from "./attention.ts";
import type { Clock } from "./clock.ts";
import { withDeadline } from "./deadline.ts";

/**
 * How long one visitor will still wait, in milliseconds: in total for Redis and in total for SQL, over any number of
 * calls. Every wait is deducted.
 */
export interface Patience {
  redis: number;
  sql: number;
}

export type Store = keyof Patience;

const names: Readonly<Record<Store, string>> = { redis: "Redis", sql: "PostgreSQL" };

/** The result of the work, or `Late` once the visitor has no time left for this store. The work continues. */
export async function within<Result>(
  patience: Patience,
  store: Store,
  work: Promise<Result>,
  clock: Clock,
): Promise<Result> {
  const waitMs = patience[store];
  const waited = beginWait(waitMs, clock);
  try {
    return await withDeadline(work, waitMs, names[store], clock);
  } finally {
    patience[store] = Math.max(0, waitMs - waited());
  }
}

/**
 * How much of a visitor's patience the wait has taken so far. A busy thread does not take all of it, but a tenth: so the waits of a
 * visit end together as one of them would, after ten times the patience.
 */
export function beginWait(waitMs: number, clock: Pick<Clock, "attended" | "elapsed">): () => number {
  const [attended, elapsed] = [clock.attended(waitMs), clock.elapsed()];
  return () => Math.max(clock.attended(waitMs) - attended, (clock.elapsed() - elapsed) / longestTimes);
}
