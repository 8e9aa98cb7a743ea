import { describe, expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createMetrics } from "../base/metrics.ts";
import type { Versioned, Visit } from "./cache.ts";
import { countCache } from "./hit-counts.ts";
import type { Shared, Ticket } from "./tier.ts";
import { createTiered } from "./tiered.ts";

interface Thing {
  readonly name: string;
}

const thing = (version: number): Versioned<Thing> => ({ version, value: { name: `v${version}` } });
const value = (version: number, left = 1): Shared<Thing> => ({ kind: "value", answer: thing(version), left });

/** A tier and a database that the test speaks for. */
function setUp({ random = 1 } = {}) {
  const state = {
    trusts: true,
    shared: { kind: "unknown" } as Shared<Thing> | Error,
    sql: thing(1) as Versioned<Thing> | Error,
    leave: true,
    tierGate: undefined as Promise<void> | undefined,
    sqlGate: undefined as Promise<void> | undefined,
  };
  const asked: string[] = [];
  const written: [Versioned<Thing>, Ticket][] = [];
  const counts = countCache(createMetrics());
  const source = createTiered<Thing>({
    tier: {
      trusts: () => state.trusts,
      async get() {
        asked.push("tier");
        await state.tierGate;
        if (state.shared instanceof Error) throw state.shared;
        return state.shared;
      },
      ticket: () => (state.leave ? { until: 7, epoch: "0" } : undefined),
      put: (_, answer, ticket) => written.push([answer, ticket]),
    },
    sql: {
      async load() {
        asked.push("sql");
        await state.sqlGate;
        if (state.sql instanceof Error) throw state.sql;
        return state.sql;
      },
    },
    counts,
    clock: manualClock(0),
    random: () => random,
  });
  const load = (atLeast = 0, visit?: Visit<Thing>) => source.load("a", atLeast, visit);
  return { state, asked, written, counts, load };
}

describe("the shared tier in front of SQL", () => {
  test("answers alone when it has what is asked for", async () => {
    const { state, asked, load, written } = setUp();
    state.shared = value(3);
    expect(await load()).toEqual(thing(3));
    expect(asked).toEqual(["tier"]);
    expect(written).toEqual([]);
  });

  test("gets SQL's answer, with a ticket taken before SQL was asked", async () => {
    const { asked, load, written } = setUp();
    expect(await load()).toEqual(thing(1));
    expect(asked).toEqual(["tier", "sql"]);
    expect(written).toEqual([[thing(1), { until: 7, epoch: "0" }]]);
  });

  test("is not written without a ticket", async () => {
    const { state, load, written } = setUp();
    state.leave = false;
    await load();
    expect(written).toEqual([]);
  });

  test.each([
    ["a fence", { kind: "fence", version: 4 }],
    ["what is past its time", value(3, 0)],
    ["what is older than what the asker knows of", value(2)],
    ["no answer", new Error("Redis is away")],
  ] as const)("sends on to SQL with %s", async (_, shared) => {
    const { state, asked, load } = setUp();
    state.shared = shared;
    state.sql = thing(4);
    expect(await load(3)).toEqual(thing(4));
    expect(asked).toEqual(["tier", "sql"]);
  });

  test("is not asked while it is not trusted, unless SQL fails", async () => {
    const { state, asked, load } = setUp();
    state.trusts = false;
    state.shared = value(1);
    expect(await load()).toEqual(thing(1));
    expect(asked).toEqual(["sql"]);
    state.sql = new Error("SQL is away");
    expect(await load()).toEqual({ ...thing(1), stale: true });
  });

  test("returns an expired value when SQL fails, but none older than a version known to exist", async () => {
    const { state, load } = setUp();
    state.sql = new Error("SQL is away");
    state.shared = value(2, -5);
    expect(await load(2)).toEqual({ ...thing(2), stale: true });
    await expect(load(3)).rejects.toThrow("SQL is away");
    for (const none of [{ kind: "fence", version: 9 }, { kind: "unknown" }, new Error("Redis is away too")] as const) {
      state.shared = none;
      await expect(load()).rejects.toThrow("SQL is away");
    }
  });

  test("returns a value that came too late for a visitor if SQL fails afterwards", async () => {
    const { state, asked, load } = setUp();
    const [tier, sql] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    [state.tierGate, state.sqlGate] = [tier.promise, sql.promise];
    state.shared = value(2);
    state.sql = new Error("SQL is away");
    const answer = load(0, { patience: { redis: 0, sql: 1_000 }, later() {} });
    while (!asked.includes("sql")) await new Promise((resolve) => setTimeout(resolve));
    tier.resolve();
    await new Promise((resolve) => setTimeout(resolve));
    sql.resolve();
    expect(await answer).toEqual({ ...thing(2), stale: true });
    expect(asked).toEqual(["tier", "sql"]);
  });

  test("counts every lookup once, as a hit or as a miss with its reason, even when SQL fails as well", async () => {
    const { state, load, counts } = setUp();
    const { hit, miss, why } = counts;
    state.shared = value(3);
    await load();
    expect([hit.redis, miss.redis]).toEqual([1, 0]);
    state.shared = new Error("Redis is away");
    state.sql = new Error("SQL is away");
    await load().catch(() => {});
    expect([miss.redis, why.failed]).toEqual([1, 1]);
    state.trusts = false;
    await load().catch(() => {});
    expect([miss.redis, why.failed, why.untrusted]).toEqual([2, 1, 1]);
    expect([hit.memory, miss.memory]).toEqual([0, 0]);
  });

  test("does not pass on an answer of SQL that is older than the version the caller knows", async () => {
    const { load, written } = setUp();
    expect(await load(5)).toEqual(thing(1));
    expect(written).toEqual([]);
  });

  test("lets one lookup in twenty renew a value in the last fifth of its life, and none before", async () => {
    const early = setUp({ random: 0 });
    early.state.shared = value(1, 0.2);
    await early.load();
    expect(early.asked).toEqual(["tier"]);

    const late = setUp({ random: 0.04 });
    late.state.shared = value(1, 0.19);
    late.state.sql = thing(2);
    expect(await late.load()).toEqual(thing(1));
    await Promise.resolve();
    expect(late.asked).toEqual(["tier", "sql"]);
    expect(late.written).toEqual([[thing(2), { until: 7, epoch: "0" }]]);

    const unlucky = setUp({ random: 0.05 });
    unlucky.state.shared = value(1, 0.01);
    await unlucky.load();
    expect(unlucky.asked).toEqual(["tier"]);
  });
});
