import { LRUCache } from "lru-cache";
import type { Clock } from "../base/clock.ts";
import type { Patience } from "../base/patience.ts";
import type { CacheCounts } from "./hit-counts.ts";

/**
 * The in-process cache: what is known about a key, and for how long it may be used.
 *
 * Every key has a version that only grows. An entry is replaced only by one that is newer or equal. A change announced
 * by the feed drops older entries, including loads in flight: a load that started before the change and finishes after
 * it would otherwise restore the old value for the entry's whole lifetime.
 *
 * Versions that were announced, or were served and then evicted, are remembered without their value, for as many keys
 * as there is room for. Anything older that arrives later, from an older copy or a slow load, is rejected.
 *
 * Entries are trusted for up to 30 s while the feed is followed, because it would have announced a change. A random
 * part is subtracted, so that entries loaded together do not expire together. If the feed was not heard of for 1.5 s,
 * entries are trusted for 1 s. When the next tier fails, an expired entry of a link is still the best answer; it is served
 * for up to 24 h and counted as stale. What lets somebody in is not: sessions and API keys are then unavailable.
 *
 * The next tier is a `Source`: SQL, or the shared cache in front of SQL when several processes share one.
 */
export interface Versioned<Value> {
  readonly version: number;
  /** `undefined`: known not to exist. */
  readonly value: Value | undefined;
}

export interface LookupAnswer<Value> extends Versioned<Value> {
  /** The best available answer while the next tier is unavailable. */
  readonly stale?: boolean;
}

export interface Source<Value> {
  /**
   * Throws when it cannot tell; "does not exist" is an answer, not a failure. `atLeast` is a version known to exist:
   * older ones are useless. `visit` is given when a visitor waits.
   */
  load(key: string, atLeast: number, visit?: Visit<Value>): Promise<LookupAnswer<Value>>;
}

export interface Visit<Value> {
  /** How long the visitor will still wait. Every wait is deducted. */
  readonly patience: Patience;
  /** The visitor is answered without this, because it takes too long; the answer may still arrive. */
  later(answer: Promise<LookupAnswer<Value>>): void;
}

interface Entry<Value> extends Versioned<Value> {
  readonly stale: boolean;
  readonly filledAt: number;
  /** Trusted this long while the feed is followed. */
  readonly trustedMs: number;
}

/** `Key`: the type of keys that visitors look up, if not every string is one. */
export interface Cache<Value, Key extends string = string> {
  /** What memory has, if it may be used now. Never waits. */
  peek(key: Key): Versioned<Value> | undefined;
  /**
   * What memory last knew, however old. For statistics, not for visitors: it is no cache hit and does not refresh the
   * entry.
   */
  recall(key: string): Value | undefined;
  /**
   * Memory, or else the source; callers of one key share one load. Afterwards `patience` is what is left for the rest
   * of the visit; a caller that joined another's load has at least that.
   */
  lookup(key: Key, patience?: Patience): Promise<Versioned<Value>>;
  /** A version exists: nothing older may be served from here any more. Returns whether that was news. */
  announce(key: Key, version: number): boolean;
  /** Every change committed before this moment (`clock.elapsed()`) has been announced. */
  followed(elapsed: number): void;
  /** Keys known to exist. */
  readonly found: number;
  readonly missing: number;
}

export interface CacheOptions<Value> {
  readonly source: Source<Value>;
  readonly clock: Clock;
  readonly counts: CacheCounts;
  readonly sizeBytes: number;
  readonly sizeOf: (value: Value) => number;
  /** How long a visitor waits for the source. */
  readonly wait: Readonly<Patience>;
  /** For how long an expired entry is served when the source fails. A day by default. */
  readonly staleMs?: number;
  /** Spread of the time for which entries are trusted, as for times to live. */
  readonly jitter?: number;
  readonly random?: () => number;
}

const trustedMostMs = 30_000;
const untrustedMs = 1_000;
const feedFreshMs = 1_500;
const staleMostMs = 86_400_000;
const entryBytes = 200; // the key, the entry and the list around it
const missingShare = 8; // the share of memory for unknown codes, so that guessing evicts no link
const refillsMost = 3;
const floorsMost = 100_000;

interface Flight<Value> {
  readonly result: Promise<Versioned<Value>>;
  readonly patience: Patience;
  floor: number;
}

