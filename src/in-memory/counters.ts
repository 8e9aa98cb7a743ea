/**
 * Counters in this process, for the embedded mode, which is one process. A restart forgets them; seeds restore what SQL
 * knows.
 *
 * Nothing runs on a timer. Expired entries are ignored when read, and every call also checks a few other entries and
 * drops expired ones, so memory follows the traffic. Two bounds always hold:
 * - `keysMost` counters. A further one is answered `unavailable`: dropping a counter in use would forget what it
 *   counts. Where strangers determine the number of counters, that would let them lock everyone else out. Such a store
 *   `forgets`: each kind of limit has `keysMost` counters, and a further one replaces the least recently used. To have
 *   a counter forgotten, an attacker must ask for as many others first.
 * - `idsMost` remembered IDs, and a tenth of that for denials. Beyond that the oldest is forgotten, which errs on the
 *   safe side: repeating it charges again, undoing it changes nothing, and a hold behind it expires by itself.
 */
import { LRUCache } from "lru-cache";
import { BoundedMap } from "../base/bounded-map.ts";
import type { Clock } from "../base/clock.ts";
import {
  type Charge,
  type Counters,
  type CounterVerdict,
  type HoldsLost,
  invalidCall,
  type Limit,
  type LimitStatus,
  maxOf,
  openHoldsMost,
  type Released,
  refuseCall,
  refuseId,
  refuseLimits,
  refuseTruth,
  rememberDenialMs,
  rememberedUntil,
  rememberMostMs,
  type Settled,
  type Synced,
  seedOf,
  type Truth,
  unavailable,
} from "../limits/counters.ts";
import { granted } from "../limits/verdict.ts";
import {
  bucketAt,
  countsUntil,
  fitsAt,
  keyAt,
  type Leaving,
  leavingBuckets,
  sum,
  type Window,
} from "../limits/window.ts";

export interface MemoryCountersOptions {
  readonly clock: Clock;
  readonly keysMost?: number;
  readonly idsMost?: number;
  /** When there is no room for a counter, drop the least recently used instead of refusing. */
  readonly forgets?: boolean;
}

export interface MemoryCounters extends Counters {
  readonly size: { readonly keys: number; readonly ids: number; readonly denials: number };
}

/** Usage under one key. */
interface Used {
  readonly window: Window;
  readonly buckets: Map<number, number>;
  /** Version of the source of truth it was last set from. */
  version: number;
  expiresAt: number;
}

interface Entry {
  readonly kind: Kind;
  state: "held" | "settled" | "released";
  readonly expiresAt: number;
  forgetAt: number;
  readonly parts: Part[];
}

interface Part {
  readonly limit: Limit;
  readonly amount: number;
  /** Where it is counted, once it is. */
  usedKey: string;
  bucket: number;
}

interface Denial {
  readonly limit: Limit;
  readonly retryAt: number | null;
  readonly forgetAt: number;
}

type Kind = "take" | "hold";

const keysMostByDefault = 100_000;
const idsMostByDefault = 200_000;
const sweptPerCall = 2;

