import { describe, expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { largestLease, leaseSize } from "./lease-size.ts";
import type { Ask, FirstAnswer, FirstVisit, LeaseAnswer } from "./leases.ts";
import { createMeters, type Drained } from "./meters.ts";
import { createMonth, monthEnd, monthName, monthOf, secondsToMonthEnd } from "./window.ts";

const start = Date.UTC(2026, 10, 16);

/** A store that grants what `leaseSize` says, of a limit it keeps itself, and can be told to fail. */
function world(max: number, open?: boolean, countFirst?: (visit: FirstVisit) => Promise<FirstAnswer>) {
  const clock = manualClock(start);
  const asks: Ask[] = [];
  const given = new Map<string, number>();
  let out = 0;
  let broken: "before" | "after" | undefined;
  let flushes = 0;
  const store = {
    async acquire(ask: Ask): Promise<LeaseAnswer> {
      asks.push(ask);
      if (broken === "before") throw new Error("no answer");
      let size = given.get(ask.id);
      if (size === undefined) {
        size = leaseSize({ want: ask.want, max: ask.max, remaining: max - out, holders: 1 });
        out += size;
        given.set(ask.id, size);
      }
      if (broken === "after") throw new Error("the answer was lost");
      if (size === 0)
        return { kind: "denied", lender: "sql", outstanding: false, secondsToMonthEnd: secondsToMonthEnd(clock.now()) };
      return { kind: "granted", lender: "sql", lease: ask.id, size, month: monthName(clock.now()), validForMs: 5_000 };
    },
  };
  let ids = 0;
  const meters = createMeters({
    reasons: 2,
    store,
    countFirst,
    clock,
    month: () => monthName(clock.now()),
    newLeaseId: () => `lease-${++ids}`,
    patience: { redis: 50, sql: 100 },
    ...(open !== undefined && { open }),
    usedUp: () => {},
    async flush() {
      flushes++;
      meters.acknowledge(meters.drain("usual"));
    },
  });
  return {
    clock,
    asks,
    meters,
    meter: meters.of("abc"),
    flushes: () => flushes,
    out: () => out,
    fail(how: typeof broken) {
      broken = how;
    },
  };
}

/** The same, where the lender counts first visits, as soon as the test lets it. */
function firstWorld(max: number, open?: boolean) {
  const firsts: FirstVisit[] = [];
  const pending: PromiseWithResolvers<FirstAnswer>[] = [];
  const counting = world(max, open, (visit) => {
    firsts.push(visit);
    const answered = Promise.withResolvers<FirstAnswer>();
    pending.push(answered);
    return answered.promise;
  });
  const now = () => counting.clock.now();
  return {
    ...counting,
    firsts,
    count: () => pending.shift()?.resolve({ kind: "counted", month: monthName(now()) }),
    deny: () =>
      pending.shift()?.resolve({
        ...{ kind: "denied", lender: "sql", outstanding: false, secondsToMonthEnd: secondsToMonthEnd(now()) },
      }),
    break: () => pending.shift()?.reject(new Error("no answer")),
  };
}

const units = (drained: readonly Drained[]) => drained.reduce((sum, one) => sum + one.units, 0);

describe("a first visit", () => {
  test("is counted without a lease, and leaves nothing to record", async () => {
    const { meters, meter, asks, firsts, count } = firstWorld(10_000);
    const verdict = meters.spend(meter, "exempt", 10_000, 1);
    expect(firsts).toMatchObject([{ key: "abc", draws: "exempt", max: 10_000, reason: 1 }]);
    count();
    expect(await verdict).toEqual({ kind: "granted" });
    expect(asks).toEqual([]);
    expect(meters.drain("everything")).toEqual([]);
    expect(meters.size).toBe(0);
  });

  test("is one: who comes while it is counted, or soon after it, takes a lease", async () => {
    const { meters, meter, clock, asks, firsts, count } = firstWorld(10_000);
    const verdicts = [meters.spend(meter, "hits", 10_000, 0), meters.spend(meter, "hits", 10_000, 0)];
    count();
    for (const verdict of await Promise.all(verdicts)) expect(verdict).toEqual({ kind: "granted" });
    expect(firsts).toHaveLength(1);
    expect(asks).toHaveLength(1);
    clock.advance(6_000);
    for (let i = 0; i < 2; i++) meters.acknowledge(meters.drain("usual"));
    expect(meters.size).toBe(0);
    clock.advance(4_000);
    const soon = meters.of("abc", meter);
    await meters.spend(soon, "hits", 10_000, 0);
    expect(asks).toHaveLength(2);
    expect(firsts).toHaveLength(1);
    clock.advance(6_000);
    for (let i = 0; i < 2; i++) meters.acknowledge(meters.drain("usual"));
    clock.advance(5_000);
    void meters.spend(meters.of("abc", soon), "hits", 10_000, 0);
    expect(firsts).toHaveLength(2);
  });

  test("is denied like any other, and those who follow are denied without asking", async () => {
    const { meters, meter, firsts, asks, deny } = firstWorld(10_000);
    const verdict = meters.spend(meter, "hits", 10_000, 0);
    deny();
    expect(await verdict).toMatchObject({ kind: "denied", retryAfterSeconds: secondsToMonthEnd(start) });
    expect(await meters.spend(meter, "hits", 10_000, 0)).toMatchObject({ kind: "denied" });
    expect([firsts.length, asks.length]).toEqual([1, 0]);
  });

  test("that cannot be counted is answered by the policy", async () => {
    const closed = firstWorld(10_000);
    const refused = closed.meters.spend(closed.meter, "hits", 10_000, 0);
    closed.break();
    expect(await refused).toEqual({ kind: "unavailable", retryAfterSeconds: 2 });
    expect(closed.meters.drain("everything")).toEqual([]);
    const open = firstWorld(10_000, true);
    const allowed = open.meters.spend(open.meter, "hits", 10_000, 0);
    open.break();
    expect(await allowed).toEqual({ kind: "granted" });
    expect(open.meters.drain("everything")).toMatchObject([{ units: 1, leased: 0 }]);
  });
});

describe("spending", () => {
  test("a limit is granted to the last unit and not beyond", async () => {
    const { meters, meter } = world(25);
    const verdicts = [];
    for (let i = 0; i < 40; i++) verdicts.push((await meters.spend(meter, "hits", 25, 0)).kind);
    expect(verdicts.filter((kind) => kind === "granted")).toHaveLength(25);
    expect(verdicts.filter((kind) => kind === "denied")).toHaveLength(15);
  });

  test("a crowd of visitors of a link with a small limit: as many are granted as it has, and none is unavailable", async () => {
    const { meters, meter } = world(100);
    const verdicts = await Promise.all(Array.from({ length: 200 }, () => meters.spend(meter, "hits", 100, 0)));
    expect(verdicts.filter(({ kind }) => kind === "granted")).toHaveLength(100);
    expect(verdicts.filter(({ kind }) => kind === "denied")).toHaveLength(100);
  });

  test("while a lease lasts the answer comes without waiting", async () => {
    const { meters, meter, asks } = world(10_000);
    await meters.spend(meter, "hits", 10_000, 0);
    for (let i = 0; i < 9; i++) expect(meters.spend(meter, "hits", 10_000, 0)).toEqual({ kind: "granted" });
    expect(asks).toHaveLength(1);
  });

  test("the rest of a lease that one visitor used is returned with the recording of the visit", async () => {
    const { meters, meter, clock } = world(10_000);
    await meters.spend(meter, "hits", 10_000, 0);
    clock.advance(1_000);
    const drained = meters.drain("usual");
    expect(drained).toMatchObject([{ units: 1, leased: 1, unspent: 9, lease: "lease-1" }]);
    meters.acknowledge(drained);
    expect(meters.drain("usual")).toEqual([]);
    expect(meters.size).toBe(0);
  });

  test("a link that is visited again soon keeps its next lease", async () => {
    const { meters, meter, clock, asks } = world(10_000);
    await meters.spend(meter, "hits", 10_000, 0);
    clock.advance(1_000);
    for (let i = 0; i < 2; i++) meters.acknowledge(meters.drain("usual"));
    clock.advance(1_000);
    const again = meters.of("abc", meter);
    await meters.spend(again, "hits", 10_000, 0);
    clock.advance(1_000);
    expect(meters.drain("usual")).toMatchObject([{ units: 1, unspent: 0 }]);
    expect(meters.spend(again, "hits", 10_000, 0)).toEqual({ kind: "granted" });
    expect(asks).toHaveLength(2);
  });

  test("a lease that was lent a moment before the recording is kept: the link may be busy", async () => {
    const { meters, meter, clock } = world(10_000);
    await meters.spend(meter, "hits", 10_000, 0);
    clock.advance(10);
    expect(meters.drain("usual")).toMatchObject([{ units: 1, unspent: 0 }]);
    expect(meters.spend(meter, "hits", 10_000, 0)).toEqual({ kind: "granted" });
  });

  test("those who come together wait for one lease", async () => {
    const { meters, meter, asks } = world(10_000);
    const all = await Promise.all(Array.from({ length: 4 }, () => meters.spend(meter, "hits", 10_000, 0)));
    expect(all.every((verdict) => verdict.kind === "granted")).toBe(true);
    expect(asks).toHaveLength(1);
  });

  test("the leases of a hot link grow until they last about a second, and shrink again with its traffic", async () => {
    const { meters, meter, asks, clock } = world(10_000_000);
    const visit = async (times: number, everyMs: number) => {
      for (let i = 0; i < times; i++) {
        await meters.spend(meter, "hits", 100_000, 0);
        clock.advance(everyMs);
      }
    };
    const perSecond = 1_000 / 2;
    await visit(2 * perSecond, 2);
    const wants = asks.map(({ want }) => want);
    expect(wants).toEqual(wants.toSorted((a, b) => a - b));
    expect(Math.abs((wants.at(-1) ?? 0) - perSecond)).toBeLessThanOrEqual(1);
    expect(asks.length).toBeLessThan(12);
    await visit(2_000, 2);
    expect(asks.slice(wants.length).every(({ want }) => Math.abs(want - perSecond) <= perSecond / 20)).toBe(true);
    await visit(2 * perSecond + 40, 100);
    expect(Math.abs((asks.at(-1)?.want ?? 0) - 1_000 / 100)).toBeLessThanOrEqual(2);
  });

  test("visits and exempt requests have a limit each", async () => {
    const { meters, meter, asks } = world(10_000);
    await meters.spend(meter, "hits", 10_000, 0);
    await meters.spend(meter, "exempt", 10_000, 1);
    expect(asks.map((ask) => ask.draws)).toEqual(["hits", "exempt"]);
  });

  test("a denial is remembered for a second and then asked again", async () => {
    const { meters, meter, asks, clock } = world(1);
    await meters.spend(meter, "hits", 1, 0);
    expect((await meters.spend(meter, "hits", 1, 0)).kind).toBe("denied");
    expect((await meters.spend(meter, "hits", 1, 0)).kind).toBe("denied");
    expect(asks).toHaveLength(2);
    clock.advance(1_001);
    await meters.spend(meter, "hits", 1, 0);
    expect(asks).toHaveLength(3);
  });

  test("a denial says when to come back: at the month's end when nothing is outstanding", async () => {
    const { meters, meter } = world(1);
    await meters.spend(meter, "hits", 1, 0);
    const verdict = await meters.spend(meter, "hits", 1, 0);
    expect(verdict).toEqual({ kind: "denied", retryAfterSeconds: (monthEnd(start) - start) / 1_000 });
  });

  test("a lease goes back to its own month, though its limit is gone and our clock is in another", async () => {
    const { meters, meter, clock } = world(10_000);
    await meters.spend(meter, "hits", 10_000, 0);
    clock.set(monthEnd(start) + 1);
    meters.spend(meter, "hits", null, 0);
    const drained = meters.drain("everything");
    expect(drained.map(({ month, units, unspent }) => [month, units, unspent])).toEqual([
      ["2026-11", 0, 9],
      ["2026-11", 1, 0],
      ["2026-12", 1, 0],
    ]);
  });

  test("a denial that arrives late is remembered for a second from when it was asked for", async () => {
    const clock = manualClock(start);
    let asks = 0;
    const meters = createMeters({
      reasons: 1,
      store: {
        async acquire() {
          asks++;
          clock.advance(900);
          return { kind: "denied", lender: "sql", outstanding: false, secondsToMonthEnd: 9 };
        },
      },
      clock,
      month: () => monthName(clock.now()),
      newLeaseId: () => "lease",
      patience: { redis: 50, sql: 100 },
      usedUp: () => {},
      flush: async () => {},
    });
    const visit = () => meters.spend(meters.of("abc"), "hits", 10, 0);
    expect((await visit()).kind).toBe("denied");
    clock.advance(99);
    await visit();
    expect(asks).toBe(1);
    clock.advance(1);
    await visit();
    expect(asks).toBe(2);
  });

  test("without a limit every hit is granted and counted, and no lease is requested", () => {
    const { meters, meter, asks } = world(0);
    for (let i = 0; i < 50; i++) expect(meters.spend(meter, "hits", null, 0)).toEqual({ kind: "granted" });
    expect(asks).toHaveLength(0);
    expect(units(meters.drain("usual"))).toBe(50);
  });
});

describe("asking ahead", () => {
  /** One visit, and whether it waited. */
  async function visit({ meters, meter, clock }: ReturnType<typeof world>, max: number, everyMs: number) {
    const verdict = meters.spend(meter, "hits", max, 0);
    const waited = verdict instanceof Promise;
    expect((await verdict).kind).toBe("granted");
    await Bun.sleep(0); // the recorder and the store have their turn
    clock.advance(everyMs);
    return waited;
  }

  test("visitors of a busy link wait for its first lease and never again", async () => {
    const scene = world(10_000_000);
    let waited = 0;
    for (let i = 0; i < 3_000; i++) {
      if (await visit(scene, 100_000, 2)) waited++;
      if (i % 100 === 0) scene.meters.acknowledge(scene.meters.drain("usual"));
    }
    expect(waited).toBe(1);
  });

  test("a lease in its last second is followed by the next, though most of it is left", async () => {
    const scene = world(100_000);
    await visit(scene, 10_000, 4_100);
    expect(await visit(scene, 10_000, 1_000)).toBe(false);
    expect(scene.asks).toHaveLength(2);
    expect(await visit(scene, 10_000, 0)).toBe(false);
    expect(scene.meters.drain("usual").map(({ units, unspent }) => [units, unspent])).toEqual([
      [0, 8],
      [3, 0],
    ]);
  });

  test("a link that is rarely visited gets no second lease", async () => {
    const scene = world(100_000);
    for (let i = 0; i < 7; i++) await visit(scene, 10_000, 400);
    expect(scene.asks).toHaveLength(1);
  });

  test("is skipped while unspent and unrecorded units exceed the largest lease", async () => {
    const scene = world(100_000);
    const most = largestLease(1_000); // 10 units
    for (let i = 0; i < most; i++) await visit(scene, 1_000, 1);
    expect(scene.asks).toHaveLength(2); // the first, and the one after it
    for (let i = 0; i < most - 1; i++) await visit(scene, 1_000, 1);
    expect(scene.asks).toHaveLength(2);
    scene.meters.acknowledge(scene.meters.drain("usual"));
    scene.clock.advance(100);
    await visit(scene, 1_000, 1);
    expect(await visit(scene, 1_000, 1)).toBe(false);
    expect(scene.asks).toHaveLength(3);
  });

  test("that fails is repeated under its id, after a second, and costs no visitor anything", async () => {
    const scene = world(100_000);
    for (let i = 0; i < 4; i++) await visit(scene, 10_000, 1);
    scene.fail("after");
    for (let i = 0; i < 4; i++) expect(await visit(scene, 10_000, 1)).toBe(false);
    expect(scene.asks).toHaveLength(2);
    scene.fail(undefined);
    scene.clock.advance(1_000);
    expect(await visit(scene, 10_000, 1)).toBe(false);
    expect(scene.asks.map(({ id }) => id)).toEqual(["lease-1", "lease-2", "lease-2"]);
    expect(scene.out()).toBe(20);
  });

  test("a lease that is ready and never used is returned once", async () => {
    const scene = world(100_000);
    for (let i = 0; i < 6; i++) await visit(scene, 10_000, 1);
    expect(scene.asks).toHaveLength(2);
    const unspent = () => scene.meters.drain("usual").reduce((sum, one) => sum + one.unspent, 0);
    scene.clock.advance(5_000);
    expect(unspent()).toBe(10 - 6 + 10);
    expect(unspent()).toBe(0);
  });
});

describe("a store in trouble", () => {
  test("a visitor waits as long as their patience lasts; the lease that comes later serves the next one", async () => {
    const clock = manualClock(start);
    const answer = Promise.withResolvers<LeaseAnswer>();
    const meters = createMeters({
      reasons: 1,
      store: { acquire: () => answer.promise },
      clock,
      month: () => monthName(clock.now()),
      newLeaseId: () => "lease",
      patience: { redis: 50, sql: 5 },
      usedUp: () => {},
      flush: async () => {},
    });
    const visit = () => meters.spend(meters.of("abc"), "hits", 1_000, 0);
    expect((await visit()).kind).toBe("unavailable");
    answer.resolve({
      ...{ kind: "granted", lender: "sql", lease: "lease", size: 10, month: "2026-11" },
      validForMs: 5_000,
    });
    await Bun.sleep(0);
    expect(visit()).toEqual({ kind: "granted" });
  });

  test("no answer is unavailable, never denied", async () => {
    const { meters, meter, fail } = world(10_000);
    fail("before");
    expect((await meters.spend(meter, "hits", 10_000, 0)).kind).toBe("unavailable");
  });

  test("with the policy open visitors are allowed and counted, but not at a limit that was just used up", async () => {
    const { meters, meter, clock, fail } = world(2, true);
    const visit = async () => (await meters.spend(meter, "hits", 2, 0)).kind;
    expect([await visit(), await visit(), await visit()]).toEqual(["granted", "granted", "denied"]);
    meters.acknowledge(meters.drain("usual"));
    clock.advance(1_000);
    fail("before");
    expect(await visit()).toBe("denied");
    clock.advance(5_000);
    expect(await visit()).toBe("granted");
    expect(units(meters.drain("usual"))).toBe(1);
    const closed = world(2, false);
    closed.fail("before");
    expect((await closed.meters.spend(closed.meter, "hits", 2, 0)).kind).toBe("unavailable");
  });

  test("a lease that was long on its way is not used for longer: its time counts from the question", async () => {
    const clock = manualClock(start);
    let asks = 0;
    const meters = createMeters({
      reasons: 1,
      store: {
        async acquire({ id }) {
          asks++;
          clock.advance(4_000);
          return { kind: "granted", lender: "sql", lease: id, size: 10, month: "2026-11", validForMs: 10_000 };
        },
      },
      clock,
      month: () => monthName(clock.now()),
      newLeaseId: () => `lease-${asks}`,
      patience: { redis: 50, sql: 100 },
      usedUp: () => {},
      flush: async () => {},
    });
    await meters.spend(meters.of("abc"), "hits", 1_000, 0);
    clock.advance(6_000);
    expect(asks).toBe(1);
    await meters.spend(meters.of("abc"), "hits", 1_000, 0);
    expect(asks).toBe(2);
  });

  test("while the fate of an ask is unknown it is repeated under its id and no other is made", async () => {
    const { meters, meter, asks, fail, out } = world(10_000);
    fail("after");
    for (let i = 0; i < 5; i++) await meters.spend(meter, "hits", 10_000, 0);
    expect(new Set(asks.map((ask) => ask.id)).size).toBe(1);
    fail(undefined);
    expect((await meters.spend(meter, "hits", 10_000, 0)).kind).toBe("granted");
    expect(out()).toBe(10);
  });

  test("a link that was visited during an outage, and never again, is forgotten once the fate of its ask is known", async () => {
    const { meters, clock, asks, out, fail } = world(10_000);
    const record = async () => {
      meters.acknowledge(meters.drain("usual"));
      await Bun.sleep(0);
    };
    fail("after");
    for (let link = 0; link < 250; link++) await meters.spend(meters.of(`link-${link}`), "hits", 10_000, 0);
    asks.length = 0;
    await record();
    expect(asks).toHaveLength(0); // not at once: a second later
    clock.advance(1_000);
    await record();
    expect(asks).toHaveLength(100); // and not all together
    fail(undefined);
    const before = out();
    for (let second = 0; second < 12; second++) {
      clock.advance(1_000);
      await record();
    }
    expect(out()).toBe(before);
    expect(meters.size).toBe(0);
  });

  test("units to be returned are tracked like spent ones: a crash before they are recorded strands no more", async () => {
    const { meters, meter, clock, flushes } = world(100_000);
    for (let i = 0; i < 2; i++) {
      await meters.spend(meter, "hits", 1_000, 0); // leases of 10, which is the largest
      clock.advance(5_000);
    }
    expect(flushes()).toBe(0);
    await meters.spend(meter, "hits", 1_000, 0);
    expect(flushes()).toBe(1);
  });

  test("a lane that owes two leases waits for the recorder before it asks for more", async () => {
    const { meters, meter, flushes } = world(100_000);
    const most = 2 * largestLease(1_000); // 20 units
    for (let i = 0; i < most; i++) await meters.spend(meter, "hits", 1_000, 0);
    expect(flushes()).toBe(0);
    await meters.spend(meter, "hits", 1_000, 0);
    expect(flushes()).toBe(1);
  });
});

describe("what is recorded", () => {
  test("everything spent is reported once, by reason", async () => {
    const { meters, meter } = world(10_000);
    for (let i = 0; i < 3; i++) await meters.spend(meter, "exempt", 10_000, i % 2);
    const [drained] = meters.drain("usual");
    expect(drained).toMatchObject({
      key: "abc",
      draws: "exempt",
      month: "2026-11",
      spent: [2, 1],
      units: 3,
      leased: 3,
    });
    expect(meters.drain("usual")).toEqual([]);
  });

  test("an expired lease is not used, and its rest is returned once", async () => {
    const { meters, meter, clock, asks } = world(10_000);
    await meters.spend(meter, "hits", 10_000, 0);
    clock.advance(5_000);
    await meters.spend(meter, "hits", 10_000, 0);
    expect(asks).toHaveLength(2);
    const unspent = meters.drain("usual").reduce((sum, one) => sum + one.unspent, 0);
    expect(unspent).toBe(9);
    expect(meters.drain("usual")).toEqual([]);
  });

  test("a link that has nothing more to be written down is forgotten", async () => {
    const { meters, meter, clock } = world(10_000);
    await meters.spend(meter, "hits", 10_000, 0);
    clock.advance(5_000);
    meters.acknowledge(meters.drain("usual"));
    expect(meters.size).toBe(1);
    meters.drain("usual");
    expect(meters.size).toBe(0);
  });

  test("a meter that was kept is used until it is dropped, and its link gets another one then", async () => {
    const { meters, meter } = world(10_000);
    await meters.spend(meter, "hits", null, 0);
    expect(meters.of("abc", meter)).toBe(meter);
    meters.acknowledge(meters.drain("usual"));
    meters.drain("usual");
    const next = meters.of("abc", meter);
    expect(next).not.toBe(meter);
    expect(meters.of("abc", next)).toBe(next);
    await meters.spend(next, "hits", null, 0);
    expect(units(meters.drain("usual"))).toBe(1);
    expect(() => meters.spend(meter, "hits", null, 0)).toThrow();
  });

  test("hits stay in the month of their lease", async () => {
    const { meters, meter, clock } = world(10_000);
    clock.set(Date.UTC(2026, 10, 30, 23, 59, 59));
    await meters.spend(meter, "hits", 10_000, 0);
    clock.advance(6_000);
    await meters.spend(meter, "hits", 10_000, 0);
    const months = meters.drain("usual").filter((one) => one.units > 0);
    expect(months.map((one) => [one.month, one.units])).toEqual([
      ["2026-11", 1],
      ["2026-12", 1],
    ]);
  });

  test("at the end every lease is returned", async () => {
    const { meters, meter } = world(10_000);
    await meters.spend(meter, "hits", 10_000, 0);
    const drained = meters.drain("everything");
    expect(units(drained)).toBe(1);
    expect(drained.reduce((sum, one) => sum + one.unspent, 0)).toBe(9);
  });
});

describe("the size of a lease", () => {
  test("shrinks to 1 and never exceeds what remains or a hundredth of the limit", () => {
    for (const max of [1, 7, 100, 10_000, 1_000_000]) {
      for (const holders of [1, 2, 10]) {
        for (let remaining = 0; remaining <= Math.min(max, 300); remaining++) {
          const size = leaseSize({ want: 5_000, max, remaining, holders });
          expect(size).toBeLessThanOrEqual(Math.max(remaining, 0));
          expect(size).toBeLessThanOrEqual(largestLease(max));
          if (remaining > 0) expect(size).toBeGreaterThanOrEqual(1);
        }
      }
    }
  });
});

describe("the current month", () => {
  test("changes with the clock, also when that is set back", () => {
    const clock = manualClock(Date.UTC(2026, 10, 30, 23, 59, 59, 999));
    const month = createMonth(clock);
    expect(month()).toBe("2026-11");
    clock.advance(1);
    expect(month()).toBe("2026-12");
    clock.set(Date.UTC(2026, 10, 1));
    expect(month()).toBe("2026-11");
  });

  test("is that of UTC, wherever the server is", () => {
    const zone = process.env.TZ;
    try {
      process.env.TZ = "America/Los_Angeles";
      expect(new Date(start).getHours()).not.toBe(0);
      const month = monthOf(Date.UTC(2026, 11, 1));
      expect(month).toEqual({ name: "2026-12", startsAt: Date.UTC(2026, 11), endsAt: Date.UTC(2027, 0) });
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });
});
