import type { Clock } from "./clock.ts";
import { withDeadline } from "./deadline.ts";

/**
 * How long one visitor still waits, in milliseconds: for all of Redis and for all of SQL, however many calls that is.
 * Every wait takes its time off.
 */
export interface Patience {
  redis: number;
  sql: number;
}

export type Store = keyof Patience;

const names: Readonly<Record<Store, string>> = { redis: "Redis", sql: "PostgreSQL" };

/** The work's answer, or `Late` once the visitor has no more time for this store. The work itself goes on. */
export async function within<Result>(
  patience: Patience,
  store: Store,
  work: Promise<Result>,
  clock: Clock,
): Promise<Result> {
  const started = clock.elapsed();
  try {
    return await withDeadline(work, patience[store], names[store]);
  } finally {
    patience[store] = Math.max(0, patience[store] - (clock.elapsed() - started));
  }
}