export function createMemoryCounters(options: MemoryCountersOptions): MemoryCounters {
  const { clock, keysMost = keysMostByDefault, idsMost = idsMostByDefault, forgets = false } = options;
  const denialsMost = Math.ceil(idsMost / 10);
  /** By kind of limit where counters are forgotten, so that one kind does not evict another; otherwise one. */
  const rooms = new Map<string, Room>();
  const holds = new Map<string, Map<string, Leaving>>();
  const entries = new BoundedMap<string, Entry>(idsMost);
  const denials = new BoundedMap<string, Denial>(denialsMost);
  const sweepers: Sweep[] = [
    sweeper(holds, (key, now) => openHolds(key, now).size === 0),
    sweeper(entries, (_, now, entry) => entry.forgetAt <= now),
    sweeper(denials, (_, now, denial) => denial.forgetAt <= now),
  ];

  function roomOf(limit: Limit): Room {
    const name = forgets ? limit.name : "";
    const found = rooms.get(name);
    if (found !== undefined) return found;
    const [room, sweep] = forgets ? forgetfulRoom(keysMost) : patientRoom();
    rooms.set(name, room);
    sweepers.push(sweep);
    return room;
  }

  function liveUsed(limit: Limit, key: string, now: number): Used | undefined {
    const found = roomOf(limit).get(key);
    if (found === undefined || found.expiresAt > now) return found;
    roomOf(limit).delete(key);
    return undefined;
  }

  function openHolds(key: string, now: number): Map<string, Leaving> {
    const open = holds.get(key) ?? new Map<string, Leaving>();
    for (const [id, hold] of open) if (hold.at <= now) open.delete(id);
    if (open.size === 0) holds.delete(key);
    return open;
  }

  function counting(limit: Limit, now: number): { used: Leaving[]; held: Leaving[] } {
    const key = keyAt(limit.key, limit.window, now);
    const found = liveUsed(limit, key, now);
    if (found !== undefined) foldFuture(found, now);
    return {
      used: leavingBuckets(limit.window, found?.buckets ?? new Map(), now),
      held: [...openHolds(limit.key, now).values()],
    };
  }

  function add(limit: Limit, amount: number, now: number): { usedKey: string; bucket: number } {
    const usedKey = keyAt(limit.key, limit.window, now);
    const bucket = bucketAt(limit.window, now);
    const found = liveUsed(limit, usedKey, now) ?? {
      window: limit.window,
      buckets: new Map(),
      version: -1,
      expiresAt: 0,
    };
    for (const old of found.buckets.keys()) {
      if (countsUntil(limit.window, old, now) <= now) found.buckets.delete(old);
    }
    found.buckets.set(bucket, (found.buckets.get(bucket) ?? 0) + amount);
    found.expiresAt = countsUntil(limit.window, bucket, now);
    roomOf(limit).set(usedKey, found);
    return { usedKey, bucket };
  }

  function subtract({ limit, usedKey, bucket, amount }: Part, now: number): void {
    const buckets = liveUsed(limit, usedKey, now)?.buckets;
    const there = buckets?.get(bucket);
    if (there !== undefined) buckets?.set(bucket, Math.max(0, there - amount));
  }

  function missing(charges: readonly Charge[], now: number): Limit[] {
    return charges
      .map(({ limit }) => limit)
      .filter((limit) => limit.seed && liveUsed(limit, keyAt(limit.key, limit.window, now), now) === undefined);
  }

  function entryOf(id: string, now: number): Entry | undefined {
    const entry = entries.get(id);
    return entry !== undefined && entry.forgetAt > now ? entry : undefined;
  }

  const isExpired = (entry: Entry, now: number): boolean => entry.state === "held" && entry.expiresAt <= now;

  function remembered(id: string, kind: Kind, now: number): CounterVerdict | undefined {
    const entry = entryOf(id, now);
    if (entry !== undefined) {
      if (entry.kind !== kind) return invalidCall("id_in_use");
      if (entry.state === "released") return { kind: "closed", how: "released" };
      return isExpired(entry, now) ? { kind: "closed", how: "expired" } : granted;
    }
    const denial = denials.get(id);
    return denial !== undefined && denial.forgetAt > now ? denied(denial, now) : undefined;
  }

  function deny(id: string, { limit, retryAt }: Wait, now: number): CounterVerdict {
    const denial = { limit, retryAt, forgetAt: Math.min(retryAt ?? Number.POSITIVE_INFINITY, now + rememberDenialMs) };
    denials.set(id, denial);
    return denied(denial, now);
  }

  function waitFor({ limit, amount }: Charge, kind: Kind, now: number): Wait | undefined {
    const { used, held } = counting(limit, now);
    if (kind === "hold" && held.length >= openHoldsMost) {
      return { limit, retryAt: Math.min(...held.map(({ at }) => at)) };
    }
    const all = [...used, ...held];
    if (sum(all) + amount <= maxOf(limit)) return undefined;
    return { limit, retryAt: fitsAt(all, amount, maxOf(limit)) };
  }

  function hasRoom(kind: Kind, charges: readonly Charge[], now: number): boolean {
    if (kind === "hold") return holds.size + charges.filter(({ limit }) => !holds.has(limit.key)).length <= keysMost;
    if (forgets) return true;
    const newKeys = charges.filter(({ limit }) => !roomOf(limit).has(keyAt(limit.key, limit.window, now)));
    return keyCount() + newKeys.length <= keysMost;
  }

  const keyCount = (): number => rooms.values().reduce((all, room) => all + room.size, 0);
  const isFull = (): boolean => !forgets && keyCount() >= keysMost;

  /** Decides and acts without awaiting: on one thread, that makes it atomic. */
  function charge(id: string, kind: Kind, charges: readonly Charge[], ttlMs: number, now: number): CounterVerdict {
    const waits = charges.map((each) => waitFor(each, kind, now)).filter((wait) => wait !== undefined);
    const longest = longestWait(waits);
    if (longest !== undefined) return deny(id, longest, now);
    if (!hasRoom(kind, charges, now)) return unavailable;

    const expiresAt = now + ttlMs;
    const parts = charges.map(({ limit, amount }) => {
      if (kind === "take") return { limit, amount, ...add(limit, amount, now) };
      holds.set(limit.key, openHolds(limit.key, now).set(id, { amount, at: expiresAt }));
      return { limit, amount, usedKey: "", bucket: 0 };
    });
    const entry: Entry = { kind, state: kind === "take" ? "settled" : "held", expiresAt, forgetAt: 0, parts };
    entry.forgetAt = kind === "take" ? forgetAfter(parts, now) : expiresAt + rememberMostMs;
    entries.set(id, entry);
    return granted;
  }

  async function ask(id: string, kind: Kind, charges: readonly Charge[], ttlMs: number): Promise<CounterVerdict> {
    sweep();
    const known = remembered(id, kind, clock.now());
    if (known !== undefined) return known;
    const seeds = new Map<string, number>();
    try {
      for (const limit of missing(charges, clock.now())) seeds.set(limit.key, await seedOf(limit));
    } catch {
      return unavailable;
    }
    const now = clock.now();
    for (const limit of missing(charges, now)) {
      // While we awaited one seed, a month may have ended or another counter may have expired: it needs a new one.
      const seed = seeds.get(limit.key);
      if (seed === undefined || isFull()) return unavailable;
      add(limit, seed, now);
    }
    return remembered(id, kind, now) ?? charge(id, kind, charges, ttlMs, now);
  }

  function holdInSync(
    id: string,
    charged: Charge,
    ttlMs: number,
    truth: Truth,
    now: number,
  ): CounterVerdict | HoldsLost {
    const known = remembered(id, "hold", now);
    if (known !== undefined) return known;
    if (sum([...openHolds(charged.limit.key, now).values()]) < truth.held) return { kind: "lost" };
    const synced = sync(charged.limit, truth);
    return synced.kind === "unavailable" ? synced : charge(id, "hold", [charged], ttlMs, now);
  }

  function sync(limit: Limit, { used, version }: Pick<Truth, "used" | "version">): Synced {
    const found = roomOf(limit).get(limit.key);
    if (found !== undefined && found.version >= version) return { kind: "older" };
    if (found === undefined && isFull()) return unavailable;
    const expiresAt = Number.POSITIVE_INFINITY;
    roomOf(limit).set(limit.key, { window: limit.window, buckets: new Map([[0, used]]), version, expiresAt });
    return { kind: "synced" };
  }

  function dropHolds(id: string, entry: Entry, now: number): void {
    for (const { limit } of entry.parts) {
      const open = openHolds(limit.key, now);
      open.delete(id);
      if (open.size === 0) holds.delete(limit.key);
    }
  }

  function settle(id: string, now: number): Settled {
    const entry = entryOf(id, now);
    if (entry === undefined) return { kind: "unknown" };
    if (entry.state !== "held") return { kind: "already", how: entry.state };
    if (isExpired(entry, now)) return { kind: "already", how: "expired" };
    dropHolds(id, entry, now);
    for (const part of entry.parts) Object.assign(part, add(part.limit, part.amount, now));
    entry.state = "settled";
    entry.forgetAt = forgetAfter(entry.parts, now);
    return { kind: "settled" };
  }

  function release(id: string, now: number): Released {
    const entry = entryOf(id, now);
    if (entry === undefined) return { kind: "unknown" };
    if (isExpired(entry, now)) return { kind: "already", how: "expired" };
    if (entry.state === "released") return { kind: "already", how: "released" };
    if (entry.kind === "hold" && entry.state === "settled") return { kind: "already", how: "settled" };
    if (entry.state === "held") dropHolds(id, entry, now);
    else for (const part of entry.parts) subtract(part, now);
    entry.state = "released";
    entry.forgetAt = Math.max(entry.forgetAt, rememberedUntil(now, now));
    return { kind: "released" };
  }

  async function statusOf(limit: Limit): Promise<LimitStatus> {
    const now = clock.now();
    const seed = missing([{ limit, amount: 1 }], now).length > 0 ? await seedOf(limit) : 0;
    const { used, held } = counting(limit, clock.now());
    if (used.length === 0 && seed > 0) {
      used.push({ amount: seed, at: countsUntil(limit.window, bucketAt(limit.window, now), now) });
    }
    const last = used.at(-1)?.at ?? Number.POSITIVE_INFINITY;
    return { limit, used: sum(used), held: sum(held), max: limit.max, resetsAt: Number.isFinite(last) ? last : null };
  }

  function sweep(): void {
    const now = clock.now();
    for (const step of sweepers) step(now);
  }

  return {
    async take(id, charges) {
      return refuseCall(id, charges) ?? (await ask(id, "take", charges, 0));
    },

    async hold(id, charges, ttlMs) {
      return refuseCall(id, charges, ttlMs) ?? (await ask(id, "hold", charges, ttlMs));
    },

    async holdInSync(id, charged, ttlMs, truth) {
      sweep();
      const refused = refuseCall(id, [charged], ttlMs) ?? refuseTruth(charged.limit, truth);
      return refused ?? holdInSync(id, charged, ttlMs, truth, clock.now());
    },

    async settle(id) {
      sweep();
      return refuseId(id) ?? settle(id, clock.now());
    },

    async release(id) {
      sweep();
      return refuseId(id) ?? release(id, clock.now());
    },

    async status(limits) {
      const refused = refuseLimits(limits);
      if (refused) return refused;
      try {
        return { kind: "known", limits: await Promise.all(limits.map(statusOf)) };
      } catch {
        return unavailable;
      }
    },

    async sync(limit, used, version) {
      const refused = refuseLimits([limit]) ?? refuseTruth(limit, { used, version, held: 0 });
      return refused ?? sync(limit, { used, version });
    },

    get size() {
      return { keys: keyCount(), ids: entries.size, denials: denials.size };
    },
  };
}

