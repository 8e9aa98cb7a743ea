import { BrokenCircuitError } from "cockatiel";
import { LRUCache } from "lru-cache";
import type { Breaker } from "../base/breaker.ts";
import type { Clock } from "../base/clock.ts";
import { withDeadline } from "../base/deadline.ts";
import type { Store } from "../base/patience.ts";
import type { Ask, LeaseAnswer, LeaseStore } from "./leases.ts";
import { type RefillProgress, Skipped } from "./refill.ts";

/**
 * Leases from one store, and from a second one while the first does not answer.
 *
 * Neither store knows of the other's leases that are out and not yet recorded. So while both are in use, and once
 * afterwards, a limit may be exceeded by that amount: two leases per instance.
 *
 * An unanswered ask may still have been granted. Once the other store has answered, the ask is taken back where it was
 * made; if the second store is asked for the same limit before that, it is asked under the same ID.
 *
 * Every answer of the first store is judged by how long a visitor would wait for it, also if no visitor asked: an answer that takes
 * longer, or longer than a visitor had time for, counts as a failure. After too many failures, visitors are no longer
 * sent to it. Leases requested ahead still are, because they have time: a slow store continues to lend without delaying
 * anyone, and its answers show when it is fast again.
 */
export interface Cancelling extends LeaseStore {
  cancel(ask: Ask): void;
}

/** Judges whether the first store is fast enough for visitors. */
export interface VisitorSpeed {
  /** How long a visitor waits for it. */
  readonly waitMs: number;
  /** The breaker of the node that has this limit. */
  readonly breakerOf: (ask: Ask) => Breaker;
  readonly clock: Pick<Clock, "afterWait">;
}

const unsureMost = 10_000;
const unhurried: RefillProgress = { urgent: true, on() {}, orSkip: (work) => work };

export function degrading(
  first: Cancelling,
  second: Cancelling,
  { waitMs, breakerOf, clock }: VisitorSpeed,
): LeaseStore {
  const unsureInFirst = new LRUCache<string, Ask>({ max: unsureMost });
  const unsureInSecond = new LRUCache<string, Ask>({ max: unsureMost });

  async function fromFirst(
    ask: Ask,
    progress: RefillProgress,
    sent: (answer: Promise<LeaseAnswer>) => void,
  ): Promise<LeaseAnswer> {
    let asked: Promise<LeaseAnswer> | undefined;
    const answered = Promise.withResolvers<void>();
    const begin = () => {
      const answer = first.acquire(ask, {
        ...progress,
        on(store) {
          // The first store has answered and waits for SQL: that says nothing about its own speed.
          if (store === "sql") answered.resolve();
          progress.on(store);
        },
      });
      sent(answer);
      return answer;
    };
    try {
      await breakerOf(ask).run(() => {
        asked = begin();
        const inTime = withDeadline(Promise.race([asked, answered.promise]), waitMs, "the first lender", clock);
        return progress.orSkip<unknown>(inTime);
      });
    } catch (error) {
      if (progress.urgent || error instanceof Skipped) throw error;
      // Requested ahead: there is time, even while visitors are sent elsewhere.
      if (error instanceof BrokenCircuitError) asked ??= begin();
      if (asked === undefined) throw error;
    }
    return await progress.orSkip(asked as Promise<LeaseAnswer>);
  }

  /** From the second; or from the first, if its answer comes after all and before: of a crowd, it may answer all of them by then. */
  async function instead(ask: Ask, limit: string, late: Promise<LeaseAnswer> | undefined): Promise<LeaseAnswer> {
    const asked = unsureInSecond.get(limit) ?? ask;
    unsureInSecond.set(limit, asked);
    const fromSecond = second.acquire(asked).then((answer) => ({ answer, isFirst: false }));
    const fromFirst = late?.then((answer) => ({ answer, isFirst: true }));
    const { answer, isFirst } = await (fromFirst === undefined
      ? fromSecond
      : Promise.any([fromSecond, fromFirst]).catch(() => fromSecond));
    if (isFirst) {
      unsureInFirst.delete(limit);
      takeBack(second, unsureInSecond, limit);
    } else {
      unsureInSecond.delete(limit);
      takeBack(first, unsureInFirst, limit);
    }
    return answer;
  }

  function takeBack(store: Cancelling, unsure: LRUCache<string, Ask>, limit: string): void {
    const lost = unsure.get(limit);
    if (lost !== undefined) store.cancel(lost);
    unsure.delete(limit);
  }

  return {
    async acquire(ask, progress = unhurried) {
      const limit = `${ask.draws} ${ask.key}`;
      let isThere = true;
      let late: Promise<LeaseAnswer> | undefined;
      try {
        // Once it was given up, the first store no longer says what is waited for.
        const shown = { ...progress, on: (store: Store) => void (isThere && progress.on(store)) };
        const answer = await fromFirst(ask, shown, (sent) => {
          late = sent;
        });
        unsureInFirst.delete(limit);
        takeBack(second, unsureInSecond, limit);
        return answer;
      } catch {
        isThere = false;
        unsureInFirst.set(limit, ask);
        progress.on("sql");
        return await instead(ask, limit, late);
      }
    },
  };
}
