import { LRUCache } from "lru-cache";
import type { Ask, LeaseAnswer, LeaseStore } from "./leases.ts";

/**
 * Leases from one store, and from another while the first does not answer.
 *
 * The two do not know of each other's leases that are out and not yet written down. So for as long as both are in use,
 * and once after, a limit may be overshot by as much as that: two leases for each instance.
 *
 * An ask without an answer may still have been granted. In the first store it is taken back as soon as that can be told;
 * in the second it is asked again under its id, the next time that the second is asked for the same limit.
 */
export interface Cancelling extends LeaseStore {
  cancel(ask: Ask): void;
}

const unsureMost = 10_000;

export function degrading(first: Cancelling, second: LeaseStore): LeaseStore {
  const unsureInFirst = new LRUCache<string, Ask>({ max: unsureMost });
  const unsureInSecond = new LRUCache<string, Ask>({ max: unsureMost });

  async function instead(ask: Ask, limit: string): Promise<LeaseAnswer> {
    const asked = unsureInSecond.get(limit) ?? ask;
    unsureInSecond.set(limit, asked);
    const answer = await second.acquire(asked);
    unsureInSecond.delete(limit);
    const lost = unsureInFirst.get(limit);
    if (lost !== undefined) first.cancel(lost);
    unsureInFirst.delete(limit);
    return answer;
  }

  return {
    async acquire(ask) {
      const limit = `${ask.draws} ${ask.key}`;
      try {
        const answer = await first.acquire(ask);
        unsureInFirst.delete(limit);
        return answer;
      } catch {
        unsureInFirst.set(limit, ask);
        return await instead(ask, limit);
      }
    },
  };
}
