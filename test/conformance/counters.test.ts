import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { manualClock, systemClock } from "../../src/base/clock.ts";
import { getStatus, tryAcquire } from "../../src/email/outbox/charges.ts";
import { createMemoryCounters } from "../../src/in-memory/counters.ts";
import { type Charge, type Counters, type Limit, type LimitStatus, openHoldsMost } from "../../src/limits/counters.ts";
import { monthOf, monthWindow, slidingHour, slidingMinute, totalWindow, type Window } from "../../src/limits/window.ts";
import { connectRedis, type Redis, RedisUnavailable } from "../../src/redis/client.ts";
import { createRedisCounters } from "../../src/redis/counters.ts";
import { until } from "../ground/process.ts";
import { type RedisServer, redisAvailable, startRedis, startRedisSentinel } from "../ground/redis.ts";
import { type CounterStore, connected, onEachStore, patientMs } from "./counter-stores.ts";

let names = 0;
const run = crypto.randomUUID().slice(0, 8);
const newName = () => `${run}-${++names}`;

/** Short enough to see it pass on a real server. */
const quick: Window = { kind: "sliding", bucketMs: 100, buckets: 3 };
const longMs = 60_000;

function limitOf(max: number | null, window: Window = totalWindow, more: Partial<Limit> = {}): Limit {
  const name = newName();
  return { name, subject: "someone", max, window, key: `tenant:{${name}}:smtp`, ...more };
}

const charge = (limit: Limit, amount = 1): Charge => ({ limit, amount });