interface Wait {
  readonly limit: Limit;
  readonly retryAt: number | null;
}

function longestWait(waits: readonly Wait[]): Wait | undefined {
  const at = (wait: Wait) => wait.retryAt ?? Number.POSITIVE_INFINITY;
  return waits.reduce<Wait | undefined>(
    (longest, wait) => (longest === undefined || at(wait) > at(longest) ? wait : longest),
    undefined,
  );
}

const denied = ({ limit, retryAt }: Wait, now: number): CounterVerdict => ({
  kind: "denied",
  limit,
  retryAfterMs: retryAt === null ? null : Math.max(0, retryAt - now),
});

/** See window.ts: what a clock that was set back left in the future counts from now. */
function foldFuture(used: Used, now: number): void {
  const current = bucketAt(used.window, now);
  for (const [bucket, amount] of used.buckets) {
    if (bucket <= current) continue;
    used.buckets.delete(bucket);
    used.buckets.set(current, (used.buckets.get(current) ?? 0) + amount);
    used.expiresAt = countsUntil(used.window, current, now);
  }
}

function forgetAfter(parts: readonly Part[], now: number): number {
  return rememberedUntil(Math.max(...parts.map(({ limit, bucket }) => countsUntil(limit.window, bucket, now))), now);
}

/** The counters of one room. */
type Room = Pick<Map<string, Used>, "get" | "has" | "delete" | "size"> & { set(key: string, used: Used): unknown };
type Sweep = (now: number) => void;

