import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { manualClock } from "../base/clock.ts";
import { createMemoryCounters } from "../in-memory/counters.ts";
import { toRetrySeconds } from "./address-limiter.ts";
import { unavailable } from "./counters.ts";
import { createReportLimit, type ReportLimit, reportsPerHour } from "./report-limit.ts";

const clock = manualClock(Date.UTC(2026, 10, 16));
const secretFor = (purpose: string) => createHmac("sha256", "a salt for tests").update(purpose).digest();
const newLimit = () => createReportLimit({ counters: createMemoryCounters({ clock }), clock, secretFor });

async function accepted(limit: ReportLimit, address: string | undefined, times: number): Promise<number> {
  let count = 0;
  for (let i = 0; i < times; i++) if ((await limit.take(address)) === undefined) count++;
  return count;
}

test("an address may report so often in an hour, and all unknown addresses together more often", async () => {
  const limit = newLimit();
  expect(await accepted(limit, "203.0.113.7", reportsPerHour + 5)).toBe(reportsPerHour);
  expect(await accepted(limit, "203.0.113.8", 1)).toBe(1);
  expect(await accepted(limit, undefined, 120)).toBe(100);
});

test("a report is accepted while the counters are unavailable", async () => {
  const counters = { ...createMemoryCounters({ clock }), take: async () => unavailable };
  expect(await accepted(createReportLimit({ counters, clock, secretFor }), "203.0.113.7", 50)).toBe(50);
});

test("a retry is never at once, and never before there is room", () => {
  expect([0, 1, 1_000, 1_001].map(toRetrySeconds)).toEqual([1, 1, 1, 2]);
});