export function createCache<Value extends object, Key extends string = string>(
  options: CacheOptions<Value>,
): Cache<Value, Key> {
  const { source, clock, sizeOf, wait, staleMs = staleMostMs, jitter = 0, random = Math.random } = options;
  const floors = new LRUCache<string, number>({ maxSize: floorsMost, sizeCalculation: () => 1 });
  const pushedOut = (entry: Entry<Value>, key: string) => void raise(key, entry.version);
  const found = entries<Value>(options.sizeBytes, (entry) => (entry.value ? sizeOf(entry.value) : 0), pushedOut);
  const missing = entries<Value>(options.sizeBytes / missingShare, () => 0, pushedOut);
  const flights = new Map<string, Flight<Value>>();
  /** Minimum versions of answers still in flight that no visitor waits for any more. */
  const awaited = new Map<string, { floor: number }>();
  const { hit, events } = options.counts;
  let followedAt = Number.NEGATIVE_INFINITY;

  function raise(key: string, version: number): boolean {
    if (version <= (floors.get(key) ?? 0)) return false;
    floors.set(key, version);
    return true;
  }

  function remembered(key: string): Entry<Value> | undefined {
    return found.get(key) ?? missing.get(key);
  }

  function usable(entry: Entry<Value>): boolean {
    const now = clock.elapsed();
    const trusted = !entry.stale && now - followedAt < feedFreshMs;
    return now - entry.filledAt < (trusted ? entry.trustedMs : untrustedMs);
  }

  function remember(key: string, answer: LookupAnswer<Value>, filledAt = clock.elapsed()): void {
    if ((remembered(key)?.version ?? 0) > answer.version) return;
    const { version, value, stale = false } = answer;
    // Spread around a value below the maximum, so that the maximum is never exceeded.
    const trustedMs = trustedMostMs * (1 - 2 * jitter * random());
    const entry = { version, value, stale, filledAt, trustedMs };
    (answer.value ? missing : found).delete(key);
    (answer.value ? found : missing).set(key, entry);
  }

  /** An answer that visitors no longer wait for. All who gave up on a key wait for the same one. */
  function keepLater(key: string, floor: number, answer: Promise<LookupAnswer<Value>>): void {
    const one = awaited.get(key) ?? { floor };
    one.floor = Math.max(one.floor, floor);
    awaited.set(key, one);
    const since = clock.elapsed();
    const over = () => void (awaited.get(key) === one && awaited.delete(key));
    answer.then((late) => {
      if (late.version >= Math.max(one.floor, floors.get(key) ?? 0)) remember(key, late, since);
      else events.fill_rejected++;
      over();
    }, over);
  }

  async function fill(key: string, flight: Pick<Flight<Value>, "floor" | "patience">): Promise<Versioned<Value>> {
    try {
      for (let tries = 1; ; tries++) {
        const answer = await source.load(key, flight.floor, {
          patience: flight.patience,
          later: (answer) => keepLater(key, flight.floor, answer),
        });
        if (answer.version >= flight.floor) {
          if (answer.stale) events.stale++;
          remember(key, answer);
          return answer;
        }
        // The feed was faster than the source: the answer is already out of date.
        events.fill_rejected++;
        if (tries === refillsMost) throw new Error(`the source keeps answering an older version of ${key}`);
      }
    } finally {
      // Removed in the same step as the decision: a caller that joined after a change in between would get the old
      // value.
      flights.delete(key);
    }
  }

  return {
    recall: (key) => found.peek(key)?.value,

    peek(key) {
      const entry = remembered(key);
      if (entry === undefined || !usable(entry)) return undefined;
      hit.memory++;
      return entry;
    },

    async lookup(key, patience) {
      const entry = remembered(key);
      if (entry !== undefined && usable(entry)) {
        hit.memory++;
        return entry;
      }
      const flight = flights.get(key) ?? start(key);
      try {
        return await flight.result;
      } catch (error) {
        const known = remembered(key);
        if (known === undefined || clock.elapsed() - known.filledAt > staleMs) throw error;
        events.stale++;
        return known;
      } finally {
        if (patience !== undefined) Object.assign(patience, flight.patience);
      }
    },

    announce(key, version) {
      const news = raise(key, version);
      const flight = flights.get(key);
      if (flight && flight.floor < version) flight.floor = version;
      const later = awaited.get(key);
      if (later && later.floor < version) later.floor = version;
      if ((remembered(key)?.version ?? version) < version) {
        found.delete(key);
        missing.delete(key);
      }
      return news;
    },

    followed(elapsed) {
      followedAt = elapsed;
    },

    get found() {
      return found.size;
    },

    get missing() {
      return missing.size;
    },
  };

  function start(key: string): Flight<Value> {
    const flight = {
      floor: Math.max(floors.get(key) ?? 0, remembered(key)?.version ?? 0),
      patience: { ...wait },
    } as { floor: number; patience: Patience; result: Promise<Versioned<Value>> };
    flights.set(key, flight);
    flight.result = fill(key, flight);
    return flight;
  }
}

function entries<Value>(
  sizeBytes: number,
  valueBytes: (entry: Entry<Value>) => number,
  pushedOut: (entry: Entry<Value>, key: string) => void,
): LRUCache<string, Entry<Value>> {
  return new LRUCache<string, Entry<Value>>({
    maxSize: Math.max(1, Math.floor(sizeBytes)),
    sizeCalculation: (entry, key) => entryBytes + key.length + valueBytes(entry),
    dispose: (entry, key, reason) => {
      if (reason === "evict") pushedOut(entry, key);
    },
  });
}
