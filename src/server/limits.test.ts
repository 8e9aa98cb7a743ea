import { expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import { createMetrics } from "../base/metrics.ts";
import type { EndedLease, RecordedTotal, Total } from "../limits/leases.ts";
import type { Drained } from "../limits/meters.ts";
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
