import type { Clock } from "../base/clock.ts";
import { largestLease } from "./lease-size.ts";
import type { Ask, Draws, LeaseAnswer, LeaseStore, Lender, MonthOf } from "./leases.ts";
import { granted, type Verdict } from "./verdict.ts";

/**
 * An instance's side of leases: one meter per link, with a lane for each of its two limits.
 *
 * A lane holds at most one lease and spends from it without I/O: that is the redirect path, and it is a comparison and
 * a subtraction. When the lease is used up or its seconds have passed, the next spender waits for a new one; all who
 * come meanwhile wait for the same. What a lane has spent stays with it until the recorder has written it down.
 *
 * How it fails:
 * - The store does not answer: the verdict is `unavailable`, and the ask is kept. It is repeated under its id until its
 *   fate is known, and no other is made for the lane: a slow store cannot hand out lease after lease to nobody.
 * - The recorder cannot write: a lane that owes more than the largest lease, spent or to be given back, waits for it
 *   before it takes another. Unspent and unrecorded units together are two leases at most, and a crash loses no more.
 * - The limit is spent: that is remembered for a second, and asked again then, for others may give some back.
 */
export interface Meter {
  readonly key: string;
  readonly hits: Lane;
  readonly exempt: Lane;
}

export interface Lane {
  readonly draws: Draws;
  /** Where the lease comes from, and the units below that were taken from one. */
  lender: Lender;
  lease: string;
  /** Units of the lease not yet spent. */
  left: number;
  /** By `clock.elapsed()`; the lease is not used after this. */
  validUntil: number;
  month: string;
  /** Spent in `month` since the recorder last looked, by reason. */
  spent: number[];
  fresh: number;
  /** Of those, how many were taken from a lease, and so from what its lender holds as lent. */
  leased: number;
  /** Spent or given back, and not yet written down, whether the recorder has it already or not. */
  unrecorded: number;
  deniedUntil: number;
  denial: Verdict;
  asking: Promise<void> | undefined;
  /** An ask whose fate is unknown. */
  ask: Ask | undefined;
  /** Spent since `rateSince`: what the next lease should hold. */
  rateUnits: number;
  rateSince: number;
}

/** What the recorder has to write down for one lane. */
export interface Drained extends MonthOf {
  readonly lender: Lender;
  /** By reason, in the order of the caller's list. */
  readonly spent: readonly number[];
  readonly units: number;
  readonly leased: number;
  /** Units of a lease that ended before they were spent. */
  readonly unspent: number;
  /** The lease that has ended, whose answer nobody will ask for again. */
  readonly lease?: string;
}

export interface Meters {
  /** Ask each time: a meter with nothing to tell is forgotten at the next recording. */
  of(key: string): Meter;
  /**
   * Spends one unit, for a reason (its place in the caller's list) that is recorded with it. `max` of null is without limit: counted, never refused.
   * Answers at once whenever a lease is at hand.
   */
  spend(meter: Meter, draws: Draws, max: number | null, reason: number): Verdict | Promise<Verdict>;
  /** Takes what is to be written down, ended leases included; `all` also ends leases that are still good. */
  drain(all: boolean): Drained[];
  /** It was written down. */
  recorded(drained: readonly Drained[]): void;
  readonly size: number;
}

export interface MeterSettings {
  /** How many reasons there are. */
  readonly reasons: number;
  readonly store: LeaseStore;
  readonly clock: Clock;
  /** Only for the month of hits that are counted without a lease. */
  readonly month: () => string;
  readonly newLeaseId: () => string;
  /** Nobody can be asked: let visitors through all the same, and count them. */
  readonly open?: boolean;
  /** A lease is used up: write down what was spent of it soon. */
  readonly usedUp: () => void;
  /** Resolves when what was spent so far is written down; the lane waits for it when it owes too much. */
  readonly flush: () => Promise<void>;
}

const denyMs = 1_000;
const retrySeconds = 2;
const growthMost = 2;

