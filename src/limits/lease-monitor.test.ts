import { describe, expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import { createMetrics } from "../base/metrics.ts";
import type { OutagePolicy } from "./call-limiter.ts";
import { monitorLeases } from "./lease-monitor.ts";
import type { Ask, LeaseAnswer, Lender } from "./leases.ts";

const ask: Ask = { id: "a.1", key: "abc", draws: "hits", max: 1_000, want: 10 };

function world(usual: Lender = "redis", outage: OutagePolicy = "degrade") {
  const clock = manualClock(0);
  const metrics = createMetrics();
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => void lines.push(JSON.parse(line).msg) }, false, clock.now);
  let answers: Lender | "nobody" = usual;
  const monitor = monitorLeases({ usual, outage, clock, metrics, log });
  const store = monitor.of({
    async acquire(): Promise<LeaseAnswer> {
      if (answers === "nobody") throw new Error("no answer");
      return { kind: "denied", lender: answers, outstanding: false, secondsToMonthEnd: 9 };
    },
  });

  return {
    clock,
    lines,
    first: monitor.first,
    async ask(lender: Lender | "nobody", times = 1): Promise<void> {
      answers = lender;
      for (let i = 0; i < times; i++) await store.acquire(ask).catch(() => {});
    },
    async metric(name: string): Promise<number> {
      const line = (await metrics.scrape()).text.split("\n").find((one) => one.startsWith(`${name} `));
      return Number(line?.split(" ")[1]);
    },
  };
}

const state = "quicklink_hit_limits_state";

describe("how hits are limited", () => {
  test("is normal at first, whichever lender that is, and nothing is logged", async () => {
    for (const usual of ["redis", "sql"] as const) {
      const { ask, lines, metric } = world(usual);
      await ask(usual, 3);
      expect(lines).toEqual([]);
      expect(await metric(state)).toBe(0);
    }
  });

  test("by SQL instead of Redis is logged once, however many ask", async () => {
    const { ask, lines, metric } = world();
    await ask("sql", 100);
    expect(lines).toEqual(["Redis unavailable: limiting hits by SQL"]);
    expect(await metric(state)).toBe(1);
  });

  test("is as usual again after five seconds without anything worse, and told once", async () => {
    const { ask, clock, lines, metric } = world();
    await ask("sql");
    for (let ms = 0; ms < 4_900; ms += 100) {
      await ask("redis");
      clock.advance(100);
    }
    expect(await metric(state)).toBe(1);
    clock.advance(100);
    await ask("redis", 10);
    expect(await metric(state)).toBe(0);
    expect(lines.slice(1)).toEqual(["limiting hits normally again"]);
  });

  test("by a flapping Redis is logged once", async () => {
    const { ask, clock, lines } = world();
    for (let i = 0; i < 20; i++) {
      await ask(i % 2 === 0 ? "sql" : "redis");
      clock.advance(1_000);
    }
    expect(lines).toHaveLength(1);
  });

  test.each([
    ["closed", "cannot limit hits; links with a limit answer 503"],
    ["open", "cannot limit hits; visitors are allowed and counted"],
  ] as const)("by no store (%s) is logged once, with its consequence", async (outage, text) => {
    const { ask, lines, metric } = world("redis", outage);
    await ask("nobody", 50);
    expect(lines).toEqual([text]);
    expect(await metric(state)).toBe(2);
  });

  test("gets better step by step", async () => {
    const { ask, clock, lines, metric } = world();
    await ask("nobody");
    clock.advance(5_000);
    await ask("sql");
    expect(await metric(state)).toBe(1);
    clock.advance(5_000);
    await ask("redis");
    expect(await metric(state)).toBe(0);
    expect(lines).toHaveLength(3);
  });

  test("is counted by who answered", async () => {
    const { ask, metric } = world();
    await ask("redis", 3);
    await ask("sql", 2);
    await ask("nobody");
    const counted = await Promise.all(
      ["redis", "sql", "nobody"].map((by) => metric(`quicklink_leases_total{by="${by}"}`)),
    );
    expect(counted).toEqual([3, 2, 1]);
  });

  test("is counted and logged for first visits, too, which need no lease", async () => {
    const { first, lines, metric } = world("sql", "closed");
    first(7);
    expect(await metric('quicklink_leases_total{by="sql"}')).toBe(7);
    expect(await metric(state)).toBe(0);
    first(2, new Error("the disk is full"));
    expect(await metric('quicklink_leases_total{by="nobody"}')).toBe(2);
    expect(await metric(state)).toBe(2);
    expect(lines).toEqual(["cannot limit hits; links with a limit answer 503"]);
  });
});
