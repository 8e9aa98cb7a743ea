import { beforeEach, describe, expect, test } from "bun:test";
import { type ManualClock, manualClock } from "../base/clock.ts";
import { createMemoryCounters } from "../in-memory/counters.ts";
import {
  type CallLimiter,
  type CallOutcome,
  callLimits,
  callOutcomes,
  createCallLimiter,
  type OutagePolicy,
} from "./call-limiter.ts";
import { type Counters, type Limit, unavailable } from "./counters.ts";

const start = Date.UTC(2026, 10, 16);
const tag = "ten_1";

const limitsOf = (tenant: number | null, key: number | null): Limit[] =>
  callLimits({ tenant: { id: tag, max: tenant }, key: { id: "key_1", max: key } });

describe("a limiter of calls", () => {
  let clock: ManualClock;
  let store: Counters;
  let isAway: boolean;
  let asked: number;
  let said: string[];
  let count: Record<CallOutcome, number>;

  beforeEach(() => {
    clock = manualClock(start);
    store = createMemoryCounters({ clock });
    isAway = false;
    asked = 0;
    said = [];
    count = Object.fromEntries(callOutcomes.map((outcome) => [outcome, 0])) as typeof count;
  });

  /** One of several processes that count in the same store, which may be away. */
  function process(policy: OutagePolicy): CallLimiter {
    const counters: Counters = {
      ...store,
      take: async (id, charges) => {
        asked++;
        return isAway ? unavailable : await store.take(id, charges);
      },
      status: async (limits) => (isAway ? unavailable : await store.status(limits)),
    };
    const changed = (state: string) => void said.push(state);
    return createCallLimiter({ counters, own: createMemoryCounters({ clock }), policy, clock, count, changed });
  }

  async function calls(limiter: CallLimiter, times: number, limits: readonly Limit[]): Promise<number> {
    let granted = 0;
    for (let i = 0; i < times; i++) if ((await limiter.ask(tag, limits)).kind === "granted") granted++;
    return granted;
  }

  test("grants as many as the limit, and says what is left after each", async () => {
    const limiter = process("degrade");
    const left: number[] = [];
    for (let i = 0; i < 3; i++) {
      const answer = await limiter.ask(tag, limitsOf(3, null));
      if (answer.kind === "granted") left.push(3 - (answer.limits[0]?.used ?? 0));
    }
    expect(left).toEqual([2, 1, 0]);
    clock.advance(20_500);
    const denied = await limiter.ask(tag, limitsOf(3, null));
    expect(denied).toMatchObject({ kind: "denied", retryAfterMs: 40_500, limit: { name: "apiPerMinute" } });
    clock.advance(40_500);
    expect(await calls(limiter, 5, limitsOf(3, null))).toBe(3);
    expect(count).toEqual({ granted: 6, denied: 3, degraded: 0, open: 0, unavailable: 0 });
  });

  test("charges the tenant nothing for what the key is denied", async () => {
    const limiter = process("degrade");
    expect(await calls(limiter, 9, limitsOf(10, 2))).toBe(2);
    expect(await calls(limiter, 9, limitsOf(10, null))).toBe(8);
  });

  test("counts every tenant and every key by itself", async () => {
    const limiter = process("degrade");
    const [one, other] = ["ten_1", "ten_2"].map((id) =>
      callLimits({ tenant: { id, max: 3 }, key: { id: "key_1", max: 2 } }),
    );
    expect(await calls(limiter, 3, one ?? [])).toBe(2);
    expect(await calls(limiter, 3, other ?? [])).toBe(2);
    expect(await calls(limiter, 3, callLimits({ tenant: { id: "ten_1", max: 3 }, key: { id: "key_2", max: 2 } }))).toBe(
      1,
    );
  });

  test("denies everything at a limit of 0, and says when to look again", async () => {
    expect(await process("degrade").ask(tag, limitsOf(0, null))).toMatchObject({
      kind: "denied",
      retryAfterMs: 60_000,
    });
  });

  test("asks no counters without a limit", async () => {
    isAway = true;
    expect(await calls(process("closed"), 5, limitsOf(null, null))).toBe(5);
    expect(asked).toBe(0);
  });

  describe("while the counters are unavailable", () => {
    test("and the policy is degrade, lets each process grant the limit, going on from what it granted before", async () => {
      const [one, two] = [process("degrade"), process("degrade")];
      expect(await calls(one, 4, limitsOf(10, null))).toBe(4);
      isAway = true;
      expect(await calls(one, 20, limitsOf(10, null))).toBe(6);
      expect(await calls(two, 20, limitsOf(10, null))).toBe(10);
      expect(count).toEqual({ granted: 4, denied: 0, degraded: 40, open: 0, unavailable: 0 });
    });

    test("and the policy is open, grants whatever comes", async () => {
      isAway = true;
      expect(await calls(process("open"), 20, limitsOf(10, null))).toBe(20);
      expect(count.open).toBe(20);
    });

    test("and the policy is closed, is unavailable and never denied", async () => {
      const limiter = process("closed");
      isAway = true;
      expect(await limiter.ask(tag, limitsOf(10, null))).toEqual({ kind: "unavailable", retryAfterMs: 1_000 });
      expect(count.unavailable).toBe(1);
    });

    test("says so once, asks again once a second, and says once that it is over", async () => {
      const limiter = process("degrade");
      isAway = true;
      await calls(limiter, 50, limitsOf(100, null));
      expect(asked).toBe(1);
      clock.advance(1_000);
      await Promise.all([calls(limiter, 5, limitsOf(100, null)), calls(limiter, 5, limitsOf(100, null))]);
      expect(asked).toBe(2);
      expect(said).toEqual(["away"]);
      isAway = false;
      clock.advance(1_000);
      expect(await calls(limiter, 5, limitsOf(100, null))).toBe(5);
      expect(said).toEqual(["away", "answered"]);
      expect(count.granted).toBe(5);
    });
  });
});
