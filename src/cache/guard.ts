import { BulkheadRejectedError, bulkhead } from "cockatiel";
import type { Source } from "./cache.ts";
import type { CacheCounts } from "./counts.ts";

/**
 * SQL as lookups may use it: so many at once, so many waiting for their turn, and whoever comes then is sent away at
 * once. When caches are lost, every visitor would otherwise queue for the same few connections, and all would wait for
 * nothing.
 */
export interface GuardSettings {
  readonly atOnce: number;
  readonly waiting: number;
  readonly counts: CacheCounts;
  /** Fails at once while SQL is known to be away. */
  readonly run: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

export function guarded<Value>(sql: Source<Value>, { atOnce, waiting, counts, run }: GuardSettings): Source<Value> {
  const turns = bulkhead(atOnce, waiting);
  return {
    async load(key, atLeast) {
      try {
        return await turns.execute(() => run(() => sql.load(key, atLeast)));
      } catch (error) {
        if (error instanceof BulkheadRejectedError) counts.events.shed++;
        throw error;
      }
    },
  };
}
