import type { Clock } from "../base/clock.ts";
import type { Patience } from "../base/patience.ts";
import { largestLease } from "./lease-size.ts";
import type {
  Ask,
  Denied,
  Draws,
  FirstAnswer,
  FirstVisit,
  LeaseAnswer,
  LeaseStore,
  Lender,
  MonthOf,
} from "./leases.ts";
import { type Refill, type RefillProgress, startRefill } from "./refill.ts";
import { granted, type Verdict } from "./verdict.ts";

/**
 * An instance's side of leases: one meter per link, with a lane for each of its two limits.
 *
 * A lane spends from its current lease without I/O: this is the redirect path, a few comparisons and a subtraction. The
 * next lease is requested ahead, when the rest will not last until an answer comes, or the lease is in its last second.
 * It is kept ready until the current lease is used up or expired, so visitors of a busy link never wait. Only a visitor
 * who finds a lane without a lease waits for one; all who come meanwhile wait for the same one. Spent units stay with
 * the lane until the recorder has stored them.
 *
 * Most links have no other visitor for a while. Where the lender can do so, the first visit in some seconds is counted at
 * once, without a lease; those who come while it is counted, or soon after it, share one.
 *
 * How it fails:
 * - The store does not answer: the verdict is `unavailable`, and the ask is kept. It is repeated under its ID until its
 *   fate is known, and the lane makes no other ask: a slow store cannot hand out unused leases. If no visitor comes, it is
 *   repeated with the recordings, some at a time: links that were visited once during an outage are forgotten after it.
 * - The recorder cannot write: a lane that owes more than the largest lease, spent or to be returned, waits for the
 *   recorder before it takes another; nothing is requested ahead while the rest plus the debt exceeds that. Unspent and
 *   unrecorded units together are at most two leases, so a crash loses no more.
 * - The store is slow: visitors wait as long as their patience lasts. The ask continues and serves later visitors.
 * - The limit is used up: this is remembered for a second and then asked again, because others may return units.
 */
export interface Meter {
  readonly key: string;
  hits: Lane;
  /** Few links have one: most visits count. */
  exempt: Lane | undefined;
  /** By `clock.elapsed()`. */
  droppedAt: number;
}

export interface Lane {
  readonly draws: Draws;
  /** The lender of the current lease, and of the leased units below. */
  lender: Lender;
  lease: string;
  /** Units of the lease not yet spent. */
  left: number;
  /** By `clock.elapsed()`; the lease is not used after this time. */
  validUntil: number;
  month: string;
  /** Requested ahead; spent from when the current lease ends. */
  next: Lease | undefined;
  /** With this many units left, or from then on, check whether to request the next lease. */
  lookAtLeft: number;
  lookFrom: number;
  /** Spent in `month` since the last recording, by reason. */
  spent: number[];
  fresh: number;
  /** How many of those came from a lease, and so from what its lender counts as lent. */
  leased: number;
  /** Spent or returned but not yet stored, whether or not the recorder already has them. */
  unrecorded: number;
  deniedUntil: number;
  denial: Verdict;
  refill: Refill | undefined;
  /** An ask whose fate is unknown. */
  ask: Ask | undefined;
  /** Spent since `rateSince`: determines the size of the next lease. */
  rateUnits: number;
  rateSince: number;
  /** Somebody came a moment ago: its lease is kept for its whole life, and no visit is counted without one. */
  keeps: boolean;
  /** Nothing is requested ahead before this time: the last ask failed, or the recorder was just told to hurry. */
  aheadFrom: number;
}

interface Lease {
  readonly lender: Lender;
  readonly lease: string;
  readonly left: number;
  readonly validUntil: number;
  readonly month: string;
}

export interface LinkHits {
  readonly key: string;
  readonly units: number;
}

/** What the recorder must store for one lane. */
export interface Drained extends MonthOf, LinkHits {
  readonly lender: Lender;
  /** By reason, in the order of the caller's list. */
  readonly spent: readonly number[];
  readonly leased: number;
  /** Units of a lease that ended before they were spent. */
  readonly unspent: number;
  /** The ended lease; its answer will not be asked for again. */
  readonly lease?: string;
}

/** What is recorded: of links that cannot wait, of all, or of all together with leases that are still valid, which end. */
export type Due = "urgent" | "usual" | "everything";

