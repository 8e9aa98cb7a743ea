import { expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createMetrics } from "../base/metrics.ts";
import { type Dependency, type Readiness, readiness, watchReadiness } from "./health.ts";

test("a server is ready with all of its dependencies, degraded while it redirects without one, and unready otherwise", async () => {
  const well: Dependency = { name: "sql", ping: async () => {} };
  const broken = new Error("postgres://user:secret@db.internal is unavailable");
  const away: Dependency = { name: "redis", ping: () => Promise.reject(broken) };
  const status = async (dependencies: readonly Dependency[], canRedirect: boolean) =>
    (await readiness(dependencies, () => canRedirect, manualClock(0))).status;
  expect(await status([well, { ...well, name: "redis" }], true)).toBe("ready");
  expect(await status([well, away], true)).toBe("degraded");
  expect(await status([well, away], false)).toBe("unready");
  const { dependencies } = await readiness([away], () => true, manualClock(0));
  expect(dependencies).toEqual({ redis: { ok: false, ms: 0, error: "failed" } });
});

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
