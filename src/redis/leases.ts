/**
 * Leases from Redis, for every instance that shares it. `lease.lua` decides; its header says what stays true.
 *
 * Redis is fast and may forget, SQL is slow and does not. So every call carries the month's total last seen in SQL, and
 * the script raises what it has to that; a key that is not there is not a limit that nobody has used, and is made only
 * with a total that was read after the miss. What a lost or older Redis forgets is then what was on its way: lent out
 * and not yet written down.
 *
 * Leases that are over wait here until Redis has heard of it: with the next ask for the same month, or a second later.
 */
import { LRUCache } from "lru-cache";
import { type Clock, systemClock } from "../base/clock.ts";
import { largestLease, leastWhilePlenty } from "../limits/lease-size.ts";
import type { Ask, EndedLease, LeaseAnswer, LeaseStore, MonthOf, Total } from "../limits/leases.ts";
import { secondsToMonthEnd } from "../limits/month.ts";
import type { RefillProgress } from "../limits/refill.ts";
import { monthOf } from "../limits/window.ts";
import { defineScript, type Redis } from "./client.ts";
import leaseText from "./lease.lua" with { type: "text" };

export interface RedisLeases extends LeaseStore {
  /** Another has answered it: whatever comes of it here is taken back. */
  cancel(ask: Ask): void;
  /** After a recording. */
  seen(totals: readonly Total[]): void;
  end(leases: readonly EndedLease[]): void;
  /** Tells Redis of leases that are over; those it did not hear of are told again the next time. */
  flush(): Promise<void>;
}

export interface RedisLeasesOptions {
  readonly redis: Pick<Redis, "script">;
  readonly clock?: Clock;
  /** What SQL has counted and lent at this moment. */
  readonly readTotal: (month: MonthOf) => Promise<number>;
}

export const leaseMs = 5_000;
/** For an answer. Visitors who wait have less, and say so themselves. */
const answerMs = 1_000;
/** Longer than any ask of ours can be on its way. */
const knownMs = 10_000;
const attemptsMost = 4;
const totalsMost = 100_000;
const unansweredMost = 10_000;
const endedMost = 100_000;
const endedPerCall = 50;
const callsAtOnce = 100;

const lease = defineScript(leaseText);

const monthLength = "2026-11".length;
const noAsk = ["", "0", "0", "0", "0"];

type Ended = Map<string, EndedLease>;

export function createRedisLeases({ redis, clock = systemClock, readTotal }: RedisLeasesOptions): RedisLeases {
  const totals = new LRUCache<string, number>({ max: totalsMost });
  /** Copies of an ask without an answer, by month: it may be granted in any of them, wherever the clock is now. */
  const unanswered = new LRUCache<string, Map<string, number>>({ max: unansweredMost });
  /** In which month an ask was granted: whoever asked may have gone elsewhere by then, and take it back. */
  const grantedIn = new LRUCache<string, string>({ max: unansweredMost });
  /** Taken back while they may still have been under way: they are not sent again. */
  const cancelled = new LRUCache<string, true>({ max: unansweredMost });
  const ended = new Map<string, Ended>();
  let endedCount = 0;
  let offsetMs = 0;
  const now = () => clock.now() + offsetMs;

  function end(leases: readonly EndedLease[]): void {
    for (const one of leases) {
      if (endedCount >= endedMost) return; // what is not told of stays lent until the month ends
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

  /** One call for the month `key`, with leases of it that are over. */
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
    if (reply[0] === "garbage") throw new Error(`${reply[1]} holds what is not ours, or of another format`);
    if (reply[0] === "window") offsetMs = Number(reply[1]) - clock.now();
    else if (reply[0] !== "missing") heard(key, told);
    return reply;
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
      // Before the answer: whoever asked may go elsewhere meanwhile, and take this back.
      addUnanswered(ask.id, month.month, 1);
      const reply = await call(key, time, words, freshFor === key);
      addUnanswered(ask.id, month.month, -1);
      if (reply[0] === "missing") {
        progress?.on("sql");
        totals.set(key, await readTotal(month));
        freshFor = key;
      } else if (reply[0] !== "window") {
        // One that was denied when it was repeated may still be granted when the first copy arrives.
        takeBack(ask, reply[0] === "denied" ? undefined : month.month);
        if (reply[0] === "granted") grantedIn.set(ask.id, month.month);
        return answerOf(reply, ask.id, month.month);
      }
    }
    throw new Error("the month is never that of the server's time, or its key keeps disappearing");
  }

  function addUnanswered(id: string, month: string, copies: number): void {
    const months = unanswered.get(id) ?? new Map<string, number>();
    const left = (months.get(month) ?? 0) + copies;
    if (left > 0) months.set(month, left);
    else months.delete(month);
    if (months.size > 0) unanswered.set(id, months);
    else unanswered.delete(id);
  }

  /** From everywhere but the month in which it was answered. */
  function takeBack({ id, key, draws }: Ask, answeredIn?: string): void {
    const months = [...(unanswered.get(id)?.keys() ?? [])].filter((month) => month !== answeredIn);
    end(months.map((month) => ({ key, draws, month, lease: id, unspent: "all" })));
    unanswered.delete(id);
  }

  /** A month that is over has nothing to give back to; one that is to come again, for a clock was set back, has. */
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

    end,

    async flush() {
      const keys = [...ended.keys()];
      for (let at = 0; at < keys.length; at += callsAtOnce)
        await Promise.all(keys.slice(at, at + callsAtOnce).map(tell));
    },
  };
}

/** As the requirements name it, the braces a Cluster's hash tag. */
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
      throw new Error(`the lease ${id} is not to be had: ${String(reply[0])}`);
  }
}