onEachStore((store, storeName) => {
  let counters: Counters;
  beforeEach(() => {
    counters = store().counters;
  });

  async function statusOf(limit: Limit): Promise<LimitStatus> {
    const answer = await counters.status([limit]);
    const [status] = answer.kind === "known" ? answer.limits : [];
    if (status === undefined) throw new Error(`no status: ${JSON.stringify(answer)}`);
    return status;
  }

  async function counts(limit: Limit): Promise<[used: number, held: number]> {
    const { used, held } = await statusOf(limit);
    return [used, held];
  }

  async function takeAll(limit: Limit, times: number): Promise<string[]> {
    const verdicts = await Promise.all(Array.from({ length: times }, () => counters.take(newName(), [charge(limit)])));
    return verdicts.map(({ kind }) => kind);
  }

  /** For what must be seen before it runs out: a machine that was too slow to look within `limitMs` looks again. */
  async function within(limitMs: number, look: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries++) {
      const began = await store().now();
      const isLate = async () => (await store().now()) - began >= limitMs && tries < 20;
      try {
        await look();
        return;
      } catch (error) {
        if (!(await isLate())) throw error;
      }
    }
  }

  describe("a take", () => {
    test("is granted up to the limit and denied beyond, also by many at once", async () => {
      const limit = limitOf(10, slidingHour);
      const kinds = await takeAll(limit, 25);
      expect(kinds.filter((kind) => kind === "granted")).toHaveLength(10);
      expect(kinds.filter((kind) => kind === "denied")).toHaveLength(15);
      expect(await counts(limit)).toEqual([10, 0]);
    });

    test("charges the given amount", async () => {
      const limit = limitOf(1_000_000_000);
      expect((await counters.take(newName(), [charge(limit, 900_000_000)])).kind).toBe("granted");
      expect((await counters.take(newName(), [charge(limit, 100_000_001)])).kind).toBe("denied");
      expect((await counters.take(newName(), [charge(limit, 100_000_000)])).kind).toBe("granted");
      expect(await counts(limit)).toEqual([1_000_000_000, 0]);
    });

    test("is exact at the largest amounts", async () => {
      const limit = limitOf(Number.MAX_SAFE_INTEGER);
      expect((await counters.take(newName(), [charge(limit, Number.MAX_SAFE_INTEGER - 1)])).kind).toBe("granted");
      expect((await counters.take(newName(), [charge(limit, 2)])).kind).toBe("denied");
      expect((await counters.take(newName(), [charge(limit, 1)])).kind).toBe("granted");
      expect(await counts(limit)).toEqual([Number.MAX_SAFE_INTEGER, 0]);
    });

    test("that is repeated gets the same answer and charges nothing more", async () => {
      const limit = limitOf(2, slidingHour);
      const [first, second] = [newName(), newName()];
      expect(await counters.take(first, [charge(limit)])).toEqual({ kind: "granted" });
      expect(await counters.take(first, [charge(limit)])).toEqual({ kind: "granted" });
      expect(await counts(limit)).toEqual([1, 0]);
      expect((await counters.take(second, [charge(limit, 2)])).kind).toBe("denied");
      expect((await counters.take(second, [charge(limit, 2)])).kind).toBe("denied");
      expect(await counts(limit)).toEqual([1, 0]);
    });

    test("that was denied stays denied when room is made meanwhile; a new id is granted", async () => {
      const limit = limitOf(1);
      const [first, second] = [newName(), newName()];
      await counters.take(first, [charge(limit)]);
      expect((await counters.take(second, [charge(limit)])).kind).toBe("denied");
      await counters.release(first);
      expect((await counters.take(second, [charge(limit)])).kind).toBe("denied");
      expect((await counters.take(newName(), [charge(limit)])).kind).toBe("granted");
    });

    test("under one id by many at once is charged once", async () => {
      const limit = limitOf(100, slidingHour);
      const id = newName();
      const verdicts = await Promise.all(Array.from({ length: 20 }, () => counters.take(id, [charge(limit)])));
      expect(new Set(verdicts.map(({ kind }) => kind))).toEqual(new Set(["granted"]));
      expect(await counts(limit)).toEqual([1, 0]);
    });

    test("that is released from an earlier bucket makes room at once", async () => {
      const slow: Window = { kind: "sliding", bucketMs: 1_000, buckets: 3 };
      const limit = limitOf(6, slow);
      const first = newName();
      await counters.take(first, [charge(limit, 5)]);
      await store().pass(slow.bucketMs);
      expect((await counters.take(newName(), [charge(limit)])).kind).toBe("granted");
      expect((await counters.take(newName(), [charge(limit)])).kind).toBe("denied");
      await counters.release(first);
      expect((await counters.take(newName(), [charge(limit, 5)])).kind).toBe("granted");
      expect((await counters.take(newName(), [charge(limit)])).kind).toBe("denied");
    });

    test("without limit is always granted, and counted", async () => {
      const limit = limitOf(null, monthWindow);
      expect((await counters.take(newName(), [charge(limit, 5_000_000)])).kind).toBe("granted");
      expect(await statusOf(limit)).toMatchObject({ used: 5_000_000, max: null });
    });

    test("against a limit of 0 is denied, and waiting does not help", async () => {
      const limit = limitOf(0, slidingHour);
      expect(await counters.take(newName(), [charge(limit)])).toEqual({ kind: "denied", limit, retryAfterMs: null });
      expect(await counts(limit)).toEqual([0, 0]);
    });

    test("of more than the limit is denied, and waiting does not help", async () => {
      const limit = limitOf(5, monthWindow);
      expect(await counters.take(newName(), [charge(limit, 6)])).toEqual({ kind: "denied", limit, retryAfterMs: null });
    });
  });

  describe.each([
    ["in one place", (name: string) => [`tenant:{${name}}:smtp`, `tenant:{${name}}:day`, `tenant:{${name}}:all`]],
    ["in several places", (name: string) => [`tenant:{${name}}:smtp`, `platform-aggregate-${name}`, `b:{${name}-b}:c`]],
  ] as const)("limits %s", (_, keys) => {
    function several(...maxes: number[]): Limit[] {
      const all = keys(newName());
      return maxes.map((max, i) => limitOf(max, slidingHour, { key: all[i] ?? "" }));
    }

    test("are charged all or not at all, and the denial names the limit", async () => {
      const [one, two, three] = several(5, 2, 5) as [Limit, Limit, Limit];
      const charges = [charge(one), charge(two), charge(three)];
      expect((await counters.take(newName(), charges)).kind).toBe("granted");
      expect((await counters.take(newName(), charges)).kind).toBe("granted");
      const id = newName();
      for (const _ of [1, 2]) {
        const verdict = await counters.take(id, charges);
        expect(verdict).toMatchObject({ kind: "denied", limit: two });
      }
      expect(await Promise.all([one, two, three].map(counts))).toEqual([
        [2, 0],
        [2, 0],
        [2, 0],
      ]);
    });

    test("are never overshot by many at once, and nothing is left held", async () => {
      const [one, two] = several(7, 11) as [Limit, Limit];
      const verdicts = await Promise.all(
        Array.from({ length: 30 }, () => counters.take(newName(), [charge(two), charge(one)])),
      );
      const grantedCount = verdicts.filter(({ kind }) => kind === "granted").length;
      expect(grantedCount).toBeLessThanOrEqual(7);
      expect(await Promise.all([one, two].map(counts))).toEqual([
        [grantedCount, 0],
        [grantedCount, 0],
      ]);
    });

    test("are all given back by one release, once", async () => {
      const [one, two] = several(5, 5) as [Limit, Limit];
      const id = newName();
      await counters.take(newName(), [charge(one, 1), charge(two, 1)]);
      await counters.take(id, [charge(one, 2), charge(two, 3)]);
      expect(await counters.take(id, [charge(one, 2), charge(two, 3)])).toEqual({ kind: "granted" });
      expect(await Promise.all([one, two].map(counts))).toEqual([
        [3, 0],
        [4, 0],
      ]);
      expect(await counters.release(id)).toEqual({ kind: "released" });
      expect(await counters.release(id)).toEqual({ kind: "already", how: "released" });
      expect(await counters.take(id, [charge(one, 2), charge(two, 3)])).toEqual({ kind: "closed", how: "released" });
      expect(await Promise.all([one, two].map(counts))).toEqual([
        [1, 0],
        [1, 0],
      ]);
    });

    test("are held and settled together, and a release after that changes nothing", async () => {
      const [one, two] = several(5, 5) as [Limit, Limit];
      const id = newName();
      const charges = [charge(one, 2), charge(two, 3)];
      expect(await counters.hold(id, charges, longMs)).toEqual({ kind: "granted" });
      expect(await counters.hold(id, charges, longMs)).toEqual({ kind: "granted" });
      expect(await Promise.all([one, two].map(counts))).toEqual([
        [0, 2],
        [0, 3],
      ]);
      expect(await counters.settle(id)).toEqual({ kind: "settled" });
      expect(await counters.settle(id)).toEqual({ kind: "already", how: "settled" });
      expect(await counters.release(id)).toEqual({ kind: "already", how: "settled" });
      expect(await counters.hold(id, charges, longMs)).toEqual({ kind: "granted" });
      expect(await Promise.all([one, two].map(counts))).toEqual([
        [2, 0],
        [3, 0],
      ]);
    });

    test("a hold that is denied by one leaves nothing held at the others", async () => {
      const [one, two, three] = several(5, 5, 1) as [Limit, Limit, Limit];
      await counters.take(newName(), [charge(three)]);
      const verdict = await counters.hold(newName(), [charge(one), charge(two), charge(three)], longMs);
      expect(verdict).toMatchObject({ kind: "denied", limit: three });
      expect(await Promise.all([one, two].map(counts))).toEqual([
        [0, 0],
        [0, 0],
      ]);
    });

    test("a hold that ran out is over everywhere", async () => {
      const [one, two] = several(5, 5) as [Limit, Limit];
      const id = newName();
      await counters.hold(id, [charge(one), charge(two)], 50);
      await store().pass(60);
      expect(await counters.settle(id)).toEqual({ kind: "already", how: "expired" });
      expect(await Promise.all([one, two].map(counts))).toEqual([
        [0, 0],
        [0, 0],
      ]);
    });
  });

  describe("a release", () => {
    test("of an unknown id changes nothing, nor does one of a denied id", async () => {
      const limit = limitOf(1);
      await counters.take(newName(), [charge(limit)]);
      const id = newName();
      await counters.take(id, [charge(limit)]);
      expect(await counters.release(id)).toEqual({ kind: "unknown" });
      expect(await counters.release(newName())).toEqual({ kind: "unknown" });
      expect(await counters.settle(newName())).toEqual({ kind: "unknown" });
      expect(await counts(limit)).toEqual([1, 0]);
    });

    test("by many at once gives back once", async () => {
      const limit = limitOf(10);
      await counters.take(newName(), [charge(limit, 5)]);
      const id = newName();
      await counters.take(id, [charge(limit, 5)]);
      const answers = await Promise.all(Array.from({ length: 10 }, () => counters.release(id)));
      expect(answers.filter(({ kind }) => kind === "released")).toHaveLength(1);
      expect(await counts(limit)).toEqual([5, 0]);
    });

    test("after the charge has left the window gives nothing to those that came later", async () => {
      await within(800, async () => {
        const limit = limitOf(5, quick);
        const id = newName();
        await counters.take(id, [charge(limit, 2)]);
        await store().pass(500);
        await counters.take(newName(), [charge(limit, 3)]);
        await counters.release(id);
        expect(await counts(limit)).toEqual([3, 0]);
      });
    });
  });

  describe("a hold", () => {
    test("counts until it is released, and then the id is over", async () => {
      const limit = limitOf(10);
      const id = newName();
      await counters.hold(id, [charge(limit, 8)], longMs);
      expect((await counters.take(newName(), [charge(limit, 3)])).kind).toBe("denied");
      expect(await counters.release(id)).toEqual({ kind: "released" });
      expect(await counters.release(id)).toEqual({ kind: "already", how: "released" });
      expect(await counters.settle(id)).toEqual({ kind: "already", how: "released" });
      expect(await counters.hold(id, [charge(limit, 8)], longMs)).toEqual({ kind: "closed", how: "released" });
      expect(await counts(limit)).toEqual([0, 0]);
    });

    test("runs out by itself, and nothing brings it back", async () => {
      let [limit, id] = [limitOf(10), newName()];
      await within(50, async () => {
        [limit, id] = [limitOf(10), newName()];
        await counters.hold(id, [charge(limit, 8)], 50);
        const denied = await counters.take(newName(), [charge(limit, 3)]);
        expect(denied).toMatchObject({ kind: "denied", retryAfterMs: expect.any(Number) });
      });
      await store().pass(60);
      expect(await counts(limit)).toEqual([0, 0]);
      expect(await counters.settle(id)).toEqual({ kind: "already", how: "expired" });
      expect(await counters.release(id)).toEqual({ kind: "already", how: "expired" });
      expect(await counters.hold(id, [charge(limit, 8)], longMs)).toEqual({ kind: "closed", how: "expired" });
      expect((await counters.take(newName(), [charge(limit, 10)])).kind).toBe("granted");
      expect(await counts(limit)).toEqual([10, 0]);
    });

    test("that runs out makes room, although another is still open", async () => {
      let limit = limitOf(10);
      await within(50, async () => {
        limit = limitOf(10);
        await counters.hold(newName(), [charge(limit, 4)], longMs);
        await counters.hold(newName(), [charge(limit, 5)], 50);
        expect((await counters.take(newName(), [charge(limit, 2)])).kind).toBe("denied");
      });
      await store().pass(60);
      expect((await counters.take(newName(), [charge(limit, 6)])).kind).toBe("granted");
      expect(await counts(limit)).toEqual([6, 4]);
    });

    test("settled counts from that moment on", async () => {
      let limit = limitOf(5, quick);
      await within(800, async () => {
        limit = limitOf(5, quick);
        const id = newName();
        await counters.hold(id, [charge(limit, 5)], longMs);
        await store().pass(500);
        expect(await counts(limit)).toEqual([0, 5]);
        await counters.settle(id);
        expect(await counts(limit)).toEqual([5, 0]);
      });
      await store().pass(500);
      expect(await counts(limit)).toEqual([0, 0]);
    });

    test("and a take do not share an id", async () => {
      const limit = limitOf(10);
      const [taken, held] = [newName(), newName()];
      await counters.take(taken, [charge(limit)]);
      await counters.hold(held, [charge(limit)], longMs);
      expect(await counters.hold(taken, [charge(limit)], longMs)).toEqual({ kind: "invalid", reason: "id_in_use" });
      expect(await counters.take(held, [charge(limit)])).toEqual({ kind: "invalid", reason: "id_in_use" });
      expect(await counters.settle(taken)).toEqual({ kind: "already", how: "settled" });
      expect(await counts(limit)).toEqual([1, 1]);
    });

    test("is refused when too many are open already", async () => {
      const limit = limitOf(5_000);
      const ids = Array.from({ length: openHoldsMost + 1 }, newName);
      const verdicts = await Promise.all(ids.map((id) => counters.hold(id, [charge(limit)], longMs)));
      const denied = verdicts.filter(({ kind }) => kind === "denied");
      expect(denied).toHaveLength(1);
      const [only] = denied;
      expect(only?.kind === "denied" && only.retryAfterMs !== null && only.retryAfterMs <= longMs).toBe(true);
      expect((await counters.take(newName(), [charge(limit)])).kind).toBe("granted");
    });
  });

  describe("a limit that changes", () => {
    test("is effective at once when raised", async () => {
      const limit = limitOf(1, slidingHour);
      await counters.take(newName(), [charge(limit)]);
      expect((await counters.take(newName(), [charge(limit)])).kind).toBe("denied");
      expect((await counters.take(newName(), [charge({ ...limit, max: 2 })])).kind).toBe("granted");
    });

    test("lowered below what is used grants nothing new, and nothing goes negative", async () => {
      const limit = limitOf(10);
      const lowered = { ...limit, max: 3 };
      const [taken, held] = [newName(), newName()];
      await counters.take(taken, [charge(limit, 6)]);
      await counters.hold(held, [charge(limit, 4)], longMs);
      expect((await counters.take(newName(), [charge(lowered)])).kind).toBe("denied");
      expect(await counters.settle(held)).toEqual({ kind: "settled" });
      expect(await statusOf(lowered)).toMatchObject({ used: 10, held: 0, max: 3 });
      await counters.release(taken);
      expect(await counts(lowered)).toEqual([4, 0]);
      expect((await counters.take(newName(), [charge(lowered)])).kind).toBe("denied");
    });
  });

  describe("a sliding window", () => {
    test("frees bucket by bucket, and the retry is when there is room", async () => {
      let [limit, retryAfterMs] = [limitOf(2, quick), 0];
      await within(300, async () => {
        limit = limitOf(2, quick);
        await counters.take(newName(), [charge(limit)]);
        await counters.take(newName(), [charge(limit)]);
        const denied = await counters.take(newName(), [charge(limit)]);
        if (denied.kind !== "denied" || denied.retryAfterMs === null) throw new Error(`not denied: ${denied.kind}`);
        retryAfterMs = denied.retryAfterMs;
      });
      expect(retryAfterMs).toBeGreaterThan(0);
      expect(retryAfterMs).toBeLessThanOrEqual(400);
      // The two may have been taken on both sides of a bucket's edge: then they also leave on both sides.
      await store().pass(retryAfterMs + 100);
      expect((await counters.take(newName(), [charge(limit)])).kind).toBe("granted");
    });

    test("counts its oldest bucket in full, and names the moment in which that leaves", async () => {
      const limit = limitOf(1, { kind: "sliding", bucketMs: 500, buckets: 1 });
      await counters.take(newName(), [charge(limit)]);
      const leavesAt = (await statusOf(limit)).resetsAt ?? 0;
      await store().pass(Math.max(0, leavesAt - 500 - (await store().now())));
      const before = await store().now();
      const verdict = await counters.take(newName(), [charge(limit)]);
      const after = await store().now();
      if (after >= leavesAt) return; // a machine that stops for half a second
      if (verdict.kind !== "denied" || verdict.retryAfterMs === null) throw new Error(`not denied: ${verdict.kind}`);
      expect(before + verdict.retryAfterMs).toBeLessThanOrEqual(leavesAt);
      expect(after + verdict.retryAfterMs).toBeGreaterThanOrEqual(leavesAt);
    });

    test("says when it is empty again", async () => {
      const limit = limitOf(5, slidingMinute);
      expect((await statusOf(limit)).resetsAt).toBe(null);
      await counters.take(newName(), [charge(limit)]);
      const now = await store().now();
      const { resetsAt } = await statusOf(limit);
      expect(resetsAt).toBeGreaterThan(now + 59_000);
      expect(resetsAt).toBeLessThanOrEqual(now + 61_000);
    });
  });

  test("a month is counted to its end", async () => {
    const limit = limitOf(2, monthWindow);
    await counters.take(newName(), [charge(limit, 2)]);
    const { endsAt } = monthOf(await store().now());
    expect((await statusOf(limit)).resetsAt).toBe(endsAt);
    const denied = await counters.take(newName(), [charge(limit)]);
    const leftMs = endsAt - (await store().now());
    if (denied.kind !== "denied" || denied.retryAfterMs === null) throw new Error(`not denied: ${denied.kind}`);
    expect(Math.abs(denied.retryAfterMs - leftMs)).toBeLessThan(patientMs);
  });

  describe("a seed", () => {
    const seeded = (used: number, max: number, window: Window = slidingHour) => {
      const asked = { times: 0 };
      const limit = limitOf(max, window, {
        seed: async () => {
          asked.times++;
          return used;
        },
      });
      return { limit, asked };
    };

    test("counts when nothing is known, and is asked for once", async () => {
      const { limit, asked } = seeded(3, 5);
      expect(await counts(limit)).toEqual([3, 0]);
      asked.times = 0;
      expect((await counters.take(newName(), [charge(limit, 2)])).kind).toBe("granted");
      expect((await counters.take(newName(), [charge(limit)])).kind).toBe("denied");
      expect(await counts(limit)).toEqual([5, 0]);
      expect(asked.times).toBe(1);
    });

    test("that fills the limit denies, and is not asked for by every denial", async () => {
      const { limit, asked } = seeded(5, 5, totalWindow);
      for (const _ of [1, 2, 3]) expect((await counters.take(newName(), [charge(limit)])).kind).toBe("denied");
      expect(asked.times).toBe(1);
    });

    test("is counted under a hold too", async () => {
      const { limit } = seeded(3, 5, totalWindow);
      expect((await counters.hold(newName(), [charge(limit, 3)], longMs)).kind).toBe("denied");
      const id = newName();
      expect((await counters.hold(id, [charge(limit, 2)], longMs)).kind).toBe("granted");
      await counters.settle(id);
      expect(await counts(limit)).toEqual([5, 0]);
    });

    test("that fails or is no count makes the answer unavailable, never a grant", async () => {
      const fails = limitOf(5, totalWindow, { seed: () => Promise.reject(new Error("SQL is away")) });
      expect((await counters.take(newName(), [charge(fails)])).kind).toBe("unavailable");
      expect((await counters.status([fails])).kind).toBe("unavailable");
      for (const bad of [-1, 0.5, Number.NaN]) {
        const { limit } = seeded(bad, 5);
        expect((await counters.take(newName(), [charge(limit)])).kind).toBe("unavailable");
      }
    });
  });

  describe("a sync", () => {
    test("sets what is used if it is newer, and leaves what is held", async () => {
      const limit = limitOf(100, totalWindow, { key: `quota:tenant:{${newName()}}:used` });
      const id = newName();
      await counters.hold(id, [charge(limit, 10)], longMs);
      expect(await counters.sync(limit, 40, 7)).toEqual({ kind: "synced" });
      expect(await counters.sync(limit, 99, 7)).toEqual({ kind: "older" });
      expect(await counters.sync(limit, 99, 6)).toEqual({ kind: "older" });
      expect(await counts(limit)).toEqual([40, 10]);
      expect(await counters.sync(limit, 50, 8)).toEqual({ kind: "synced" });
      await counters.release(id);
      expect(await counts(limit)).toEqual([50, 0]);
      expect((await counters.take(newName(), [charge(limit, 51)])).kind).toBe("denied");
    });

    test("below what was taken leaves nothing to give back, and never less than nothing", async () => {
      const limit = limitOf(100, totalWindow, { key: `quota:tenant:{${newName()}}:used` });
      const id = newName();
      await counters.take(id, [charge(limit, 30)]);
      await counters.sync(limit, 10, 1);
      await counters.release(id);
      expect(await counts(limit)).toEqual([0, 0]);
      expect((await counters.take(newName(), [charge(limit, 100)])).kind).toBe("granted");
      expect(await counts(limit)).toEqual([100, 0]);
    });

    test("is for totals, with counts", async () => {
      expect(await counters.sync(limitOf(1, slidingHour), 1, 1)).toEqual({ kind: "invalid", reason: "window" });
      expect(await counters.sync(limitOf(1), -1, 1)).toEqual({ kind: "invalid", reason: "amount" });
      expect(await counters.sync(limitOf(1), 1, 0.5)).toEqual({ kind: "invalid", reason: "version" });
    });
  });

  describe("a hold in sync", () => {
    const inSync = (limit: Limit, amount: number, used: number, version: number, held: number, id = newName()) =>
      counters.holdInSync(id, charge(limit, amount), longMs, { used, version, held });

    test("takes over a newer version and holds in one step, up to the limit", async () => {
      const limit = limitOf(100);
      expect(await inSync(limit, 60, 40, 7, 0)).toEqual({ kind: "granted" });
      expect(await counts(limit)).toEqual([40, 60]);
      expect((await inSync(limit, 1, 40, 7, 60)).kind).toBe("denied");
      expect(await counts(limit)).toEqual([40, 60]);
      expect((await inSync(limit, 1, 39, 8, 60)).kind).toBe("granted");
      expect(await counts(limit)).toEqual([39, 61]);
    });

    test("leaves the same version and an older one as they are", async () => {
      const limit = limitOf(100);
      await counters.sync(limit, 40, 7);
      for (const version of [7, 6]) expect((await inSync(limit, 61, 0, version, 0)).kind).toBe("denied");
      expect(await counts(limit)).toEqual([40, 0]);
      expect(await counters.sync(limit, 99, 7)).toEqual({ kind: "older" });
    });

    test("that is denied takes over the newer version all the same", async () => {
      const limit = limitOf(100);
      expect((await inSync(limit, 1, 100, 3, 0)).kind).toBe("denied");
      expect(await counts(limit)).toEqual([100, 0]);
      expect(await counters.sync(limit, 0, 3)).toEqual({ kind: "older" });
    });

    test("says that holds were lost, changes nothing then, and counts no hold that ran out", async () => {
      const limit = limitOf(100);
      await counters.hold(newName(), [charge(limit, 10)], longMs);
      const id = newName();
      expect(await inSync(limit, 1, 5, 9, 11, id)).toEqual({ kind: "lost" });
      expect(await counts(limit)).toEqual([0, 10]);
      expect(await inSync(limit, 1, 5, 9, 10, id)).toEqual({ kind: "granted" });
      expect(await counts(limit)).toEqual([5, 11]);
      const short = limitOf(100);
      await counters.hold(newName(), [charge(short, 10)], 20);
      await store().pass(30);
      expect(await inSync(short, 1, 0, 1, 10)).toEqual({ kind: "lost" });
    });

    test("that is repeated gets the same answer, whatever the truth is by then", async () => {
      const limit = limitOf(100);
      const id = newName();
      expect(await inSync(limit, 60, 40, 1, 0, id)).toEqual({ kind: "granted" });
      expect(await inSync(limit, 60, 100, 2, 500, id)).toEqual({ kind: "granted" });
      expect(await counts(limit)).toEqual([40, 60]);
      await counters.release(id);
      expect(await inSync(limit, 60, 40, 1, 0, id)).toEqual({ kind: "closed", how: "released" });
      expect(await counts(limit)).toEqual([40, 0]);
    });

    test("by many at once is granted exactly as often as it fits", async () => {
      const limit = limitOf(100);
      const verdicts = await Promise.all(Array.from({ length: 20 }, () => inSync(limit, 10, 50, 1, 0)));
      expect(verdicts.filter(({ kind }) => kind === "granted")).toHaveLength(5);
      expect(await counts(limit)).toEqual([50, 50]);
    });

    test("is for totals, with counts", async () => {
      const of = (limit: Limit, used: number, version: number, held: number) => inSync(limit, 1, used, version, held);
      expect(await of(limitOf(1, slidingHour), 1, 1, 0)).toEqual({ kind: "invalid", reason: "window" });
      expect(await of(limitOf(1), -1, 1, 0)).toEqual({ kind: "invalid", reason: "amount" });
      expect(await of(limitOf(1), 1, 1, 0.5)).toEqual({ kind: "invalid", reason: "amount" });
      expect(await of(limitOf(1), 1, -1, 0)).toEqual({ kind: "invalid", reason: "version" });
    });
  });

  test("an email through the platform counts for tenant and platform, both or neither", async () => {
    const maxes = { tenant: 3, platform: 4 };
    const [one, two] = [newName(), newName()];
    const send = async (tenant: string, provider: "smtp" | "sendgrid" = "smtp") => {
      const verdict = await tryAcquire(counters, newName(), tenant, provider, maxes);
      return verdict.kind === "denied" ? verdict.limit.name : verdict.kind;
    };
    expect([await send(one), await send(one), await send(one), await send(one)]).toEqual([
      ...["granted", "granted", "granted"],
      "emailsPerHourSmtp",
    ]);
    expect([await send(two), await send(two)]).toEqual(["granted", "platformEmailsPerHour"]);
    expect(await send(two, "sendgrid")).toBe("granted");
    const answer = await getStatus(counters, two, "smtp", maxes);
    expect(answer.kind === "known" && answer.limits.map(({ used }) => used)).toEqual([1, 4]);
  });

  describe("bad input", () => {
    const badAmounts = [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 2 ** 60];

    test.each(badAmounts)("an amount of %p is refused and changes nothing", async (amount) => {
      const limit = limitOf(10);
      const id = newName();
      const answer = { kind: "invalid", reason: "amount" } as const;
      expect(await counters.take(newName(), [charge(limit, 1), charge(limitOf(10), amount)])).toEqual(answer);
      expect(await counters.hold(newName(), [charge(limit, amount)], longMs)).toEqual(answer);
      await counters.take(id, [charge(limit, 3)]);
      expect(await counts(limit)).toEqual([3, 0]);
    });

    test("every other mistake has its name", async () => {
      const limit = limitOf(10);
      const tooMany = Array.from({ length: 9 }, () => charge(limitOf(1)));
      expect(await counters.take(newName(), [])).toEqual({ kind: "invalid", reason: "charges" });
      expect(await counters.take(newName(), tooMany)).toEqual({ kind: "invalid", reason: "charges" });
      expect(await counters.take("", [charge(limit)])).toEqual({ kind: "invalid", reason: "id" });
      expect(await counters.take("a b\r\n", [charge(limit)])).toEqual({ kind: "invalid", reason: "id" });
      expect(await counters.settle("x".repeat(201))).toEqual({ kind: "invalid", reason: "id" });
      expect(await counters.take(newName(), [charge(limit), charge(limit)])).toEqual({
        kind: "invalid",
        reason: "key",
      });
      for (const max of [-1, 1.5, Number.NaN, 2 ** 53]) {
        expect(await counters.take(newName(), [charge({ ...limit, max })])).toEqual({ kind: "invalid", reason: "max" });
      }
      for (const ttl of [0, -1, 0.5, Number.NaN, 8 * 86_400_000]) {
        expect(await counters.hold(newName(), [charge(limit)], ttl)).toEqual({ kind: "invalid", reason: "ttl" });
      }
      const window: Window = { kind: "sliding", bucketMs: 0, buckets: 60 };
      expect(await counters.take(newName(), [charge({ ...limit, window })])).toEqual({
        kind: "invalid",
        reason: "window",
      });
      expect(await counts(limit)).toEqual([0, 0]);
    });
  });

  if (storeName !== "in process") inRedis(store);
  if (storeName === "Redis Cluster") inSeveralSlots(store);
});

