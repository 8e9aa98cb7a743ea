import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { manualClock } from "../base/clock.ts";
import { Late } from "../base/deadline.ts";
import { createMetrics } from "../base/metrics.ts";
import { createCache, type Versioned } from "./cache.ts";
import { countCache } from "./hit-counts.ts";

interface Thing {
  readonly name: string;
}

const thing = (version: number): Versioned<Thing> => ({ version, value: { name: `v${version}` } });
const nothing = (version: number): Versioned<Thing> => ({ version, value: undefined });

/** A cache over a source that the test speaks for: what it holds, whether it answers, and when. */
function setUp({ sizeBytes = 1_000_000 } = {}) {
  const clock = manualClock(0);
  const metrics = createMetrics();
  const rows = new Map<string, Versioned<Thing>>();
  const loads: string[] = [];
  let down = false;
  let gate: Promise<void> = Promise.resolve();
  const cache = createCache<Thing>({
    source: {
      async load(key) {
        loads.push(key);
        const row = rows.get(key) ?? nothing(0); // read now, answered when the gate opens: as a slow database does
        const opened = gate;
        gate = Promise.resolve();
        await opened;
        if (down) throw new Error("the source is down");
        return row;
      },
    },
    clock,
    counts: countCache(metrics),
    sizeBytes,
    sizeOf: (value) => value.name.length,
    wait: { redis: 50, sql: 100 },
  });
  return {
    cache,
    clock,
    rows,
    loads,
    setDown(value: boolean) {
      down = value;
    },
    /** The next load answers when `open` is called; those after it as ever. */
    hold() {
      const held = Promise.withResolvers<void>();
      gate = held.promise;
      return { open: held.resolve };
    },
    /** As the feed's follower does twice a second. */
    advanceFollowed(ms: number) {
      for (let passed = 0; passed < ms; passed += 500) {
        clock.advance(Math.min(500, ms - passed));
        cache.followed(clock.elapsed());
      }
    },
    async counted(result: string): Promise<number> {
      const { text } = await metrics.scrape();
      return Number(new RegExp(`^quicklink_cache_events_total{event="${result}"} (\\d+)$`, "m").exec(text)?.[1]);
    },
  };
}