export interface Meters {
  /**
   * A meter with nothing to record is dropped at the next recording, so nobody may spend from one that they kept. `last` is the
   * one that this returned for the key before, if known: while it is in use, it need not be looked up.
   */
  of(key: string, last?: Meter): Meter;
  /**
   * Spends one unit, for a reason (its index in the caller's list) that is recorded with it. `max` of null means no
   * limit: counted, never refused. Answers at once whenever there is a lease. `patience` is what the visitor has left;
   * by default all of it.
   */
  spend(
    meter: Meter,
    draws: Draws,
    max: number | null,
    reason: number,
    patience?: Patience,
  ): Verdict | Promise<Verdict>;
  /** Stops requesting leases ahead; resolves when none is in flight. */
  stopRefilling(): Promise<void>;
  /** Takes what must be recorded, including ended leases. */
  drain(what: Due): Drained[];
  /** The units were stored. */
  acknowledge(drained: readonly Drained[]): void;
  readonly size: number;
}

export interface MeterSettings {
  /** Number of reasons. */
  readonly reasons: number;
  readonly store: LeaseStore;
  /** Where the lender can count a first visit without a lease. It rejects when a visitor would give up, and counts nothing after that. */
  readonly countFirst?: ((visit: FirstVisit) => Promise<FirstAnswer>) | undefined;
  readonly clock: Clock;
  /** Only for hits that are counted without a lease. */
  readonly month: () => string;
  readonly newLeaseId: () => string;
  /** The patience of a visitor who has not waited yet. */
  readonly patience: Readonly<Patience>;
  /** If no lender can be asked, allow visitors anyway and count them. */
  readonly open?: boolean;
  /** Called when a lease is used up, so that what is urgent is recorded soon. */
  readonly usedUp: () => void;
  /** Resolves when what is urgent is stored; a lane that owes too much waits for it. */
  readonly flush: () => Promise<void>;
}

const denyMs = 1_000;
/** On a busy link, another visitor would have come by now. */
const aloneMs = 250;
/** As long as a lease lives. */
const comesAgainMs = 5_000;
/** How much longer a denial is believed when the store does not answer in time. */
const believedMs = 5_000;
const retrySeconds = 2;
const growthMost = 2;
/** An ask ahead has a second to be answered, and a lease in its last second is not waited for. */
const aheadMs = 1_000;
/** Traffic may double while the answer comes. */
const aheadMargin = 2;
const answerFirstMs = 50;
/** Patience ends a wait; this ends one for leases that are over before they arrive. */
const roundsMost = 1_000;
const answerWeight = 1 / 8;
/** Asks of nobody, with each recording. */
const repeatsMost = 100;