/** What only a store outside this process can do wrong. */
function inRedis(store: () => CounterStore): void {
  function redisOf(): Redis {
    const { redis } = store();
    if (redis === undefined) throw new Error("this store is no Redis");
    return redis;
  }
  const raw = (key: string, ...command: string[]) => redisOf().send(key, command);

  test("every windowed key runs out, and so does every id", async () => {
    const { counters } = store();
    const name = newName();
    const now = await store().now();
    for (const [window, latest] of [
      [slidingMinute, now + 62_000 + patientMs],
      [slidingHour, now + 61 * 60_000 + patientMs],
      [monthWindow, monthOf(now).endsAt],
    ] as const) {
      const limit = limitOf(10, window, { key: `w:{${name}}:${window.kind}-${newName()}` });
      const key = window.kind === "month" ? `${limit.key}:${monthOf(now).name}` : limit.key;
      const [taken, held, settled] = [newName(), newName(), newName()];
      await counters.take(taken, [charge(limit)]);
      await counters.hold(held, [charge(limit)], longMs);
      await counters.hold(settled, [charge(limit)], longMs);
      await counters.settle(settled);
      await counters.release(taken);
      const expires = Number(await raw(key, "PEXPIRETIME", key));
      expect(expires).toBeGreaterThan(now);
      expect(expires).toBeLessThanOrEqual(latest);
      const holds = `${limit.key}:holds`;
      expect(Number(await raw(holds, "PEXPIRETIME", holds))).toBeGreaterThan(now);
      for (const id of [taken, held, settled]) {
        const record = `limits:id:${id}`;
        expect(Number(await raw(record, "PTTL", record))).toBeGreaterThan(0);
      }
    }
  });

  test("keys are named as the requirements name them", async () => {
    const { counters } = store();
    const name = newName();
    await counters.hold(newName(), [charge(limitOf(10, totalWindow, { key: `quota:tenant:{${name}}:used` }))], longMs);
    expect(await raw(`quota:tenant:{${name}}:holds`, "EXISTS", `quota:tenant:{${name}}:holds`)).toBe(1);
    await counters.hold(newName(), [charge(limitOf(10, totalWindow, { key: `platform-${name}` }))], longMs);
    expect(await raw(`platform-${name}`, "EXISTS", `{platform-${name}}:holds`)).toBe(1);
  });

  describe("garbage under our key is unavailable and stays as it is", () => {
    const spoilt: readonly (readonly [string, string[]])[] = [
      ["a list", ["RPUSH", "", "x"]],
      ["a text", ["SET", "", "42"]],
      ["a hash of another format", ["HSET", "", "f", "2", "0", "1"]],
      ["a hash without a format", ["HSET", "", "0", "1"]],
      ["a bucket that is no number", ["HSET", "", "f", "1", "0", "many"]],
      ["a field that is no bucket", ["HSET", "", "f", "1", "zero", "1"]],
    ];

    test.each(spoilt)("%s as what is used", async (_, command) => {
      const { counters } = store();
      const limit = limitOf(10);
      await spoil(limit.key, command);
      await expectUntouched(limit.key, async () => {
        expect((await counters.take(newName(), [charge(limit)])).kind).toBe("unavailable");
        expect((await counters.hold(newName(), [charge(limit)], longMs)).kind).toBe("unavailable");
        expect((await counters.status([limit])).kind).toBe("unavailable");
      });
    });

    test.each([
      ["a text", ["SET", "", "42"]],
      ["another format", ["HSET", "", "f", "2"]],
      ["a hold that is none", ["HSET", "", "f", "1", "h:x", "lots"]],
    ] as const)("%s as what is held", async (_, command) => {
      const { counters } = store();
      const limit = limitOf(10);
      const holds = `${limit.key}:holds`;
      await spoil(holds, [...command]);
      await expectUntouched(holds, async () => {
        expect((await counters.take(newName(), [charge(limit)])).kind).toBe("unavailable");
        expect((await counters.status([limit])).kind).toBe("unavailable");
      });
    });

    test.each([
      ["a text", ["SET", "", "{"]],
      ["another format", ["SET", "", '{"f":"2"}']],
      ["a list", ["RPUSH", "", "x"]],
    ] as const)("%s as an id's record", async (_, command) => {
      const { counters } = store();
      // The tag of the limit, so that the record is where the ID says in a Cluster too.
      const limit = limitOf(10);
      const id = `{${limit.name}}/1`;
      await spoil(`limits:id:${id}`, [...command]);
      await expectUntouched(`limits:id:${id}`, async () => {
        expect((await counters.take(id, [charge(limit)])).kind).toBe("unavailable");
        expect((await counters.settle(id)).kind).toBe("unavailable");
        expect((await counters.release(id)).kind).toBe("unavailable");
      });
    });

    test("what became garbage after a hold is not touched by settle and release", async () => {
      const { counters } = store();
      const limit = limitOf(10);
      const id = newName();
      await counters.hold(id, [charge(limit)], longMs);
      await spoil(limit.key, ["HSET", "", "f", "2"]);
      await expectUntouched(limit.key, async () => {
        expect((await counters.settle(id)).kind).toBe("unavailable");
        expect((await counters.release(id)).kind).toBe("unavailable");
        expect((await counters.sync(limit, 1, 1)).kind).toBe("unavailable");
      });
      await raw(limit.key, "DEL", limit.key);
      expect(await counters.release(id)).toEqual({ kind: "released" });
    });

    async function spoil(key: string, [name = "", , ...rest]: readonly string[]): Promise<void> {
      await raw(key, name, key, ...rest);
    }

    async function expectUntouched(key: string, work: () => Promise<void>): Promise<void> {
      const before = await raw(key, "DUMP", key);
      await work();
      expect(await raw(key, "DUMP", key)).toEqual(before);
      expect(await raw(key, "PTTL", key)).toBe(-1);
    }
  });

  test("a bucket from the future counts from now, and is not kept until then", async () => {
    const { counters } = store();
    const limit = limitOf(5, quick);
    const future = Math.floor((await store().now()) / 100) + 1_000_000;
    await raw(limit.key, "HSET", limit.key, "f", "1", String(future), "5");
    expect((await counters.take(newName(), [charge(limit)])).kind).toBe("denied");
    await store().pass(500);
    expect((await counters.take(newName(), [charge(limit)])).kind).toBe("granted");
  });

  test("a release goes to the month it was taken from, not to this one", async () => {
    const { counters } = store();
    const limit = limitOf(10, monthWindow);
    const id = `{${limit.name}}/1`;
    const record = `limits:id:${id}`;
    await counters.take(id, [charge(limit, 4)]);
    const { name } = monthOf(await store().now());
    const aged = String(await raw(record, "GET", record)).replace(name, "2020-01");
    await raw(record, "SET", record, aged);
    expect(await counters.release(id)).toEqual({ kind: "released" });
    const answer = await counters.status([limit]);
    expect(answer.kind === "known" && answer.limits[0]?.used).toBe(4);
  });

  test("a clock of ours that is a month off counts in the server's month", async () => {
    const limit = limitOf(10, monthWindow);
    for (const off of [-40, 40]) {
      const clock = manualClock(systemClock.now() + off * 86_400_000);
      const counters = createRedisCounters({ redis: redisOf(), clock });
      const id = newName();
      expect((await counters.hold(id, [charge(limit)], longMs)).kind).toBe("granted");
      clock.advance(-off * 2 * 86_400_000);
      expect(await counters.settle(id)).toEqual({ kind: "settled" });
    }
    const answer = await store().counters.status([limit]);
    expect(answer.kind === "known" && answer.limits[0]?.used).toBe(2);
  });

  test("a server that forgot our scripts gets them again", async () => {
    const { counters } = store();
    const limit = limitOf(10);
    await counters.take(newName(), [charge(limit)]);
    await raw(limit.key, "SCRIPT", "FLUSH");
    expect((await counters.take(newName(), [charge(limit)])).kind).toBe("granted");
    expect((await counters.take(newName(), [charge(limit)])).kind).toBe("granted");
  });

  describe("calls that are lost on the way", () => {
    /** Fails the nth call, before it reaches Redis or after it ran there. */
    function failing(redis: Redis, nth: number, when: "before" | "after"): { redis: Redis; calls(): number } {
      let calls = 0;
      async function call<Result>(work: () => Promise<Result>): Promise<Result> {
        const fails = ++calls === nth;
        if (fails && when === "before") throw new RedisUnavailable(new Error("the request was lost"));
        const result = await work();
        if (fails) throw new RedisUnavailable(new Error("the reply was lost"));
        return result;
      }
      return {
        redis: {
          ...redis,
          send: (...args) => call(() => redis.send(...args)),
          script: (...args) => call(() => redis.script(...args)),
        },
        calls: () => calls,
      };
    }

    /** Two limits that a Cluster has in two places. */
    function twoPlaces(): readonly [Limit, Limit] {
      const name = newName();
      return [limitOf(5, slidingHour), limitOf(5, slidingHour, { key: `platform-aggregate-${name}` })];
    }

    async function counted(limits: readonly Limit[]): Promise<(readonly [number, number])[]> {
      const answer = await store().counters.status(limits);
      return answer.kind === "known" ? answer.limits.map(({ used, held }) => [used, held] as const) : [];
    }

    /** Does the work with each of its calls lost, both ways, until no call is left to lose. */
    async function eachLost(work: (flaky: Counters, steady: Counters) => Promise<void>): Promise<void> {
      for (const when of ["before", "after"] as const) {
        for (let nth = 1; ; nth++) {
          const { redis, calls } = failing(redisOf(), nth, when);
          await work(createRedisCounters({ redis }), store().counters);
          if (calls() < nth) break;
        }
      }
    }

    test("a take repeated under its id is granted and charged once, wherever it broke off", async () => {
      await eachLost(async (flaky, steady) => {
        const limits = twoPlaces();
        const [id, charges] = [newName(), limits.map((limit) => charge(limit, 2))];
        await flaky.take(id, charges);
        expect((await steady.take(id, charges)).kind).toBe("granted");
        expect(await counted(limits)).toEqual([
          [2, 0],
          [2, 0],
        ]);
        expect((await steady.release(id)).kind).toBe("released");
        expect(await counted(limits)).toEqual([
          [0, 0],
          [0, 0],
        ]);
      });
    });

    test("a denied take leaves nothing used, wherever it broke off", async () => {
      await eachLost(async (flaky, steady) => {
        const limits = twoPlaces();
        for (const limit of limits.slice(1)) await steady.take(newName(), [charge(limit, 5)]);
        const [id, charges] = [newName(), limits.map((limit) => charge(limit, 2))];
        expect((await flaky.take(id, charges)).kind).not.toBe("granted");
        expect((await steady.take(id, charges)).kind).toBe("denied");
        expect(await counted(limits)).toEqual([
          [0, 0],
          [5, 0],
        ]);
      });
    });

    test("a settle repeated counts once, wherever it broke off", async () => {
      await eachLost(async (flaky, steady) => {
        const limits = twoPlaces();
        const id = newName();
        await steady.hold(
          id,
          limits.map((limit) => charge(limit, 3)),
          longMs,
        );
        await flaky.settle(id);
        expect(["settled", "already"]).toContain((await steady.settle(id)).kind);
        expect(await counted(limits)).toEqual([
          [3, 0],
          [3, 0],
        ]);
      });
    });

    test("a release repeated gives back once, wherever it broke off", async () => {
      await eachLost(async (flaky, steady) => {
        const limits = twoPlaces();
        const id = newName();
        await steady.take(
          newName(),
          limits.map((limit) => charge(limit, 1)),
        );
        await steady.take(
          id,
          limits.map((limit) => charge(limit, 3)),
        );
        await flaky.release(id);
        expect(["released", "already"]).toContain((await steady.release(id)).kind);
        expect(await counted(limits)).toEqual([
          [1, 0],
          [1, 0],
        ]);
      });
    });
  });

  test("a counter that was lost under a hold is left to its seed", async () => {
    const { counters } = store();
    const limit = limitOf(10, totalWindow, { seed: async () => 6 });
    const id = newName();
    await counters.hold(id, [charge(limit, 2)], longMs);
    await raw(limit.key, "DEL", limit.key);
    await counters.settle(id);
    expect(await raw(limit.key, "EXISTS", limit.key)).toBe(0);
    expect((await counters.take(newName(), [charge(limit, 5)])).kind).toBe("denied");
  });
}