describe("an answer that is too late for the visitor", () => {
  function lateSetUp() {
    const clock = manualClock(0);
    const answers: PromiseWithResolvers<Versioned<Thing>>[] = [];
    const cache = createCache<Thing>({
      source: {
        load(_, __, visit) {
          const answer = Promise.withResolvers<Versioned<Thing>>();
          answers.push(answer);
          visit?.later(answer.promise);
          return Promise.reject(new Late("too late"));
        },
      },
      clock,
      counts: countCache(createMetrics()),
      sizeBytes: 1_000_000,
      sizeOf: () => 0,
      wait: { redis: 50, sql: 100 },
    });
    return { cache, clock, answers };
  }

  test("is there for the next", async () => {
    const { cache, answers } = lateSetUp();
    await expect(cache.lookup("a")).rejects.toThrow("too late");
    expect(cache.peek("a")).toBeUndefined();
    answers[0]?.resolve(thing(1));
    await Bun.sleep(0);
    expect(cache.peek("a")).toMatchObject(thing(1));
  });

  test("is not, if a newer version was announced meanwhile", async () => {
    const { cache, answers } = lateSetUp();
    await expect(cache.lookup("a")).rejects.toThrow("too late");
    cache.announce("a", 2);
    answers[0]?.resolve(thing(1));
    await Bun.sleep(0);
    expect(cache.peek("a")).toBeUndefined();
    expect(await cache.lookup("a").catch(() => "nothing")).toBe("nothing");
  });

  test("is not, even if so many other changes were announced since that the newer version is forgotten", async () => {
    const { cache, answers } = lateSetUp();
    await expect(cache.lookup("a")).rejects.toThrow("too late");
    cache.announce("a", 2);
    for (let i = 0; i <= 100_000; i++) cache.announce(`other-${i}`, 1);
    answers[0]?.resolve(thing(1));
    await Bun.sleep(0);
    expect(cache.peek("a")).toBeUndefined();
  });

  test("is not replaced by an older one that comes after it", async () => {
    const { cache, answers } = lateSetUp();
    for (let i = 0; i < 2; i++) await expect(cache.lookup("a")).rejects.toThrow("too late");
    answers[0]?.resolve(thing(2));
    await Bun.sleep(0);
    answers[1]?.resolve(thing(1));
    await Bun.sleep(0);
    expect(cache.peek("a")).toMatchObject(thing(2));
  });

  test("is not, if a newer one was served meanwhile and pushed out for room", async () => {
    const answers: PromiseWithResolvers<Versioned<Thing>>[] = [];
    let late = true;
    const cache = createCache<Thing>({
      source: {
        async load(key, _, visit) {
          if (key !== "a" || !late) return thing(6);
          const answer = Promise.withResolvers<Versioned<Thing>>();
          answers.push(answer);
          visit?.later(answer.promise);
          throw new Late("too late");
        },
      },
      clock: manualClock(0),
      counts: countCache(createMetrics()),
      sizeBytes: 1_000,
      sizeOf: () => 0,
      wait: { redis: 50, sql: 100 },
    });
    await expect(cache.lookup("a")).rejects.toThrow("too late");
    late = false;
    expect(await cache.lookup("a")).toEqual(thing(6));
    for (let i = 0; i < 20; i++) await cache.lookup(`other-${i}`);
    expect(cache.peek("a")).toBeUndefined();
    answers[0]?.resolve(thing(5));
    await Bun.sleep(0);
    expect(cache.peek("a")).toBeUndefined();
  });

  test("is as old as the visitor's question, and no newer", async () => {
    const { cache, clock, answers } = lateSetUp();
    await expect(cache.lookup("a")).rejects.toThrow("too late");
    clock.advance(900);
    answers[0]?.resolve(thing(1));
    await Bun.sleep(0);
    clock.advance(99);
    expect(cache.peek("a")).toBeDefined();
    clock.advance(1);
    expect(cache.peek("a")).toBeUndefined();
  });
});

test("what was loaded together is not loaded again together, and nothing is trusted for longer than 30 s", async () => {
  const clock = manualClock(0);
  const chances = [0, 0.25, 0.5, 0.999];
  const cache = createCache<Thing>({
    source: { load: async () => thing(1) },
    clock,
    counts: countCache(createMetrics()),
    sizeBytes: 1_000_000,
    sizeOf: () => 0,
    wait: { redis: 50, sql: 100 },
    jitter: 0.08,
    random: () => chances.shift() ?? 0,
  });
  const keys = ["a", "b", "c", "d"];
  await Promise.all(keys.map((key) => cache.lookup(key)));
  const there: number[] = [];
  for (let at = 25_000; at <= 30_000; at += 1_250) {
    clock.advance(at - clock.elapsed());
    cache.followed(clock.elapsed());
    there.push(keys.filter((key) => cache.peek(key) !== undefined).length);
  }
  expect(there).toEqual([4, 3, 3, 2, 0]);
});

