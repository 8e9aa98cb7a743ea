import { BrokenCircuitError } from "cockatiel";
import { LRUCache } from "lru-cache";
import type { Breaker } from "../base/breaker.ts";
import { withDeadline } from "../base/deadline.ts";
import type { Ask, LeaseAnswer, LeaseStore } from "./leases.ts";
import { type RefillProgress, Skipped } from "./refill.ts";

/**
 * Leases from one store, and from another while the first does not answer.
 *
 * The two do not know of each other's leases that are out and not yet written down. So for as long as both are in use,
 * and once after, a limit may be overshot by as much as that: two leases for each instance.
 *
 * An ask without an answer may still have been granted. Once the other store has answered, it is taken back where it was
 * asked; if the second is asked for the same limit before that, then under the same id.
 *
 * Every answer of the first is judged by what a visitor would wait for it, whoever asked: an answer that takes longer, or
 * longer than a visitor had time for, counts as a failure. When there are too many, visitors are not sent there any more. Leases that are asked for ahead
 * still are, for they have the time: so a slow store goes on lending, and nobody waits for it. Their answers also show
 * when it is fast again.
 */
export interface Cancelling extends LeaseStore {
  cancel(ask: Ask): void;
}

/** Whether the first store is fast enough for visitors. */
export interface Judgement {
  /** How long a visitor waits for it. */
  readonly waitMs: number;
  /** Of the part of the store that has this limit. */
  readonly breakerOf: (ask: Ask) => Breaker;
}

const unsureMost = 10_000;
const unhurried: RefillProgress = { urgent: true, on() {}, orSkip: (work) => work };

export function degrading(first: Cancelling, second: Cancelling, { waitMs, breakerOf }: Judgement): LeaseStore {
  const unsureInFirst = new LRUCache<string, Ask>({ max: unsureMost });
  const unsureInSecond = new LRUCache<string, Ask>({ max: unsureMost });

  async function fromFirst(ask: Ask, progress: RefillProgress): Promise<LeaseAnswer> {
    let asked: Promise<LeaseAnswer> | undefined;
    const answered = Promise.withResolvers<void>();
    const begin = () =>
      first.acquire(ask, {
        ...progress,
        on(store) {
          // It has answered, and waits for SQL itself: that says nothing about its own speed.
          if (store === "sql") answered.resolve();
          progress.on(store);
        },
      });
    try {
      await breakerOf(ask).run(() => {
        asked = begin();
        const inTime = withDeadline(Promise.race([asked, answered.promise]), waitMs, "the first lender");
        return progress.orSkip<unknown>(inTime);
      });
    } catch (error) {
      if (progress.urgent || error instanceof Skipped) throw error;
      // Asked for ahead: there is time, even while visitors are sent elsewhere.
      if (error instanceof BrokenCircuitError) asked ??= begin();
      if (asked === undefined) throw error;
    }
    return await progress.orSkip(asked as Promise<LeaseAnswer>);
  }

  async function instead(ask: Ask, limit: string): Promise<LeaseAnswer> {
    const asked = unsureInSecond.get(limit) ?? ask;
    unsureInSecond.set(limit, asked);
    const answer = await second.acquire(asked);
    unsureInSecond.delete(limit);
    takeBack(first, unsureInFirst, limit);
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
      try {
        // What the first store says after it was given up is not what anybody waits for.
        const answer = await fromFirst(ask, { ...progress, on: (store) => isThere && progress.on(store) });
        unsureInFirst.delete(limit);
        takeBack(second, unsureInSecond, limit);
        return answer;
      } catch {
        isThere = false;
        unsureInFirst.set(limit, ask);
        progress.on("sql");
        return await instead(ask, limit);
      }
    },
  };
}
