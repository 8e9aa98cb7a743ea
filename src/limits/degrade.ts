import { LRUCache } from "lru-cache";
import type { Ask, LeaseAnswer, LeaseStore } from "./leases.ts";

/**
 * Leases from one store, and from another while the first does not answer.
 *
 * The two do not know of each other's leases that are out and not yet written down. So for as long as both are in use,
 * and once after, a limit may be overshot by as much as that: two leases for each instance.
 *
 * An ask without an answer may still have been granted. Once the other store has answered, it is taken back where it was
 * asked; if the second is asked for the same limit before that, then under the same id.
 */
export interface Cancelling extends LeaseStore {
  cancel(ask: Ask): void;
}

const unsureMost = 10_000;

export function degrading(first: Cancelling, second: Cancelling): LeaseStore {
  const unsureInFirst = new LRUCache<string, Ask>({ max: unsureMost });
  const unsureInSecond = new LRUCache<string, Ask>({ max: unsureMost });

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
    async acquire(ask) {
      const limit = `${ask.draws} ${ask.key}`;
      try {
        const answer = await first.acquire(ask);
        unsureInFirst.delete(limit);
        takeBack(second, unsureInSecond, limit);
        return answer;
      } catch {
        unsureInFirst.set(limit, ask);
        return await instead(ask, limit);
      }
    },
  };
}
