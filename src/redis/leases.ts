/**
 * Leases from Redis, shared by all servers. `lease.lua` decides; its header states the invariants.
 *
 * Redis is fast and may lose data; SQL is slow and does not. So every call carries the month's total last seen in SQL,
 * and the script raises its own total to that. A missing key does not mean an unused limit: it is created only with a
 * total that was read after the miss. So a lost or outdated Redis forgets only what was in flight: lent and not yet
 * recorded.
 *
 * Leases that have ended are kept here until Redis knows: they are sent with the next request for the same month, or
 * after a second.
 */
import { LRUCache } from "lru-cache";
import { type Clock, systemClock } from "../base/clock.ts";
import { gatherPerTurn } from "../base/per-turn.ts";
import { largestLease, leastWhilePlenty } from "../limits/lease-size.ts";
import type { Ask, EndedLease, LeaseAnswer, LeaseStore, MonthOf, Total } from "../limits/leases.ts";
import type { RefillProgress } from "../limits/refill.ts";
import { monthOf, secondsToMonthEnd } from "../limits/window.ts";
import { defineScript, type Redis } from "./client.ts";
import knownText from "./known.lua" with { type: "text" };
import leaseText from "./lease.lua" with { type: "text" };

export interface RedisLeases extends LeaseStore {
  /** Another store has granted it: anything granted here is taken back. */
  cancel(ask: Ask): void;
  /** Called after a recording. */
  seen(totals: readonly Total[]): void;
  /** Something else than a recording raised the total in SQL: all servers must know before they lend again. */
  raise(month: Omit<MonthOf, "month">): Promise<void>;
  end(leases: readonly EndedLease[]): void;
  /** Tells Redis which leases have ended. Those that it did not confirm are sent again the next time. */
  flush(): Promise<void>;
}

export interface RedisLeasesOptions {
  /** With `slotOf`, links that are new to this process are first looked up together: most are new to Redis too. */
  readonly redis: Pick<Redis, "script"> & Partial<Pick<Redis, "slotOf">>;
  readonly clock?: Clock;
  /** What SQL has counted and lent so far. */
  readonly readTotal: (month: MonthOf) => Promise<number>;
}

export const leaseMs = 5_000;
/** The timeout of a call. Visitors wait for less, by their own budget. */
const answerMs = 1_000;
/** Longer than any request of ours can be in flight. */
const knownMs = 10_000;
const attemptsMost = 4;
const totalsMost = 100_000;
const unansweredMost = 10_000;
const endedMost = 100_000;
const endedPerCall = 50;
const callsAtOnce = 100;
const knownPerCall = 256;

const lease = defineScript(leaseText);
const known = defineScript(knownText);
export const leaseScripts = [lease, known];

const monthLength = "2026-11".length;
const noAsk = ["", "0", "0", "0", "0"];

type Ended = Map<string, EndedLease>;