/** What only parts in several slots can do wrong. */
function inSeveralSlots(store: () => CounterStore): void {
  const age = (text: unknown) => String(text).replace(/"expiresAt":"\d+"/, '"expiresAt":"1"');

  /** Expires the part of an ID beside the limit, just before the first part is settled. */
  function runningOut(id: string, { key }: Limit): Counters {
    const { redis } = store();
    if (redis === undefined) throw new Error("this store is no Redis");
    const record = `limits:part:{${/\{(.+)\}/.exec(key)?.[1] ?? key}}:${id}`;
    const ageRecord = async () =>
      redis.send(record, ["SET", record, age(await redis.send(record, ["GET", record])), "PX", "60000"]);
    // Parts are settled side by side: each of them waits for it.
    let aged: Promise<unknown> | undefined;
    return createRedisCounters({
      redis: {
        ...redis,
        script: async (script, keys, args) => {
          if (script.text.includes("Makes a hold final")) {
            aged ??= ageRecord();
            await aged;
          }
          return await redis.script(script, keys, args);
        },
      },
    });
  }

  function twoPlaces(): readonly [Limit, Limit] {
    return [limitOf(5, slidingHour), limitOf(5, slidingHour, { key: `platform-aggregate-${newName()}` })];
  }

  async function usedOf(limits: readonly Limit[]): Promise<number[]> {
    const answer = await store().counters.status(limits);
    return answer.kind === "known" ? answer.limits.map(({ used }) => used) : [];
  }

  test.each([0, 1])(
    "a take of which part %p runs out before it is settled is unavailable, and uses nothing",
    async (which) => {
      const limits = twoPlaces();
      const [id, charges] = [newName(), limits.map((limit) => charge(limit, 2))];
      const late = limits[which as 0 | 1];
      expect((await runningOut(id, late).take(id, charges)).kind).toBe("unavailable");
      expect(await usedOf(limits)).toEqual([0, 0]);
      expect((await store().counters.take(id, charges)).kind).toBe("granted");
      expect(await usedOf(limits)).toEqual([2, 2]);
    },
  );

  test.each([0, 1])("a hold of which part %p ran out is settled in no place", async (which) => {
    const limits = twoPlaces();
    const [id, charges] = [newName(), limits.map((limit) => charge(limit, 2))];
    await store().counters.hold(id, charges, longMs);
    const late = limits[which as 0 | 1];
    expect(await runningOut(id, late).settle(id)).toEqual({ kind: "already", how: "expired" });
    expect(await usedOf(limits)).toEqual([0, 0]);
  });
}

