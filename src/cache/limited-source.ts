import { BulkheadRejectedError, bulkhead } from "cockatiel";
import type { Clock } from "../base/clock.ts";
import { Late, withDeadline } from "../base/deadline.ts";
import { within } from "../base/patience.ts";
import type { LookupAnswer, Source } from "./cache.ts";
import type { CacheCounts } from "./counts.ts";

/**
 * SQL as lookups may use it: so many at once, so many waiting for their turn, and whoever comes then is sent away at
 * once. When caches are lost, every visitor would otherwise queue for the same few connections, and all would wait for
 * nothing.
 *
 * A query has longer than a visitor: it keeps its turn until it is over, and what it answers is still good for the
 * caches. Whoever asks for the same key meanwhile waits for the same query. One that no visitor would have waited for
 * counts as a failure.
 */
export interface GuardSettings {
  readonly atOnce: number;
  readonly waiting: number;
  /** How long a visitor waits for an answer. */
  readonly waitMs: number;
  readonly counts: CacheCounts;
  readonly clock: Clock;
  /** Fails at once while SQL is known to be away. */
  readonly run: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

export function limitedSource<Value>(
  sql: Source<Value>,
  { atOnce, waiting, waitMs, counts, clock, run }: GuardSettings,
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