export function createMeters(settings: MeterSettings): Meters {
  const { store, clock } = settings;
  const meters = new Map<string, Meter>();
  const none: readonly number[] = new Array(settings.reasons).fill(0);
  /** For the next recording: leases that ended with units left, and months that ended. */
  let waiting: Drained[] = [];

  function of(key: string): Meter {
    let meter = meters.get(key);
    if (meter === undefined) {
      meter = { key, hits: newLane("hits", none), exempt: newLane("exempt", none) };
      meters.set(key, meter);
    }
    return meter;
  }

  /** A lease past its time is not used; what is left of it goes back, and its name is forgotten. */
  function endLease(key: string, lane: Lane, now: number): void {
    if (lane.lease === "" || (lane.left > 0 && now < lane.validUntil)) return;
    const { draws, month, lender, left: unspent, lease } = lane;
    waiting.push({ key, draws, month, lender, spent: none, units: 0, leased: 0, unspent, lease });
    lane.unrecorded += unspent;
    lane.left = 0;
    lane.lease = "";
  }

  function note(lane: Lane, reason: number): void {
    lane.spent[reason] = (lane.spent[reason] ?? 0) + 1;
    lane.fresh++;
    lane.unrecorded++;
  }

  /** What was spent so far belongs to the month it was spent in, and to whoever lent it. */
  function close(key: string, lane: Lane): void {
    if (lane.fresh === 0) return;
    const { draws, month, lender, spent, fresh, leased } = lane;
    waiting.push({ key, draws, month, lender, spent, units: fresh, leased, unspent: 0 });
    lane.spent = [...none];
    lane.fresh = 0;
    lane.leased = 0;
  }

  function enter(key: string, lane: Lane, month: string, lender: Lender): void {
    if (lane.month === month && lane.lender === lender) return;
    // A lease is of one month. One is still held when the limit is taken away while our clock is in another month.
    endLease(key, lane, Number.POSITIVE_INFINITY);
    close(key, lane);
    lane.month = month;
    lane.lender = lender;
  }

  function take(lane: Lane, reason: number): Verdict {
    lane.left--;
    lane.leased++;
    lane.rateUnits++;
    note(lane, reason);
    if (lane.left === 0) settings.usedUp();
    return granted;
  }

  function spend(meter: Meter, draws: Draws, max: number | null, reason: number): Verdict | Promise<Verdict> {
    const lane = draws === "hits" ? meter.hits : meter.exempt;
    if (max === null) return count(meter.key, lane, reason);
    const now = clock.elapsed();
    if (lane.left > 0 && now < lane.validUntil) return take(lane, reason);
    if (now < lane.deniedUntil) return lane.denial;
    return wait(meter, lane, max, reason);
  }

  function count(key: string, lane: Lane, reason: number): Verdict {
    enter(key, lane, settings.month(), lane.lender);
    note(lane, reason);
    return granted;
  }

  async function wait(meter: Meter, lane: Lane, max: number, reason: number): Promise<Verdict> {
    try {
      // Those who waited for the same lease may use it up before it is our turn: a few rounds, then it is a busy store.
      for (let round = 0; round < 20; round++) {
        lane.asking ??= refill(meter.key, lane, max).finally(() => {
          lane.asking = undefined;
        });
        await lane.asking;
        const now = clock.elapsed();
        if (lane.left > 0 && now < lane.validUntil) return take(lane, reason);
        if (now < lane.deniedUntil) return lane.denial;
      }
    } catch {
      // Logged by whoever gave us the store; here it is an answer.
    }
    if (settings.open) return count(meter.key, lane, reason);
    return { kind: "unavailable", retryAfterSeconds: retrySeconds };
  }

  async function refill(key: string, lane: Lane, max: number): Promise<void> {
    endLease(key, lane, clock.elapsed());
    if (lane.unrecorded > largestLease(max)) await settings.flush();
    lane.ask ??= { id: settings.newLeaseId(), key, draws: lane.draws, max, want: wanted(lane) };
    const asked = clock.elapsed();
    const answer = await store.acquire(lane.ask);
    lane.ask = undefined;
    accept(key, lane, asked, answer);
  }

  /**
   * About a second of traffic, by what was spent since the last lease. One that was used up in a moment says that there
   * is more to come, not how much: the next is twice as large, until leases last.
   */
  function wanted(lane: Lane): number {
    const now = clock.elapsed();
    const perSecond = Math.ceil((lane.rateUnits * 1_000) / Math.max(now - lane.rateSince, 1));
    const want = Math.min(perSecond, growthMost * lane.rateUnits);
    lane.rateUnits = 0;
    lane.rateSince = now;
    return Math.max(1, want);
  }

  function accept(key: string, lane: Lane, asked: number, answer: LeaseAnswer): void {
    if (answer.kind === "denied") {
      lane.deniedUntil = clock.elapsed() + denyMs;
      lane.denial = {
        kind: "denied",
        retryAfterSeconds: answer.outstanding ? retrySeconds : answer.secondsToMonthEnd,
      };
      return;
    }
    lane.deniedUntil = 0;
    enter(key, lane, answer.month, answer.lender);
    lane.lease = answer.lease;
    lane.left = answer.size;
    lane.validUntil = asked + answer.validForMs;
  }

  return {
    of,
    spend,
    drain(all) {
      const now = all ? Number.POSITIVE_INFINITY : clock.elapsed();
      for (const [key, meter] of meters) {
        for (const lane of [meter.hits, meter.exempt]) {
          endLease(key, lane, now);
          close(key, lane);
        }
        // A lease lives for seconds, so what is remembered here is what was visited in the last few.
        if (isIdle(meter.hits) && isIdle(meter.exempt)) meters.delete(key);
      }
      const drained = waiting;
      waiting = [];
      return drained;
    },
    recorded(drained) {
      for (const { key, draws, units, unspent } of drained) {
        const lane = meters.get(key)?.[draws];
        if (lane) lane.unrecorded -= units + unspent;
      }
    },
    get size() {
      return meters.size;
    },
  };
}

const isIdle = (lane: Lane): boolean =>
  lane.lease === "" && lane.unrecorded === 0 && lane.asking === undefined && lane.ask === undefined;

function newLane(draws: Draws, none: readonly number[]): Lane {
  return {
    draws,
    lender: "sql",
    lease: "",
    left: 0,
    validUntil: 0,
    month: "",
    spent: [...none],
    fresh: 0,
    leased: 0,
    unrecorded: 0,
    deniedUntil: 0,
    denial: granted,
    asking: undefined,
    ask: undefined,
    rateUnits: 0,
    rateSince: 0,
  };
}