describe("memory", () => {
  test("knows nothing at first, and then what was looked up", async () => {
    const { cache, rows, loads } = setUp();
    rows.set("a", thing(1));
    expect(cache.peek("a")).toBeUndefined();
    expect(await cache.lookup("a")).toEqual(thing(1));
    expect(cache.peek("a")).toMatchObject(thing(1));
    expect(await cache.lookup("a")).toMatchObject(thing(1));
    expect(loads).toEqual(["a"]);
  });

  test("is trusted for 30 s while the feed is followed", async () => {
    const { cache, rows, advanceFollowed, clock } = setUp();
    rows.set("a", thing(1));
    await cache.lookup("a");
    advanceFollowed(29_500);
    clock.advance(499);
    expect(cache.peek("a")).toBeDefined();
    clock.advance(1);
    expect(cache.peek("a")).toBeUndefined();
  });

  test("is trusted for 1 s when the feed was never followed", async () => {
    const { cache, rows, clock } = setUp();
    rows.set("a", thing(1));
    await cache.lookup("a");
    clock.advance(999);
    expect(cache.peek("a")).toBeDefined();
    clock.advance(1);
    expect(cache.peek("a")).toBeUndefined();
  });

  test("is trusted no longer than 1 s once the feed is silent for 1.5 s, and again when it speaks", async () => {
    const { cache, rows, clock, advanceFollowed } = setUp();
    rows.set("a", thing(1));
    await cache.lookup("a");
    advanceFollowed(5_000);
    clock.advance(1_499);
    expect(cache.peek("a")).toBeDefined();
    clock.advance(1);
    expect(cache.peek("a")).toBeUndefined();
    cache.followed(clock.elapsed());
    expect(cache.peek("a")).toBeDefined();
  });

  test("is not trusted for longer because the machine's clock was set", async () => {
    const { cache, rows, clock } = setUp();
    rows.set("a", thing(1));
    await cache.lookup("a");
    clock.set(-1_000_000);
    clock.advance(1_000);
    expect(cache.peek("a")).toBeUndefined();
  });

  test("asks the source again when its knowledge is too old, and takes the answer", async () => {
    const { cache, rows, clock, loads } = setUp();
    rows.set("a", thing(1));
    await cache.lookup("a");
    clock.advance(1_000);
    rows.set("a", thing(2));
    expect(await cache.lookup("a")).toEqual(thing(2));
    expect(cache.peek("a")).toMatchObject(thing(2));
    expect(loads).toEqual(["a", "a"]);
  });

  test("keeps that nothing is there, and notices when something is", async () => {
    const { cache, rows, loads } = setUp();
    expect(await cache.lookup("a")).toEqual(nothing(0));
    expect(cache.peek("a")).toMatchObject(nothing(0));
    rows.set("a", thing(1));
    cache.announce("a", 1);
    expect(await cache.lookup("a")).toEqual(thing(1));
    rows.set("a", nothing(2));
    cache.announce("a", 2);
    expect(await cache.lookup("a")).toEqual(nothing(2));
    expect([cache.found, cache.missing]).toEqual([0, 1]);
    expect(loads).toHaveLength(3);
  });

  test("finds out by itself, in time, that what was there is gone, and the other way round", async () => {
    const { cache, rows, clock } = setUp();
    for (const row of [thing(1), nothing(2), thing(3)]) {
      rows.set("a", row);
      clock.advance(1_000);
      expect(await cache.lookup("a")).toEqual(row);
      expect(cache.peek("a")).toMatchObject(row);
      expect(cache.found + cache.missing).toBe(1);
    }
  });

  test("keeps keys apart that are special to JavaScript", async () => {
    const { cache, rows } = setUp();
    rows.set("__proto__", thing(3));
    expect(await cache.lookup("__proto__")).toEqual(thing(3));
    expect(cache.peek("constructor")).toBeUndefined();
    expect(await cache.lookup("constructor")).toEqual(nothing(0));
  });
});

describe("an announced change", () => {
  test("is news once, however often the feed tells of it", () => {
    const { cache } = setUp();
    expect([3, 3, 2, 4].map((version) => cache.announce("a", version))).toEqual([true, false, false, true]);
  });

  test("drops what is older, and the next lookup finds the new version", async () => {
    const { cache, rows } = setUp();
    rows.set("a", thing(1));
    await cache.lookup("a");
    rows.set("a", thing(2));
    cache.announce("a", 2);
    expect(cache.peek("a")).toBeUndefined();
    expect(await cache.lookup("a")).toEqual(thing(2));
  });

  test("leaves what is as new or newer, and other keys", async () => {
    const { cache, rows, loads } = setUp();
    rows.set("a", thing(5)).set("b", thing(1));
    await Promise.all([cache.lookup("a"), cache.lookup("b")]);
    cache.announce("a", 4);
    cache.announce("a", 5);
    cache.announce("c", 9);
    expect(cache.peek("a")).toMatchObject(thing(5));
    expect(cache.peek("b")).toMatchObject(thing(1));
    expect(loads).toHaveLength(2);
  });

  test("rejects the fill that began before it, which is loaded again", async () => {
    const { cache, rows, loads, hold, counted } = setUp();
    rows.set("a", thing(1));
    const slow = hold();
    const looking = cache.lookup("a");
    rows.set("a", thing(2));
    cache.announce("a", 2);
    slow.open();
    expect(await looking).toEqual(thing(2));
    expect(cache.peek("a")).toMatchObject(thing(2));
    expect(loads).toEqual(["a", "a"]);
    expect(await counted("fill_rejected")).toBe(1);
  });

  test("also reaches those who joined the fill afterwards", async () => {
    const { cache, rows, hold } = setUp();
    rows.set("a", thing(1));
    const slow = hold();
    const before = cache.lookup("a");
    rows.set("a", nothing(2));
    cache.announce("a", 2);
    const after = cache.lookup("a");
    slow.open();
    expect(await Promise.all([before, after])).toEqual([nothing(2), nothing(2)]);
  });

  test("that the source does not know of yet is an error rather than the old value", async () => {
    const { cache, rows, loads, hold } = setUp();
    rows.set("a", thing(1));
    const slow = hold();
    const looking = cache.lookup("a");
    cache.announce("a", 2);
    slow.open();
    await expect(looking).rejects.toThrow("older version");
    expect(cache.peek("a")).toBeUndefined();
    expect(loads).toHaveLength(3);
  });
});

