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
  const started = clock.attended(waitMs);
  try {
    return await withDeadline(work, waitMs, names[store], clock);
  } finally {
    patience[store] = Math.max(0, waitMs - (clock.attended(waitMs) - started));
  }
}
