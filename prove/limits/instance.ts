/** One instance: the program's own way of counting, on stores over a network that fails and on a clock that is wrong. */
import type { Breaker, BreakerRule } from "../../src/base/breaker.ts";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { createLog } from "../../src/base/log.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import type { Ask, LeaseAnswer } from "../../src/limits/leases.ts";
import type { Drained, Meters } from "../../src/limits/meters.ts";
import { monthName } from "../../src/limits/window.ts";
import { hitReasons } from "../../src/redirect/decide.ts";
import type { Redis } from "../../src/redis/client.ts";
import type { CountedVisits, SqlLeases } from "../../src/sql/leases.ts";
import type { Sql } from "../../src/sql/sql.ts";
import type { Books } from "./books.ts";
import type { Code } from "./code.ts";
import { type Caller, inFile, overNetwork, type Surroundings } from "./network.ts";

export interface Instance extends Caller {
  /** Added to true time: skew, and every jump so far. */
  offMs: number;
  /** Undefined until it has started. */
  meters: Meters | undefined;
  close: () => Promise<void>;
}

export interface Stores {
  readonly code: Code;
  readonly sql: Sql;
  readonly sqlClock: Clock;
  /** The database is a file, and not behind a network. */
  readonly embedded: boolean;
  /** Without it, SQL lends. */
  readonly connectRedis: ((caller: Caller) => Pick<Redis, "script">) | undefined;
  readonly degrade: boolean;
  readonly holders: number;
}

/** As the settings have it by default. */
const rule: BreakerRule = { failures: 5, windowMs: 10_000, share: 0.1, pauseMostMs: 30_000 };
const wait = { redis: 50, sql: 100 };
const node = "redis";
const silent = createLog("silent", { write() {} }, false, () => 0);
const split = (key: string) => ({ domain: "", code: key });

export function createInstance(name: string, offMs: number, { time }: Surroundings): Instance {
  const instance: Instance = {
    name,
    offMs,
    alive: true,
    pausedUntil: 0,
    redisAwayUntil: 0,
    wall: () => time.now + instance.offMs,
    meters: undefined,
    close: async () => {},
  };
  return instance;
}

/** To be called as the instance, for its timers to be its own. */
export async function start(instance: Instance, stores: Stores, around: Surroundings, books: Books): Promise<void> {
  const { startCounting, createLimitsBreakers, openRedisLeases } = stores.code.counting;
  const clock: Clock = {
    now: instance.wall,
    elapsed: () => around.time.now,
    attended: () => around.time.now,
    after: systemClock.after,
    afterWait: systemClock.after,
  };
  const fromSql = watchedSqlLeases(instance, stores, around, books);
  const redis = stores.connectRedis?.(instance);
  const metrics = createMetrics();
  const breakers = createLimitsBreakers({ nodes: () => [node], rule, clock, metrics, log: silent });
  const counting = startCounting({
    id: instance.name,
    fromSql,
    fromRedis: redis && (await openRedisLeases(leftAlone(redis, breakers.all.of(node)), fromSql, clock)),
    embedded: stores.embedded,
    outage: stores.degrade ? "degrade" : "closed",
    wait,
    visitorsBreakerOf: () => breakers.visitors.of(node),
    clock,
    onRecorded() {},
    metrics,
    log: silent,
  });
  instance.meters = counting.meters;
  instance.close = counting.close;
}

const leftAlone = (redis: Pick<Redis, "script">, breaker: Breaker): Pick<Redis, "script"> => ({
  script: (...call) => breaker.run(() => redis.script(...call)),
});

/** The books learn what SQL has committed, whether or not the instance ever hears of it. */
function watchedSqlLeases(instance: Instance, stores: Stores, around: Surroundings, books: Books): SqlLeases {
  const { code, sql, sqlClock, embedded, holders } = stores;
  const asks = new Map<string, Ask>();
  const denials = new WeakMap<LeaseAnswer, { gone: ReadonlyMap<string, number>; month: string }>();
  let sending: { sequence: number; batch: readonly Drained[] } | undefined;
  let writtenSequence = 0;

  function committed(result: unknown): void {
    if (isCounted(result)) return;
    if (isTaken(result)) {
      for (const { id, month, size } of result.taken) books.sqlTookBack(asks.get(id), month, size);
      return;
    }
    const answers = isAnswers(result) ? result : [];
    books.sqlAnswered(asks, answers);
    const month = monthName(sqlClock.now());
    for (const one of answers) if (one.kind === "denied") denials.set(one, { gone: books.goneNow(), month });
    if (answers.length > 0 || sending === undefined || sending.sequence <= writtenSequence) return;
    writtenSequence = sending.sequence;
    books.written(instance.name, sending.batch);
  }

  const over = (embedded ? inFile : overNetwork)(sql, instance, around, committed);
  const leases = code.sqlLeases.createSqlLeases(over, sqlClock, hitReasons, split, () => holders);
  return {
    ...leases,
    async acquire(ask) {
      asks.set(ask.id, ask);
      const answer = await leases.acquire(ask);
      const denial = denials.get(answer);
      if (denial !== undefined) books.sqlDenied(denial.gone, ask, denial.month);
      return answer;
    },
    async countFirst(visits, areAwaited) {
      const counted = await leases.countFirst(visits, areAwaited);
      books.firstAnswered(instance.name, visits, counted.answers, monthName(sqlClock.now()));
      return counted;
    },
    record(recorder, sequence, batch) {
      sending = { sequence, batch };
      return leases.record(recorder, sequence, batch);
    },
  };
}

interface Taken {
  readonly id: string;
  readonly size: number;
  readonly month: string;
}

const isTaken = (result: unknown): result is { taken: Taken[] } =>
  typeof result === "object" && result !== null && "taken" in result;

const isCounted = (result: unknown): result is CountedVisits =>
  typeof result === "object" && result !== null && "answers" in result;

/** Else they are totals of months, of which there may be none. */
const isAnswers = (result: unknown): result is LeaseAnswer[] =>
  Array.isArray(result) && result.length > 0 && "kind" in result[0];