export function createMeters(settings: MeterSettings): Meters {
  const { store, clock, countFirst } = settings;
  const meters = new Map<string, Meter>();
  const none: readonly number[] = new Array(settings.reasons).fill(0);
  /** For the next recording: leases that ended with units left, and months that ended. */
  let waiting: Drained[] = [];
  /** With their keys: they have used up a lease, or owe too much to get another. */
  const urgent = new Map<Lane, string>();
  /** Estimated answer time: the slower of the last few. */
  let answerMs = answerFirstMs;
  let looksAhead = true;
  let repeatsLeft = repeatsMost;

  function of(key: string, last?: Meter): Meter {
    if (last !== undefined && last.hits !== noLane) return last;
    let meter = meters.get(key);
    if (meter === undefined) {
      meter = { key, hits: newLane("hits", none), exempt: undefined, droppedAt: 0 };
      // It came again soon.
      meter.hits.keeps = last !== undefined && clock.elapsed() - last.droppedAt < comesAgainMs;
      meters.set(key, meter);
    }
    return meter;
  }

  /** An expired lease is not used; its rest is returned, and its name forgotten. */
  function endLease(key: string, lane: Lane, now: number): void {
    if (lane.lease === "" || (lane.left > 0 && now < lane.validUntil)) return;
    const { draws, month, lender, left: unspent, lease } = lane;
    waiting.push({ key, draws, month, lender, spent: none, units: 0, leased: 0, unspent, lease });
    lane.unrecorded += unspent;
    lane.left = 0;
    lane.lease = "";
  }

  /**
   * A lease of which one visitor has taken one unit is returned with the recording of that unit: most links have no other
   * visitor within its life, and it is written once instead of twice. If another one comes soon, the next lease is kept.
   */
  function endUnused(key: string, lane: Lane, now: number): void {
    if (lane.keeps || lane.lease === "" || now - lane.rateSince < aloneMs) return;
    const hadOneVisit = lane.fresh === 1 && lane.leased === 1 && lane.rateUnits === 1;
    if (!hadOneVisit || lane.next !== undefined || lane.refill !== undefined) return;
    const { draws, month, lender, spent, left: unspent, lease } = lane;
    waiting.push({ key, draws, month, lender, spent, units: 1, leased: 1, unspent, lease });
    lane.unrecorded += unspent;
    lane.left = 0;
    lane.lease = "";
    lane.spent = none.slice();
    lane.fresh = 0;
    lane.leased = 0;
    lane.keeps = true;
  }

  function endNext(key: string, lane: Lane, now: number): void {
    if (lane.next === undefined || now < lane.next.validUntil) return;
    const { month, lender, left: unspent, lease } = lane.next;
    waiting.push({ key, draws: lane.draws, month, lender, spent: none, units: 0, leased: 0, unspent, lease });
    lane.unrecorded += unspent;
    lane.next = undefined;
  }

  function note(lane: Lane, reason: number): void {
    lane.spent[reason] = (lane.spent[reason] ?? 0) + 1;
    lane.fresh++;
    lane.unrecorded++;
  }

  /** Units spent so far belong to the month they were spent in, and to their lender. */
  function close(key: string, lane: Lane): void {
    if (lane.fresh === 0) return;
    const { draws, month, lender, spent, fresh, leased } = lane;
    waiting.push({ key, draws, month, lender, spent, units: fresh, leased, unspent: 0 });
    lane.spent = none.slice();
    lane.fresh = 0;
    lane.leased = 0;
  }

  function enter(key: string, lane: Lane, month: string, lender: Lender): void {
    if (lane.month === month && lane.lender === lender) return;
    // A lease belongs to one month. One may still be held when the limit is removed while our clock is in another
    // month.
    endLease(key, lane, Number.POSITIVE_INFINITY);
    close(key, lane);
    lane.month = month;
    lane.lender = lender;
  }

  /** Nobody waits for it: the next visitor, or recording, sees whether it worked. */
  function askAgain(key: string, lane: Lane, { max }: Ask, now: number): void {
    if (lane.refill !== undefined || now < lane.aheadFrom || repeatsLeft === 0 || !looksAhead) return;
    repeatsLeft--;
    startAsking(key, lane, max, false);
  }

  function hurry(key: string, lane: Lane): void {
    urgent.set(lane, key);
    settings.usedUp();
  }

  /** Whether nothing is left of it. */
  function drainLane(key: string, lane: Lane, now: number): boolean {
    endLease(key, lane, now);
    endNext(key, lane, now);
    endUnused(key, lane, now);
    close(key, lane);
    if (lane.ask !== undefined) askAgain(key, lane, lane.ask, now);
    return isIdle(lane) && !(settings.open && isDenied(lane, now));
  }

  function drainMeters(now: number): void {
    repeatsLeft = repeatsMost;
    for (const [key, meter] of meters) {
      const isIdle = drainLane(key, meter.hits, now);
      // A lease lives for seconds, so this keeps only links visited in the last few seconds.
      if ((meter.exempt === undefined || drainLane(key, meter.exempt, now)) && isIdle) {
        meters.delete(key);
        meter.hits = noLane;
        meter.exempt = noLane;
        meter.droppedAt = now;
      }
    }
  }

  function take(key: string, lane: Lane, max: number, reason: number, now: number): Verdict {
    lane.left--;
    lane.leased++;
    lane.rateUnits++;
    note(lane, reason);
    if (lane.left === 0) hurry(key, lane);
    if (lane.left <= lane.lookAtLeft || now >= lane.lookFrom) lookAhead(key, lane, max, now);
    return granted;
  }

  function spend(
    meter: Meter,
    draws: Draws,
    max: number | null,
    reason: number,
    patience?: Patience,
  ): Verdict | Promise<Verdict> {
    const lane = draws === "hits" ? meter.hits : exemptOf(meter);
    if (max === null) return count(meter.key, lane, reason);
    const now = clock.elapsed();
    if (isAtHand(meter.key, lane, now)) return take(meter.key, lane, max, reason, now);
    if (now < lane.deniedUntil) return lane.denial;
    const left = patience ?? { ...settings.patience };
    if (countFirst !== undefined && !lane.keeps) return first(countFirst, meter.key, lane, max, reason, left);
    return wait(meter, lane, max, reason, left);
  }

  function exemptOf(meter: Meter): Lane {
    meter.exempt ??= newLane("exempt", none);
    return meter.exempt;
  }

  /** Whether there is a lease to spend from: the current one, or the next if that has ended. */
  function isAtHand(key: string, lane: Lane, now: number): boolean {
    if (lane.left > 0 && now < lane.validUntil) return true;
    if (lane.next === undefined) return false;
    endLease(key, lane, now);
    endNext(key, lane, now);
    const { next } = lane;
    if (next === undefined) return false;
    lane.next = undefined;
    begin(key, lane, next);
    return true;
  }

  function begin(key: string, lane: Lane, { month, lender, lease, left, validUntil }: Lease): void {
    enter(key, lane, month, lender);
    lane.lease = lease;
    lane.left = left;
    lane.validUntil = validUntil;
    lane.lookAtLeft = left >> 1;
    lane.lookFrom = validUntil - aheadMs;
  }

  function count(key: string, lane: Lane, reason: number): Verdict {
    enter(key, lane, settings.month(), lane.lender);
    note(lane, reason);
    return granted;
  }

  /**
   * Requests the next lease if the current one will not last until it arrives. Otherwise sets when to check again: at
   * half of the lease, or when the rest equals what current traffic would need.
   */
  function lookAhead(key: string, lane: Lane, max: number, now: number): void {
    if (!looksAhead) return;
    if (lane.next !== undefined || lane.refill !== undefined || now < lane.deniedUntil || now < lane.aheadFrom) return;
    if (now < lane.lookFrom) {
      const perMs = lane.rateUnits / Math.max(now - lane.rateSince, 1);
      const needed = Math.ceil(perMs * answerMs * aheadMargin);
      if (lane.left > needed) {
        lane.lookAtLeft = Math.max(needed, lane.left >> 1);
        return;
      }
    }
    if (lane.left + lane.unrecorded <= largestLease(max)) {
      startAsking(key, lane, max, false);
      return;
    }
    // It can be requested once less is owed: soon, but not with every visit until then.
    lane.aheadFrom = now + answerMs;
    hurry(key, lane);
  }

  async function first(
    count: NonNullable<MeterSettings["countFirst"]>,
    key: string,
    lane: Lane,
    max: number,
    reason: number,
    patience: Patience,
  ): Promise<Verdict> {
    lane.keeps = true;
    const asked = clock.elapsed();
    let answer: FirstAnswer;
    try {
      answer = await count({ key, draws: lane.draws, max, reason });
    } catch {
      return unanswered(key, lane, reason);
    }
    if (answer.kind === "denied") {
      // A fallback draws on the other limit, in what time is left.
      patience.sql = Math.max(0, patience.sql - (clock.elapsed() - asked));
      return deny(lane, asked, answer);
    }
    enter(key, lane, answer.month, "sql");
    return granted;
  }

  /** No lender can be asked. What went wrong is logged by the code that passed them to us; here it is an answer. */
  function unanswered(key: string, lane: Lane, reason: number): Verdict {
    // Allow, unless the limit was used up a moment ago: otherwise a slow store would lift the limit.
    if (settings.open) return isDenied(lane, clock.elapsed()) ? lane.denial : count(key, lane, reason);
    return { kind: "unavailable", retryAfterSeconds: retrySeconds };
  }

  async function wait(meter: Meter, lane: Lane, max: number, reason: number, patience: Patience): Promise<Verdict> {
    try {
      // Others who waited for the same lease may use it up first. A small limit has small leases, so a crowd takes many.
      for (let round = 0; round < roundsMost; round++) {
        const refill = lane.refill ?? startAsking(meter.key, lane, max, true);
        await refill.wait(patience);
        const now = clock.elapsed();
        if (isAtHand(meter.key, lane, now)) return take(meter.key, lane, max, reason, now);
        if (now < lane.deniedUntil) return lane.denial;
      }
    } catch {
      // As after too many rounds.
    }
    return unanswered(meter.key, lane, reason);
  }

  function startAsking(key: string, lane: Lane, max: number, urgent: boolean): Refill {
    const refill = startRefill(clock, urgent, async (progress) => {
      // Not before the lane holds it: the lease could be over by then.
      await Promise.resolve();
      try {
        await ask(key, lane, max, progress);
      } catch (error) {
        lane.aheadFrom = clock.elapsed() + aheadMs;
        throw error;
      } finally {
        lane.refill = undefined;
      }
    });
    lane.refill = refill;
    return refill;
  }

  async function ask(key: string, lane: Lane, max: number, progress: RefillProgress): Promise<void> {
    endLease(key, lane, clock.elapsed());
    if (lane.unrecorded > largestLease(max)) await recordDebt(key, lane);
    lane.ask ??= { id: settings.newLeaseId(), key, draws: lane.draws, max, want: wanted(lane) };
    const asked = clock.elapsed();
    const answer = await store.acquire(lane.ask, progress);
    lane.ask = undefined;
    const took = clock.elapsed() - asked;
    answerMs = Math.max(took, answerMs + (took - answerMs) * answerWeight);
    accept(key, lane, asked, answer);
  }

  function recordDebt(key: string, lane: Lane): Promise<void> {
    urgent.set(lane, key);
    return settings.flush();
  }

  /**
   * About a second of traffic, based on what was spent since the last lease. A lease that was used up in a moment shows
   * that more is needed, but not how much: the next is twice as large, until leases last.
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
      deny(lane, asked, answer);
      return;
    }
    lane.deniedUntil = 0;
    const { month, lender, lease, size: left, validForMs } = answer;
    lane.next = { month, lender, lease, left, validUntil: asked + validForMs };
    isAtHand(key, lane, clock.elapsed());
  }

  function deny(lane: Lane, asked: number, { outstanding, secondsToMonthEnd }: Denied): Verdict {
    lane.deniedUntil = asked + denyMs;
    lane.denial = { kind: "denied", retryAfterSeconds: outstanding ? retrySeconds : secondsToMonthEnd };
    return lane.denial;
  }

  return {
    of,
    spend,
    async stopRefilling() {
      looksAhead = false;
      const lanes = [...meters.values()].flatMap(({ hits, exempt }) => [hits, exempt]);
      await Promise.all(lanes.map((lane) => lane?.refill?.over));
    },
    drain(what) {
      const now = what === "everything" ? Number.POSITIVE_INFINITY : clock.elapsed();
      if (what === "urgent") {
        for (const [lane, key] of urgent) {
          endLease(key, lane, now);
          close(key, lane);
        }
      } else {
        drainMeters(now);
      }
      urgent.clear();
      const drained = waiting;
      waiting = [];
      return drained;
    },
    acknowledge(drained) {
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

/** Whether the limit was reported as used up recently enough to be believed. */
const isDenied = (lane: Lane, now: number): boolean => lane.deniedUntil > 0 && now < lane.deniedUntil + believedMs;

const isIdle = (lane: Lane): boolean =>
  lane.lease === "" &&
  lane.next === undefined &&
  lane.unrecorded === 0 &&
  lane.refill === undefined &&
  lane.ask === undefined;

function newLane(draws: Draws, none: readonly number[]): Lane {
  return {
    draws,
    lender: "sql",
    lease: "",
    left: 0,
    validUntil: 0,
    month: "",
    next: undefined,
    lookAtLeft: 0,
    lookFrom: 0,
    spent: none.slice(),
    fresh: 0,
    leased: 0,
    unrecorded: 0,
    deniedUntil: 0,
    denial: granted,
    refill: undefined,
    ask: undefined,
    rateUnits: 0,
    rateSince: 0,
    aheadFrom: 0,
    keeps: false,
  };
}

/** Of a meter that was dropped. Spending from it throws: what it took would never be recorded. */
const noLane: Lane = Object.freeze(newLane("exempt", []));
