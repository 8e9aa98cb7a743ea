import { BrokenCircuitError } from "cockatiel";
import { LRUCache } from "lru-cache";
import type { Breaker } from "../base/breaker.ts";
import { withDeadline } from "../base/deadline.ts";
import type { Ask, LeaseAnswer, LeaseStore } from "./leases.ts";
import type { Progress } from "./refill.ts";

/**
 * Leases from one store, and from another while the first does not answer.
 *
 * The two do not know of each other's leases that are out and not yet written down. So for as long as both are in use,
 * and once after, a limit may be overshot by as much as that: two leases for each instance.
 *
 * An ask without an answer may still have been granted. Once the other store has answered, it is taken back where it was
 * asked; if the second is asked for the same limit before that, then under the same id.
 *
 * Every answer of the first is judged by what a visitor would wait for it, whoever asked: an answer that takes longer
 * counts as a failure. When there are too many, visitors are not sent there any more. Leases that are asked for ahead
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

export function degrading(first: Cancelling, second: Cancelling, { waitMs, breakerOf }: Judgement): LeaseStore {
  const unsureInFirst = new LRUCache<string, Ask>({ max: unsureMost });
  const unsureInSecond = new LRUCache<string, Ask>({ max: unsureMost });

  async function fromFirst(ask: Ask, progress: Progress | undefined): Promise<LeaseAnswer> {
    let asked: Promise<LeaseAnswer> | undefined;
    const judged = breakerOf(ask).run(() => {
      asked = first.acquire(ask, progress);
      return withDeadline(asked, waitMs, "the first lender");
    });
    if (progress === undefined || progress.urgent) return await judged;
    try {
      return await judged;
    } catch (error) {
      if (error instanceof BrokenCircuitError) asked ??= first.acquire(ask, progress);
      if (asked === undefined) throw error;
      return await asked;
    }
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
    async acquire(ask, progress) {
      const limit = `${ask.draws} ${ask.key}`;
      try {
        const asked = fromFirst(ask, progress);
        const answer = await (progress === undefined ? asked : progress.orSkip(asked));
        unsureInFirst.delete(limit);
        takeBack(second, unsureInSecond, limit);
        return answer;
      } catch {
        unsureInFirst.set(limit, ask);
        progress?.on("sql");
        return await instead(ask, limit);
      }
    },
  };
}
