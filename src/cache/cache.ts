import { LRUCache } from "lru-cache";
import type { Clock } from "../base/clock.ts";
import type { Patience } from "../base/patience.ts";
import type { CacheCounts } from "./counts.ts";

/**
 * The in-process tier: what is known about a key, and how old that knowledge may be.
 *
 * Every key has a version that only grows. An entry is replaced only by one that is newer or equal, and a change that
 * the feed announces drops what is older, also what is still on its way: a fill that started before the change and
 * answers after it would otherwise put the old value back for as long as entries live.
 *
 * What was announced, or was served and then pushed out for room, is remembered by its version alone, for as many keys
 * as there is room for: whatever brings something older later, an older copy elsewhere or a slow load, is sent away.
 *
 * Entries are trusted for up to 30 s while the feed is being followed, for it would have told us: some less by chance, so
 * that what was loaded together is not loaded again together. When the feed has not been heard of for 1.5 s, for 1 s. When the next tier fails, an entry past its time is still the best answer there is, and is
 * given for up to 24 h, and counted as stale.
 *
 * The next tier is a `Source`: SQL here, and whatever stands in front of SQL when several processes share a cache.
 */
export interface Versioned<Value> {
  readonly version: number;
  /** `undefined`: nothing there, and that is known. */
  readonly value: Value | undefined;
}

export interface LookupAnswer<Value> extends Versioned<Value> {
  /** The best there was, with what should have been asked being away. */
  readonly stale?: boolean;
}

export interface Source<Value> {
  /**
   * Throws when it cannot tell; "nothing there" is an answer, not a failure. `atLeast` is a version that is known to
   * exist: what is older need not be offered. `visit` is there when a visitor waits; without it there is time.
   */
  load(key: string, atLeast: number, visit?: Visit<Value>): Promise<LookupAnswer<Value>>;
}

export interface Visit<Value> {
  /** How long the visitor still waits. What is waited for takes it off. */
  readonly patience: Patience;
  /** The visitor is answered without this, for it takes too long; but it may still come. */
  later(answer: Promise<LookupAnswer<Value>>): void;
}

interface Entry<Value> extends Versioned<Value> {
  readonly stale: boolean;
  readonly filledAt: number;
  /** For how long, while the feed is followed. */
  readonly trustedMs: number;
}

/** `Key`: what visitors are answered by, if not every text may be one. */
export interface Cache<Value, Key extends string = string> {
  /** What memory has, if it may be used right now. Never waits. */
  peek(key: Key): Versioned<Value> | undefined;
  /** What memory last knew, however old; for those who count, not for visitors: it is no hit, and nothing stays longer. */
  recall(key: string): Value | undefined;
  /**
   * Memory, or else the source; callers of one key share one load. Afterwards `patience` is what is left of it for the
   * rest of the visit: whoever shared the load of another has at least that.
   */
  lookup(key: Key, patience?: Patience): Promise<Versioned<Value>>;
  /** A version exists: nothing older may be served from here any more. Answers whether that is news. */
  announce(key: Key, version: number): boolean;
  /** Every change committed before this moment (`clock.elapsed()`) has been announced. */
  followed(elapsed: number): void;
  /** Keys that something is known to be there for. */
  readonly found: number;
  readonly missing: number;
}

export interface CacheOptions<Value> {
  readonly source: Source<Value>;
  readonly clock: Clock;
  readonly counts: CacheCounts;
  readonly sizeBytes: number;
  readonly sizeOf: (value: Value) => number;
  /** What a visitor waits for the source. */
  readonly wait: Readonly<Patience>;
  /** How far the time for which entries are trusted is spread, as for times to live: by so much more or less. */
  readonly jitter?: number;
  readonly random?: () => number;
}

const trustedMostMs = 30_000;
const untrustedMs = 1_000;
const feedFreshMs = 1_500;
const staleMs = 86_400_000;
const entryBytes = 200; // the key, the entry and the list around it
const missingShare = 8; // the part of memory that codes which do not exist may take, so that guessing evicts no link
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
  const { source, clock, sizeOf, wait, jitter = 0, random = Math.random } = options;
  const floors = new LRUCache<string, number>({ maxSize: floorsMost, sizeCalculation: () => 1 });
  const pushedOut = (entry: Entry<Value>, key: string) => void raise(key, entry.version);
  const found = entries<Value>(options.sizeBytes, (entry) => (entry.value ? sizeOf(entry.value) : 0), pushedOut);
  const missing = entries<Value>(options.sizeBytes / missingShare, () => 0, pushedOut);
  const flights = new Map<string, Flight<Value>>();
  /** Versions that answers must have which are still to come, though nobody waits for them any more. */
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
    // Both ways around a time below the most, so that none is above it.
    const trustedMs = trustedMostMs * (1 - 2 * jitter * random());
    const entry = { version, value, stale, filledAt, trustedMs };
    (answer.value ? missing : found).delete(key);
    (answer.value ? found : missing).set(key, entry);
  }

  /** An answer that visitors no longer wait for. All who gave up on a key are waiting for the same one. */
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
        // The feed was faster than the source: what came is already out of date.
        events.fill_rejected++;
        if (tries === refillsMost) throw new Error(`the source keeps answering an older version of ${key}`);
      }
    } finally {
      // In the same moment as it is decided: whoever joined it after a change that came in between would get the old one.
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
      try {
        return await shared(key, patience);
      } catch (error) {
        const known = remembered(key);
        if (known === undefined || clock.elapsed() - known.filledAt > staleMs) throw error;
        events.stale++;
        return known;
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

  async function shared(key: string, patience: Patience | undefined): Promise<Versioned<Value>> {
    const flight = flights.get(key) ?? start(key);
    try {
      return await flight.result;
    } finally {
      if (patience !== undefined) Object.assign(patience, flight.patience);
    }
  }

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