describe("lookups of one key", () => {
  test("share one load", async () => {
    const { cache, rows, loads, hold } = setUp();
    rows.set("a", thing(1));
    const slow = hold();
    const all = Promise.all(Array.from({ length: 100 }, () => cache.lookup("a")));
    slow.open();
    expect(new Set(await all)).toEqual(new Set([thing(1)]));
    expect(loads).toEqual(["a"]);
  });

  test("do not wait for another key's", async () => {
    const { cache, rows, hold } = setUp();
    rows.set("a", thing(1)).set("b", thing(1));
    const slow = hold();
    const looking = cache.lookup("a");
    expect(await cache.lookup("b")).toEqual(thing(1));
    slow.open();
    expect(await looking).toEqual(thing(1));
  });

  test("share the failure, and the next one tries again", async () => {
    const { cache, rows, loads, setDown } = setUp();
    rows.set("a", thing(1));
    setDown(true);
    const outcomes = await Promise.allSettled([cache.lookup("a"), cache.lookup("a")]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    setDown(false);
    expect(await cache.lookup("a")).toEqual(thing(1));
    expect(loads).toHaveLength(2);
  });
});

describe("when the source fails", () => {
  test("what is known is served for a day, and counted as stale", async () => {
    const { cache, rows, clock, setDown, counted } = setUp();
    rows.set("a", thing(1));
    await cache.lookup("a");
    clock.advance(86_400_000);
    setDown(true);
    expect(cache.peek("a")).toBeUndefined();
    expect(await cache.lookup("a")).toMatchObject(thing(1));
    expect(await counted("stale")).toBe(1);
    clock.advance(1);
    await expect(cache.lookup("a")).rejects.toThrow("the source is down");
  });

  test("what is served stale is not taken for fresh", async () => {
    const { cache, rows, clock, setDown } = setUp();
    rows.set("a", thing(1));
    await cache.lookup("a");
    clock.advance(5_000);
    setDown(true);
    await cache.lookup("a");
    expect(cache.peek("a")).toBeUndefined();
    setDown(false);
    rows.set("a", thing(2));
    expect(await cache.lookup("a")).toEqual(thing(2));
  });

  test("what the source itself gives as stale is asked for again after a second, although the feed is followed", async () => {
    const { cache, rows, loads, advanceFollowed } = setUp();
    const stale = { ...thing(1), stale: true };
    rows.set("a", stale);
    await cache.lookup("a");
    advanceFollowed(999);
    expect(cache.peek("a")).toBeDefined();
    advanceFollowed(1);
    expect(cache.peek("a")).toBeUndefined();
    await cache.lookup("a");
    expect(loads).toEqual(["a", "a"]);
  });

  test("that nothing is there is served too", async () => {
    const { cache, clock, setDown } = setUp();
    await cache.lookup("a");
    clock.advance(3_600_000);
    setDown(true);
    expect(await cache.lookup("a")).toMatchObject(nothing(0));
  });

  test("an unknown link is an error, never a 404", async () => {
    const { cache, setDown } = setUp();
    setDown(true);
    await expect(cache.lookup("a")).rejects.toThrow("the source is down");
    expect([cache.found, cache.missing]).toEqual([0, 0]);
  });

  test("a version that is known to be out of date is not served any more", async () => {
    const { cache, rows, setDown } = setUp();
    rows.set("a", thing(1));
    await cache.lookup("a");
    cache.announce("a", 2);
    setDown(true);
    await expect(cache.lookup("a")).rejects.toThrow("the source is down");
  });
});

describe("the size of memory", () => {
  test("is bounded, and what was not used for longest goes first", async () => {
    const { cache, rows } = setUp({ sizeBytes: 10_000 });
    for (let i = 0; i < 1_000; i++) {
      rows.set(`k${i}`, thing(1));
      await cache.lookup(`k${i}`);
      cache.peek("k0");
    }
    expect(cache.found).toBeWithin(10, 51);
    expect(cache.peek("k0")).toBeDefined();
    expect(cache.peek("k999")).toBeDefined();
    expect(cache.peek("k1")).toBeUndefined();
  });

  test("has a separate part for unknown codes: guessing evicts no link", async () => {
    const { cache, rows } = setUp({ sizeBytes: 10_000 });
    for (let i = 0; i < 20; i++) {
      rows.set(`k${i}`, thing(1));
      await cache.lookup(`k${i}`);
    }
    for (let i = 0; i < 1_000; i++) await cache.lookup(`guess${i}`);
    const left = Array.from({ length: 20 }, (_, i) => cache.peek(`k${i}`)).filter(Boolean);
    expect(left).toHaveLength(20);
    expect(cache.found).toBe(20);
    expect(cache.missing).toBeLessThan(20);
  });

  test("leaves out what alone is larger than it, and answers it all the same", async () => {
    const { cache, rows } = setUp({ sizeBytes: 1_000 });
    const large = { version: 1, value: { name: "x".repeat(2_000) } };
    rows.set("a", large);
    expect(await cache.lookup("a")).toEqual(large);
    expect(cache.found).toBe(0);
  });
});

test("a fill that has just ended is not joined by who comes after a change", async () => {
  for (let turns = 0; turns < 8; turns++) {
    const { cache, rows } = setUp();
    const first = cache.lookup("a");
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    rows.set("a", thing(1));
    cache.announce("a", 1);
    expect((await cache.lookup("a")).version).toBe(1);
    await first;
  }
});

test("no lookup ever goes back to a version older than one that was announced before it", async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("change" as const), gone: fc.boolean() }),
    fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 0, max: 2_000 }) }),
    fc.record({ kind: fc.constantFrom("look" as const, "hold" as const, "open" as const, "follow" as const) }),
    fc.record({ kind: fc.constant("down" as const), value: fc.boolean() }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { cache, rows, clock, hold, setDown } = setUp();
      let version = 0;
      let slow: { open(): void } | undefined;
      const looking: Promise<void>[] = [];
      for (const step of steps) {
        if (step.kind === "change") {
          version++;
          rows.set("a", step.gone ? nothing(version) : thing(version));
          cache.announce("a", version);
        } else if (step.kind === "wait") clock.advance(step.ms);
        else if (step.kind === "follow") cache.followed(clock.elapsed());
        else if (step.kind === "down") setDown(step.value);
        else if (step.kind === "hold") slow ??= hold();
        else if (step.kind === "open") {
          slow?.open();
          slow = undefined;
          await Promise.resolve();
        } else {
          const least = version;
          expect(cache.peek("a")?.version ?? least).toBeGreaterThanOrEqual(least);
          const check = (found: Versioned<Thing>) => expect(found.version).toBeGreaterThanOrEqual(least);
          looking.push(cache.lookup("a").then(check, expectDown));
        }
      }
      slow?.open();
      await Promise.all(looking);
    }),
    { numRuns: 1000 },
  );
});

function expectDown(error: unknown): void {
  expect(error).toHaveProperty("message", expect.stringMatching(/the source is down|older version/));
}