export function createRedisLeases({ redis, clock = systemClock, readTotal }: RedisLeasesOptions): RedisLeases {
  const totals = new LRUCache<string, number>({ max: totalsMost });
  /** Requests without an answer, by month. Any of them may still be granted, even after the month has ended. */
  const unanswered = new LRUCache<string, Map<string, number>>({ max: unansweredMost });
  /**
   * The month in which a request was granted: the caller may have got a lease elsewhere by then, and take this one
   * back.
   */
  const grantedIn = new LRUCache<string, string>({ max: unansweredMost });
  /** Taken back while possibly still in flight: these are not sent again. */
  const cancelled = new LRUCache<string, true>({ max: unansweredMost });
  const ended = new Map<string, Ended>();
  let endedCount = 0;
  let offsetMs = 0;
  const now = () => clock.now() + offsetMs;

  function end(leases: readonly EndedLease[]): void {
    for (const one of leases) {
      if (endedCount >= endedMost) return; // a lease that Redis does not hear of stays lent until the month ends
      const key = redisKey(one);
      grantedIn.delete(one.lease);
      const waiting: Ended = ended.get(key) ?? new Map();
      if (!waiting.has(one.lease)) endedCount++;
      waiting.set(one.lease, one);
      ended.set(key, waiting);
    }
  }

  function heard(key: string, told: Ended): void {
    const waiting = ended.get(key);
    if (waiting === undefined) return;
    for (const [id, one] of told) {
      if (waiting.get(id) === one && waiting.delete(id)) endedCount--;
    }
    if (waiting.size === 0) ended.delete(key);
  }

  /** One call for the month `key`, which also reports leases that have ended. */
  async function call(key: string, time: number, ask: readonly string[], fresh: boolean): Promise<unknown[]> {
    const { startsAt, endsAt } = monthOf(time);
    const told: Ended = new Map([...(ended.get(key) ?? [])].slice(0, endedPerCall));
    const reply = (await redis.script(
      lease,
      [key],
      [
        ...[startsAt, endsAt, leaseMs, knownMs].map(String),
        ...[String(totals.get(key) ?? ""), fresh ? "fresh" : ""],
        ...ask,
        ...[...told.values()].flatMap((one) => [one.lease, String(one.unspent)]),
      ],
      answerMs,
    )) as unknown[];
    if (reply[0] === "garbage") throw new Error(`${reply[1]} contains foreign data or another format`);
    if (reply[0] === "window") offsetMs = Number(reply[1]) - clock.now();
    else if (reply[0] !== "missing") heard(key, told);
    return reply;
  }

  /** Whether Redis has this month: one call for all that are asked for in a turn, and one for each slot of a Cluster. */
  const isKnown =
    redis.slotOf &&
    gatherPerTurn<string, boolean>(
      knownPerCall,
      async (keys) => {
        const reply = (await redis.script(known, keys, [], answerMs)) as unknown[];
        return keys.map((_, place) => Number(reply[place]) === 1);
      },
      { groupOf: (key) => redis.slotOf?.(key) },
    );

  /** After it was found missing. */
  async function readFresh(key: string, month: MonthOf, progress: RefillProgress | undefined): Promise<string> {
    progress?.on("sql");
    totals.set(key, await readTotal(month));
    return key;
  }

  async function acquire(ask: Ask, progress?: RefillProgress): Promise<LeaseAnswer> {
    const words = [ask.id, ask.max, ask.want, leastWhilePlenty, largestLease(ask.max)].map(String);
    let freshFor: string | undefined;
    for (let tries = 0; tries < attemptsMost; tries++) {
      if (cancelled.has(ask.id)) throw new Error(`the ask ${ask.id} was taken back`);
      const time = now();
      const month = { key: ask.key, draws: ask.draws, month: monthOf(time).name };
      const key = redisKey(month);
      progress?.on("redis");
      if (tries === 0 && !totals.has(key) && (await isKnown?.(key)) === false) {
        freshFor = await readFresh(key, month, progress);
        progress?.on("redis");
        if (cancelled.has(ask.id)) continue;
      }
      // Before the answer: the caller may get a lease elsewhere meanwhile, and take this one back.
      addUnanswered(ask.id, month.month, 1);
      const reply = await call(key, time, words, freshFor === key);
      addUnanswered(ask.id, month.month, -1);
      if (reply[0] === "missing") {
        freshFor = await readFresh(key, month, progress);
      } else if (reply[0] !== "window") {
        // A request that was denied when repeated may still be granted when its first copy arrives.
        takeBack(ask, reply[0] === "denied" ? undefined : month.month);
        if (reply[0] === "granted") grantedIn.set(ask.id, month.month);
        return answerOf(reply, ask.id, month.month);
      }
    }
    throw new Error("the month never matches the server's time, or its key keeps disappearing");
  }

  function addUnanswered(id: string, month: string, copies: number): void {
    const months = unanswered.get(id) ?? new Map<string, number>();
    const left = (months.get(month) ?? 0) + copies;
    if (left > 0) months.set(month, left);
    else months.delete(month);
    if (months.size > 0) unanswered.set(id, months);
    else unanswered.delete(id);
  }

  /** Takes it back in every month except the one that answered. */
  function takeBack({ id, key, draws }: Ask, answeredIn?: string): void {
    const months = [...(unanswered.get(id)?.keys() ?? [])].filter((month) => month !== answeredIn);
    end(months.map((month) => ({ key, draws, month, lease: id, unspent: "all" })));
    unanswered.delete(id);
  }

  /**
   * Nothing can be returned to a month that is over. A month in the future, after a clock was set back, still can take
   * it.
   */
  async function tell(key: string): Promise<void> {
    const time = Date.parse(key.slice(-monthLength));
    const reply = await call(key, time, noAsk, false);
    if (reply[0] === "window" && Number(reply[1]) >= monthOf(time).endsAt) heard(key, ended.get(key) ?? new Map());
  }

  return {
    acquire,

    cancel(ask) {
      cancelled.set(ask.id, true);
      const month = grantedIn.get(ask.id);
      if (month !== undefined) addUnanswered(ask.id, month, 1);
      takeBack(ask);
    },

    seen(all) {
      for (const { total, ...month } of all) totals.set(redisKey(month), total);
    },

    async raise(about) {
      const time = now();
      const month = { ...about, month: monthOf(time).name };
      totals.set(redisKey(month), await readTotal(month));
      await call(redisKey(month), time, noAsk, false);
    },

    end,

    async flush() {
      const keys = [...ended.keys()];
      for (let at = 0; at < keys.length; at += callsAtOnce)
        await Promise.all(keys.slice(at, at + callsAtOnce).map(tell));
    },
  };
}

/** The name is given by the requirements. The braces are a Cluster hash tag. */
const redisKey = ({ key, draws, month }: MonthOf): string => `links:{${key}}:${draws}:${month}`;

function answerOf(reply: readonly unknown[], id: string, month: string): LeaseAnswer {
  switch (reply[0]) {
    case "granted":
      return {
        kind: "granted",
        lender: "redis",
        lease: id,
        size: Number(reply[1]),
        month,
        validForMs: Number(reply[2]),
      };
    case "denied":
      return {
        kind: "denied",
        lender: "redis",
        outstanding: Number(reply[1]) === 1,
        secondsToMonthEnd: secondsToMonthEnd(Number(reply[2])),
      };
    default:
      throw new Error(`the lease ${id} cannot be granted: ${String(reply[0])}`);
  }
}
