import { LRUCache } from "lru-cache";
import { type AddressLimiterSettings, createAddressLimiter, toRetrySeconds } from "./address-limiter.ts";
import { slidingMinute } from "./window.ts";

/**
 * Limits guessing: misses per minute for an address, on all servers together. An address is known only by its name of
 * the day.
 *
 * An address over the limit is remembered in this process until the time is up, so that further guesses cost neither a
 * call nor a lookup. When the counters are unavailable, misses are not limited: an outage must not block everyone who
 * mistypes a link. While the counters are too slow for visitors, visitors do not wait for them; misses are still counted, and
 * the answer applies to the next guess.
 */
export interface Guesses {
  /** Seconds until this address may guess again; `undefined` if it may. Does no I/O. */
  blockedFor(address: string | undefined): number | undefined;
  /** Counts a miss; returns seconds if that exceeded the limit. An unknown address is not limited. */
  missed(address: string | undefined): Promise<number | undefined>;
  /** Addresses over the limit now, as far as this process knows. */
  readonly blocked: number;
}

export interface GuessSettings extends AddressLimiterSettings {
  /** Null: no limit. */
  readonly perMinute: number | null;
  /** The answer for this key, or a rejection when it is not worth waiting for. Default: wait for all answers. */
  readonly inTime?: <Result>(key: string, answer: Promise<Result>) => Promise<Result>;
}

const blockedMost = 10_000;

export function createGuesses(settings: GuessSettings): Guesses {
  const { perMinute, clock, inTime = (_, answer) => answer } = settings;
  const limiter = createAddressLimiter(settings, { purpose: "guesses", action: "guess" });
  /** Until when, by `clock.elapsed()`. An address evicted here is still over the limit in the counters. */
  const blocked = new LRUCache<string, number>({ max: blockedMost });

  function waitOf(name: string): number | undefined {
    const until = blocked.get(name);
    if (until === undefined) return undefined;
    const leftMs = until - clock.elapsed();
    if (leftMs > 0) return Math.ceil(leftMs / 1_000);
    blocked.delete(name);
    return undefined;
  }

  function block(name: string, ms: number): number {
    blocked.set(name, clock.elapsed() + ms);
    return toRetrySeconds(ms);
  }

  return {
    blockedFor(address) {
      const name = blocked.size === 0 ? undefined : limiter.nameOf(address);
      return name === undefined ? undefined : waitOf(name);
    },

    async missed(address) {
      const name = perMinute === null ? undefined : limiter.nameOf(address);
      if (name === undefined) return undefined;
      const wait = waitOf(name);
      if (wait !== undefined) return wait;
      const key = `guesses:{${name}}`;
      const limit = { name: "guessesPerMinute", subject: name, max: perMinute, window: slidingMinute, key };
      const counted = limiter
        .take(name, [limit])
        .then((taken) => (taken.kind === "denied" ? block(name, taken.retryAfterMs) : undefined))
        .catch(() => undefined);
      return await inTime(key, counted).catch(() => undefined);
    },

    get blocked() {
      return blocked.size;
    },
  };
}
