import { expect, test } from "bun:test";
import { createMetrics } from "../base/metrics.ts";
import { type Readiness, watchReadiness } from "./health.ts";

test("readiness is asked for now and then, and the last answer is what Prometheus gets", async () => {
  const metrics = createMetrics();
  const ok = { ok: true, ms: 1 };
  let answer: Readiness = { status: "ready", dependencies: { sql: ok, redis: ok } };
  const poll = watchReadiness(async () => answer, metrics);
  const lines = async () => (await metrics.scrape()).text.split("\n").filter((line) => line.startsWith("quicklink_"));
  expect(await lines()).toEqual(["quicklink_readiness 0"]);

  await poll();
  const [sql, redis] = ["sql", "redis"].map((name) => `quicklink_dependency_up{dependency="${name}"}`);
  expect(await lines()).toEqual([`${sql} 1`, `${redis} 1`, "quicklink_readiness 0"]);

  answer = { status: "degraded", dependencies: { sql: ok, redis: { ok: false, ms: 1, error: "failed" } } };
  await poll();
  expect(await lines()).toEqual([`${sql} 1`, `${redis} 0`, "quicklink_readiness 1"]);
});
