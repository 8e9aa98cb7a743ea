import type { Clock } from "../base/clock.ts";
import { Late, withDeadline } from "../base/deadline.ts";
import { within } from "../base/patience.ts";
import type { LookupAnswer, Source } from "./cache.ts";
import type { CacheCounts } from "./hit-counts.ts";

/**
 * Lookups in SQL, gathered: keys that are asked for in the same turn of the event loop, or while a query runs, share the
 * next query. Most of the cost of a lookup is that of the query around it, and a crowd of visitors of many links waits
 * for a few queries instead of thousands.
 *
 * - A query starts when none is running, when it is full, or 2 ms after it could have: so a slow query delays others by
 *   no more than that while there is a free connection.
 * - A number of queries run at once, a number of keys wait, and the rest fail at once. When caches are lost, all visitors
 *   would otherwise queue for the same few connections and time out. A key whose visitors have given up before its
 *   query started is dropped, so that a queue never consists of those.
 * - A query has more time than a visitor: it keeps its place until it ends, and its answers still fill the caches.
 *   Lookups of the same key meanwhile share the query. A query slower than any visitor would wait counts as a failure.
 */
export interface GatheredSourceSettings {
  /** Queries. */
  readonly atOnce: number;
  /** Keys. */
  readonly waiting: number;
  /** How long a visitor waits for an answer. */
  readonly waitMs: number;
  readonly counts: CacheCounts;
  readonly clock: Clock;
  /** Fails at once while SQL is known to be unavailable. */
  readonly run: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** The answers for keys, in their order. An error is that of one key; what fails for all is thrown. */
export type LoadMany<Value> = (keys: readonly string[]) => Promise<readonly (LookupAnswer<Value> | Error)[]>;

export const keysPerQuery = 256;
const shareMs = 2;

interface Pending<Value> {
  readonly key: string;
  readonly answered: PromiseWithResolvers<LookupAnswer<Value>>;
  /** By `clock.attended()`; nobody waits for it any more after this time. */
  wantedUntil: number;
}

export function gatheredSource<Value>(
  loadMany: LoadMany<Value>,
  { atOnce, waiting, waitMs, counts, clock, run }: GatheredSourceSettings,
): Source<Value> {
  /** Waiting, or being read. */
  const pending = new Map<string, Pending<Value>>();
  let queue: Pending<Value>[] = [];
  let running = 0;
  let isDue = false;
  let sharesUntilTimer = false;

  function pendingFor(key: string, wantedUntil: number): Promise<LookupAnswer<Value>> {
    const before = pending.get(key);
    if (before !== undefined) {
      before.wantedUntil = Math.max(before.wantedUntil, wantedUntil);
      return before.answered.promise;
    }
    const one = { key, answered: Promise.withResolvers<LookupAnswer<Value>>(), wantedUntil };
    const { promise } = one.answered;
    promise.catch(() => {}); // all its visitors may have given up
    if (queue.length >= waiting) {
      shed(one, new Error(`${waiting} lookups already wait`));
      return promise;
    }
    pending.set(key, one);
    queue.push(one);
    if (!isDue) {
      isDue = true;
      // After this turn of the event loop: all lookups of the same turn share the query.
      setImmediate(() => {
        isDue = false;
        startDue();
      });
    }
    return promise;
  }

  function startDue(): void {
    while (running < atOnce && (queue.length >= keysPerQuery || (queue.length > 0 && running === 0))) start();
    if (queue.length === 0 || running === atOnce || sharesUntilTimer) return;
    sharesUntilTimer = true;
    setTimeout(startOverdue, shareMs);
  }

  function startOverdue(): void {
    sharesUntilTimer = false;
    if (queue.length > 0 && running < atOnce) start();
    startDue();
  }

  function start(): void {
    const now = clock.attended(waitMs);
    const batch: Pending<Value>[] = [];
    let taken = 0;
    for (const one of queue) {
      if (batch.length === keysPerQuery) break;
      taken++;
      if (one.wantedUntil > now) batch.push(one);
      else shed(one, new Late("no query was free in time"));
    }
    queue = queue.slice(taken);
    if (batch.length > 0) void read(batch);
  }

  function shed(one: Pending<Value>, error: Error): void {
    counts.events.shed++;
    pending.delete(one.key);
    one.answered.reject(error);
  }

  async function read(batch: readonly Pending<Value>[]): Promise<void> {
    running++;
    counts.events.query++;
    let answers: readonly (LookupAnswer<Value> | Error)[] = [];
    let failure: unknown;
    try {
      answers = await query(batch.map(({ key }) => key));
    } catch (error) {
      failure = error;
    }
    running--;
    for (const [place, { key, answered }] of batch.entries()) {
      // First: a caller whom this answer does not satisfy asks again, and must not join what has ended.
      pending.delete(key);
      const answer = answers[place];
      if (answer === undefined) answered.reject(failure ?? new Error("the source answered less than it was asked"));
      else if (answer instanceof Error) answered.reject(answer);
      else answered.resolve(answer);
    }
    startDue();
  }

  async function query(keys: readonly string[]): Promise<readonly (LookupAnswer<Value> | Error)[]> {
    let answers: Promise<readonly (LookupAnswer<Value> | Error)[]> | undefined;
    try {
      return await run(() => {
        answers = loadMany(keys);
        return withDeadline(answers, waitMs, "the database", clock);
      });
    } catch (error) {
      if (!(error instanceof Late) || answers === undefined) throw error;
      return await answers;
    }
  }

  return {
    async load(key, _, visit) {
      if (visit === undefined) return await pendingFor(key, Number.POSITIVE_INFINITY);
      const answer = pendingFor(key, clock.attended(waitMs) + visit.patience.sql);
      try {
        return await within(visit.patience, "sql", answer, clock);
      } catch (error) {
        if (error instanceof Late) visit.later(answer);
        throw error;
      }
    },
  };
}
