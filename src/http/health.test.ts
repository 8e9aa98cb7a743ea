import { expect, jest, test } from "bun:test";
import { createMetrics } from "../base/metrics.ts";
import { type Readiness, watchReadiness } from "./health.ts";

test("readiness is asked for now and then, and the last answer is what Prometheus gets", async () => {
  jest.useFakeTimers();
  const metrics = createMetrics();
  const ok = { ok: true, ms: 1 };
  let answer: Readiness = { status: "ready", dependencies: { sql: ok, redis: ok } };
  const watching = watchReadiness(async () => answer, metrics);
  const lines = async () => (await metrics.scrape()).text.split("\n").filter((line) => line.startsWith("quicklink_"));
  expect(await lines()).toEqual(["quicklink_readiness 0"]);

  jest.advanceTimersByTime(1_000);
  const [sql, redis] = ["sql", "redis"].map((name) => `quicklink_dependency_up{dependency="${name}"}`);
  expect(await lines()).toEqual([`${sql} 1`, `${redis} 1`, "quicklink_readiness 0"]);

  answer = { status: "degraded", dependencies: { sql: ok, redis: { ok: false, ms: 1, error: "failed" } } };
  jest.advanceTimersByTime(15_000);
  expect(await lines()).toEqual([`${sql} 1`, `${redis} 0`, "quicklink_readiness 1"]);
  watching.stop();
  jest.useRealTimers();
});
