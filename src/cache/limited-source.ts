import { BulkheadRejectedError, bulkhead } from "cockatiel";
import type { Clock } from "../base/clock.ts";
import { Late, withDeadline } from "../base/deadline.ts";
import { within } from "../base/patience.ts";
import type { LookupAnswer, Source } from "./cache.ts";
import type { CacheCounts } from "./hit-counts.ts";

/**
 * Limits how lookups use SQL: a number run at once, a number wait, and the rest fail at once. When caches are lost, all
 * visitors would otherwise queue for the same few connections and time out.
 *
 * A query has more time than a visitor: it keeps its place until it ends, and its answer still fills the caches.
 * Lookups of the same key meanwhile share the query. A query slower than any visitor would wait counts as a failure.
 */
export interface LimitedSourceSettings {
  readonly atOnce: number;
  readonly waiting: number;
  /** How long a visitor waits for an answer. */
  readonly waitMs: number;
  readonly counts: CacheCounts;
  readonly clock: Clock;
  /** Fails at once while SQL is known to be unavailable. */
  readonly run: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

export function limitedSource<Value>(
  sql: Source<Value>,
  { atOnce, waiting, waitMs, counts, clock, run }: LimitedSourceSettings,
): Source<Value> {
  const turns = bulkhead(atOnce, waiting);
  const running = new Map<string, Promise<LookupAnswer<Value>>>();

  async function query(key: string): Promise<LookupAnswer<Value>> {
    let answer: Promise<LookupAnswer<Value>> | undefined;
    try {
      return await run(() => {
        answer = sql.load(key, 0);
        return withDeadline(answer, waitMs, "PostgreSQL");
      });
    } catch (error) {
      if (!(error instanceof Late) || answer === undefined) throw error;
      return await answer;
    }
  }

  function shared(key: string): Promise<LookupAnswer<Value>> {
    const before = running.get(key);
    if (before !== undefined) return before;
    const answer = turns.execute(() => query(key)).finally(() => running.delete(key));
    answer.catch((error) => {
      if (error instanceof BulkheadRejectedError) counts.events.shed++;
    });
    running.set(key, answer);
    return answer;
  }

  return {
    async load(key, _, visit) {
      const answer = shared(key);
      if (visit === undefined) return await answer;
      try {
        return await within(visit.patience, "sql", answer, clock);
      } catch (error) {
        if (error instanceof Late) visit.later(answer);
        throw error;
      }
    },
  };
}
