import { expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import { createMetrics } from "../base/metrics.ts";
import type { EndedLease, RecordedTotal, Total } from "../limits/leases.ts";
import type { Drained, LinkHits } from "../limits/meters.ts";
import type { RedisLeases } from "../redis/leases.ts";
import type { SqlLeases } from "../sql/leases.ts";
import { startCounting } from "./limits.ts";

const clock = manualClock(Date.UTC(2026, 10, 16));
const month = { key: "abc", draws: "hits", month: "2026-11" } as const;

test("what was spent of a lease from Redis is recorded in SQL, and Redis learns the total and what is left", async () => {
  const [seen, ended, recorded]: [Total[], EndedLease[], Drained[]] = [[], [], []];
  const total: RecordedTotal = { ...month, total: 7, counted: 7 };
  const fromSql: SqlLeases = {
    acquire: () => Promise.reject(new Error("not asked")),
    cancel() {},
    countFirst: () => Promise.reject(new Error("not asked")),
    async record(_, __, drained) {
      recorded.push(...drained);
      return [total];
    },
    total: async () => 0,
  };
  const fromRedis: RedisLeases = {
    acquire: async ({ id }) => ({
      ...{ kind: "granted", lender: "redis", lease: id, size: 3, month: month.month, validForMs: 5_000 },
    }),
    cancel() {},
    seen: (totals) => void seen.push(...totals),
    raise: async () => {},
    end: (leases) => void ended.push(...leases),
    flush: async () => {},
  };
  const counting = startCounting({
    ...{ id: "server", fromSql, fromRedis, embedded: false, outage: "closed", visitorsBreakerOf: undefined },
    ...{ wait: { redis: 50, sql: 100 }, onRecorded() {}, clock, metrics: createMetrics() },
    log: createLog("silent", { write() {} }, false, clock.now),
  });
  const { meters } = counting;
  expect(await meters.spend(meters.of("abc"), "hits", 1_000, 0)).toEqual({ kind: "granted" });
  await counting.close();
  expect(recorded.reduce((sum, { units }) => sum + units, 0)).toBe(1);
  expect(seen).toContainEqual(total);
  expect(ended).toEqual([{ ...month, lease: "server.1", unspent: 2 }]);
});

test("on SQLite, first visits of a turn are counted together, without a lease, and reported as recorded", async () => {
  const asked: string[][] = [];
  const recorded: [hits: LinkHits[], totals: RecordedTotal[]][] = [];
  const fromSql: SqlLeases = {
    acquire: () => Promise.reject(new Error("not asked")),
    cancel() {},
    async countFirst(visits) {
      asked.push(visits.map(({ key }) => key));
      return {
        answers: visits.map(() => ({ kind: "counted", month: month.month })),
        totals: visits.map(({ key }) => ({ ...month, key, total: 4, counted: 3 })),
      };
    },
    record: () => Promise.reject(new Error("nothing is left to record")),
    total: async () => 0,
  };
  const counting = startCounting({
    ...{ id: "server", fromSql, fromRedis: undefined, embedded: true, outage: "closed", visitorsBreakerOf: undefined },
    ...{ wait: { redis: 50, sql: 100 }, clock, metrics: createMetrics() },
    onRecorded: (hits, totals) => void recorded.push([[...hits], [...totals]]),
    log: createLog("silent", { write() {} }, false, clock.now),
  });
  const { meters } = counting;
  const keys = ["a", "b", "c"];
  const verdicts = await Promise.all(keys.map((key) => meters.spend(meters.of(key), "hits", 1_000, 0)));
  expect(verdicts.map(({ kind }) => kind)).toEqual(["granted", "granted", "granted"]);
  await counting.close();
  expect(asked).toEqual([keys]);
  expect(recorded).toEqual([
    [keys.map((key) => ({ key, units: 1 })), keys.map((key) => ({ ...month, key, total: 4, counted: 3 }))],
  ]);
});

test("on SQLite, first visits are not counted after their visitors have waited as long as they do", async () => {
  let areAwaited = () => true;
  const fromSql: SqlLeases = {
    acquire: () => Promise.reject(new Error("not asked")),
    cancel() {},
    countFirst(_, asked) {
      areAwaited = asked;
      return new Promise(() => {});
    },
    record: () => Promise.reject(new Error("nothing is left to record")),
    total: async () => 0,
  };
  const counting = startCounting({
    ...{ id: "server", fromSql, fromRedis: undefined, embedded: true, outage: "closed", visitorsBreakerOf: undefined },
    ...{ wait: { redis: 5, sql: 10 }, onRecorded() {}, clock, metrics: createMetrics() },
    log: createLog("silent", { write() {} }, false, clock.now),
  });
  const { meters } = counting;
  const verdict = meters.spend(meters.of("abc"), "hits", 1_000, 0);
  await new Promise(setImmediate);
  expect(areAwaited()).toBe(true);
  expect((await verdict).kind).toBe("unavailable");
  expect(areAwaited()).toBe(false);
  await counting.close();
});