describe("in process", () => {
  test("memory is bounded: a counter too many is unavailable, an id too many is forgotten", async () => {
    const clock = manualClock(0);
    const counters = createMemoryCounters({ clock, keysMost: 10, idsMost: 20 });
    const limits = Array.from({ length: 12 }, () => limitOf(1_000, slidingMinute));
    const kinds: string[] = [];
    for (const limit of limits) kinds.push((await counters.take(newName(), [charge(limit)])).kind);
    expect(kinds).toEqual([...Array(10).fill("granted"), "unavailable", "unavailable"]);
    const first = newName();
    const [one] = limits as [Limit];
    await counters.take(first, [charge(one)]);
    for (let i = 0; i < 30; i++) await counters.take(newName(), [charge(one)]);
    for (let i = 0; i < 30; i++) await counters.take(newName(), [charge({ ...one, max: 0 })]);
    expect(counters.size).toEqual({ keys: 10, ids: 20, denials: 2 });
    expect(await counters.release(first)).toEqual({ kind: "unknown" });
    const holds = limits.map((limit) => counters.hold(newName(), [charge(limit)], longMs));
    expect((await Promise.all(holds)).filter(({ kind }) => kind === "unavailable")).toHaveLength(2);
  });

  test("expired counters are dropped while others are used", async () => {
    const clock = manualClock(0);
    const counters = createMemoryCounters({ clock });
    for (let i = 0; i < 500; i++) await counters.take(newName(), [charge(limitOf(1, slidingMinute))]);
    expect(counters.size).toMatchObject({ keys: 500, ids: 500 });
    clock.advance(120_000);
    const limit = limitOf(null);
    for (let i = 0; i < 600; i++) await counters.settle("nobody");
    await counters.take(newName(), [charge(limit)]);
    expect(counters.size).toMatchObject({ keys: 1, ids: 1 });
  });

  test("a month ends, and a later refund has no effect", async () => {
    const clock = manualClock(Date.UTC(2026, 10, 30, 23, 59, 59));
    const counters = createMemoryCounters({ clock });
    const limit = limitOf(5, monthWindow);
    const [november, held] = [newName(), newName()];
    await counters.take(november, [charge(limit, 3)]);
    await counters.hold(held, [charge(limit, 2)], longMs);
    clock.advance(1_000);
    expect((await counters.take(newName(), [charge(limit, 3)])).kind).toBe("granted");
    expect((await counters.take(newName(), [charge(limit)])).kind).toBe("denied");
    await counters.settle(held);
    await counters.release(november);
    const answer = await counters.status([limit]);
    expect(answer.kind === "known" && answer.limits[0]).toMatchObject({ used: 5, held: 0 });
  });

  test("an id is remembered for a minute, although its month has ended", async () => {
    const clock = manualClock(Date.UTC(2026, 10, 30, 23, 59, 59));
    const counters = createMemoryCounters({ clock });
    const limit = limitOf(5, monthWindow);
    const id = newName();
    await counters.take(id, [charge(limit, 3)]);
    clock.advance(30_000);
    expect(await counters.take(id, [charge(limit, 3)])).toEqual({ kind: "granted" });
    expect(await counters.status([limit])).toMatchObject({ limits: [{ used: 0 }] });
  });

  test("a clock that is set back forgets nothing, and does not deny for longer than a window", async () => {
    const clock = manualClock(Date.UTC(2026, 10, 16));
    const counters = createMemoryCounters({ clock });
    const limit = limitOf(5, slidingHour);
    await counters.take(newName(), [charge(limit, 5)]);
    clock.set(Date.UTC(2026, 9, 16));
    expect((await counters.take(newName(), [charge(limit)])).kind).toBe("denied");
    clock.advance(61 * 60_000);
    expect((await counters.take(newName(), [charge(limit)])).kind).toBe("granted");
  });
});

