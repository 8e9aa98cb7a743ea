import { LRUCache } from "lru-cache";
import type { Clock } from "../base/clock.ts";

/** How often links change, according to the feed: a sum that decays over a day. Bounded: most links never change. */
export interface ChangeRates {
  /** A version exists. The feed may announce it more than once; it counts once. */
  add(key: string, version: number): void;
  perDay(key: string): number;
}

const dayMs = 86_400_000;
const keysMost = 10_000;

export function createChangeRates(clock: Clock): ChangeRates {
  const rates = new LRUCache<string, { sum: number; at: number; version: number }>({ max: keysMost });
  const faded = (key: string, now: number): number => {
    const rate = rates.get(key);
    return rate === undefined ? 0 : rate.sum * Math.exp(-(now - rate.at) / dayMs);
  };
  return {
    add(key, version) {
      if (version <= (rates.get(key)?.version ?? 0)) return;
      const now = clock.elapsed();
      rates.set(key, { sum: faded(key, now) + 1, at: now, version });
    },
    perDay: (key) => faded(key, clock.elapsed()),
  };
}