function patientRoom(): [Room, Sweep] {
  const room = new Map<string, Used>();
  return [room, sweeper(room, (_, now, { expiresAt }) => expiresAt <= now)];
}

/**
 * Looking a counter up counts as use, so that a counter that keeps denying is not evicted. A Map would do, but finding
 * its first key gets slower the more were deleted before it: 65 µs with 50,000.
 */
function forgetfulRoom(most: number): [Room, Sweep] {
  const room = new LRUCache<string, Used>({ max: most });
  const sweep: Sweep = (now) => {
    for (let i = 0; i < sweptPerCall; i++) {
      const [oldest] = room.rkeys();
      const used = oldest === undefined ? undefined : room.peek(oldest);
      if (oldest === undefined || used === undefined || used.expiresAt > now) return;
      room.delete(oldest);
    }
  };
  return [room, sweep];
}

/** Checks the next few entries on each call, round-robin. */
function sweeper<Value>(
  map: Pick<Map<string, Value>, "entries"> & { delete(key: string): unknown },
  isOver: (key: string, now: number, value: Value) => boolean,
): (now: number) => void {
  let hand = map.entries();
  return (now) => {
    for (let i = 0; i < sweptPerCall; i++) {
      const next = hand.next();
      if (next.done) {
        hand = map.entries();
        return;
      }
      const [key, value] = next.value;
      if (isOver(key, now, value)) map.delete(key);
    }
  };
}