if (redisAvailable()) {
  describe("a Redis that goes away", () => {
    const deadlineMs = 250;
    let server: RedisServer;
    let redis: Redis;
    let counters: Counters;
    const changes: string[] = [];
    beforeAll(async () => {
      server = await startRedis({ durable: true });
      redis = connectRedis(server.url, { deadlineMs, onChange: (state) => changes.push(state) });
      counters = createRedisCounters({ redis });
      await connected(redis);
    });
    afterAll(async () => {
      await redis.close();
      await server.stop();
    });

    // It would wait for as long as Redis is away. A busy machine adds a lot to the deadline.
    const inTimeMs = 20 * deadlineMs;
    async function timed(work: Promise<{ kind: string }>): Promise<[kind: string, inTime: boolean]> {
      const start = performance.now();
      const { kind } = await work;
      return [kind, performance.now() - start < inTimeMs];
    }
    const back = () =>
      until("Redis to be back", async () =>
        (await counters.take(newName(), [charge(limitOf(1))])).kind === "granted" ? true : undefined,
      );

    test("when killed, is unavailable in time, and what it granted still counts after a restart", async () => {
      const limit = limitOf(5, slidingHour);
      const id = newName();
      await back();
      await counters.take(id, [charge(limit, 3)]);
      changes.length = 0;
      await server.kill();
      expect(await timed(counters.take(newName(), [charge(limit)]))).toEqual(["unavailable", true]);
      expect(await timed(counters.release(id))).toEqual(["unavailable", true]);
      expect(await timed(counters.status([limit]))).toEqual(["unavailable", true]);
      await server.restart();
      await back();
      expect((await counters.take(newName(), [charge(limit, 3)])).kind).toBe("denied");
      expect(await counters.take(id, [charge(limit, 3)])).toEqual({ kind: "granted" });
      expect(changes).toEqual(["away", "ready"]);
    });

    test("when paused, is unavailable in time, and a repeated id is charged once whether or not the first got through", async () => {
      const limit = limitOf(5, slidingHour);
      await back();
      const id = newName();
      server.pause();
      try {
        expect(await timed(counters.take(id, [charge(limit)]))).toEqual(["unavailable", true]);
        expect(await timed(counters.take(id, [charge(limit)]))).toEqual(["unavailable", true]);
      } finally {
        server.resume();
      }
      await back();
      expect((await counters.take(id, [charge(limit)])).kind).toBe("granted");
      const answer = await counters.status([limit]);
      expect(answer.kind === "known" && answer.limits[0]?.used).toBe(1);
    });

    test("when silent for too long, gets a new connection", async () => {
      const impatient = connectRedis(server.url, { deadlineMs: 50, silenceMostMs: 200 });
      await connected(impatient);
      const clientId = () => until("an answer", () => impatient.send("any", ["CLIENT", "ID"]).catch(() => undefined));
      const before = await clientId();
      server.pause();
      try {
        const end = performance.now() + 400;
        while (performance.now() < end) await impatient.ping().catch(() => {});
      } finally {
        server.resume();
      }
      await connected(impatient);
      expect(await clientId()).not.toBe(before);
      await impatient.close();
    });

    test("what waits for an answer is bounded", async () => {
      const narrow = connectRedis(server.url, { deadlineMs, waitingMost: 10 });
      const narrowCounters = createRedisCounters({ redis: narrow });
      await connected(narrow);
      server.pause();
      try {
        const waiting = Array.from({ length: 10 }, () => narrowCounters.take(newName(), [charge(limitOf(1))]));
        const beyond = narrowCounters.take(newName(), [charge(limitOf(1))]);
        const first = await Promise.race([
          ...waiting.map((one) => one.then(() => "one that waits")),
          beyond.then(({ kind }) => kind),
        ]);
        expect(first).toBe("unavailable");
        await Promise.all(waiting);
      } finally {
        server.resume();
        await narrow.close();
      }
    });

    test("behind sentinels is found, and found again after its master is lost", async () => {
      const watched = await startRedisSentinel();
      const found = connectRedis(watched.url, { deadlineMs });
      const foundCounters = createRedisCounters({ redis: found });
      try {
        await connected(found);
        expect((await foundCounters.take(newName(), [charge(limitOf(1))])).kind).toBe("granted");
        await watched.master.kill();
        expect(await timed(foundCounters.take(newName(), [charge(limitOf(1))]))).toEqual(["unavailable", true]);
        await until(
          "the replica to take over",
          async () => {
            const { kind } = await foundCounters.take(newName(), [charge(limitOf(1))]);
            return kind === "granted" ? true : undefined;
          },
          25_000,
        );
      } finally {
        await found.close();
        await watched.stop();
      }
    });

    test("a server that comes later than we do is found", async () => {
      const late = await startRedis();
      await late.kill();
      const early = connectRedis(late.url, { deadlineMs });
      const earlyCounters = createRedisCounters({ redis: early });
      expect((await earlyCounters.take(newName(), [charge(limitOf(1))])).kind).toBe("unavailable");
      await late.restart();
      await connected(early);
      expect((await earlyCounters.take(newName(), [charge(limitOf(1))])).kind).toBe("granted");
      await early.close();
      await late.stop();
    });
  });
}
