import { LRUCache } from "lru-cache";
import { type AddressLimiterSettings, createAddressLimiter, toRetrySeconds } from "./address-limiter.ts";
import { slidingMinute } from "./window.ts";

/**
 * A limit on guessing: so many misses a minute for an address.
 *
 * Whoever is over the limit is remembered in this process until the time is up, so that further guesses cost neither a
 * call nor a lookup. When the counters cannot be asked a miss is just a miss: an outage must not close the door to
 * everybody who mistypes a link. While they are too slow for visitors nobody waits for them; misses are counted all the
 * same, and the answer holds for the next guess.
 */
export interface Guesses {
  /** Seconds until this address may guess again; nothing when it may. Asks nobody. */
  blockedFor(address: string | undefined): number | undefined;
  /** Counts a miss; seconds when that was one too many. An address that is not known is not limited. */
  missed(address: string | undefined): Promise<number | undefined>;
  /** Addresses that are over the limit now, as far as this process knows. */
  readonly blocked: number;
}

export interface GuessSettings extends AddressLimiterSettings {
  /** Null: without limit. */
  readonly perMinute: number | null;
  /** The answer for this key, or a rejection when it is not worth waiting for. All are, if nothing is said. */
  readonly inTime?: <Result>(key: string, answer: Promise<Result>) => Promise<Result>;
}

const blockedMost = 10_000;

export function createGuesses(settings: GuessSettings): Guesses {
  const { perMinute, clock, inTime = (_, answer) => answer } = settings;
  const limiter = createAddressLimiter(settings, { purpose: "guesses", action: "guess" });
  /** Until when, by `clock.elapsed()`. One that is forgotten here is still over the limit where it is counted. */
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
