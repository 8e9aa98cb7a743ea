import { describe, expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import { sharedAfter } from "../base/wake-ups.ts";
import { largestLease } from "../limits/lease-size.ts";
import { createMeters } from "../limits/meters.ts";
import { createRecorder, type Recorder } from "./recorder.ts";

async function until(isReached: () => boolean): Promise<void> {
  while (!isReached()) await new Promise(setImmediate);
}

const silent = createLog("silent", { write() {} }, false, () => 0);

describe("the recorder", () => {
  test("sends a batch whose fate is unknown again as it was, under its number, before anything newer", async () => {
    const clock = manualClock(0);
    const sent: [number, number][] = [];
    let broken = true;
    const meters = createMeters({
      reasons: 1,
      store: { acquire: () => Promise.reject(new Error("not asked")) },
      clock,
      month: () => "2026-11",
      newLeaseId: () => "",
      patience: { redis: 50, sql: 100 },
      usedUp: () => {},
      flush: async () => {},
    });
    const recorder = createRecorder({
      meters,
      clock,
      log: silent,
      async write(sequence, batch) {
        sent.push([sequence, batch.reduce((sum, one) => sum + one.units, 0)]);
        if (broken) throw new Error("no answer");
      },
    });
    const second = async () => {
      clock.advance(1_000);
      await Bun.sleep(0);
    };
    meters.spend(meters.of("a"), "hits", null, 0);
    await second();
    meters.drain("usual");
    expect(meters.size).toBe(1); // not stored, so still owed
    meters.spend(meters.of("a"), "hits", null, 0);
    await second();
    broken = false;
    await recorder.stop();
    expect(sent).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
      [2, 1],
    ]);
  });

  describe("with more rows than a batch may have", () => {
    /** Links without a limit, each visited once. `answer` is asked for each batch. */
    async function record(keys: string, answer: (sequence: number) => void | Promise<void> = () => {}) {
      const clock = manualClock(0);
      const sent: [number, string][] = [];
      /** How many batches had been sent when others had their turn. */
      const turns: number[] = [];
      const meters = createMeters({
        ...{ reasons: 1, store: { acquire: () => Promise.reject(new Error("not asked")) }, clock },
        ...{ month: () => "2026-11", newLeaseId: () => "", patience: { redis: 50, sql: 100 } },
        ...{ usedUp: () => {}, flush: async () => {} },
      });
      const recorder = createRecorder({
        ...{ meters, clock, log: silent, rowsMost: 2 },
        async write(sequence, batch) {
          sent.push([sequence, batch.map(({ key }) => key).join("")]);
          setImmediate(() => turns.push(sent.length));
          await answer(sequence);
        },
      });
      const visit = (all: string) => {
        for (const key of all) meters.spend(meters.of(key), "hits", null, 0);
      };
      visit(keys);
      clock.advance(1_000);
      return { sent, turns, visit, meters, recorder, clock };
    }

    const five: [number, string][] = [
      [1, "ab"],
      [2, "cd"],
      [3, "e"],
    ];

    test("it has several batches, and others get their turn after each", async () => {
      const { sent, turns, recorder } = await record("abcde");
      await until(() => turns.length === 3);
      expect(sent).toEqual(five);
      expect(turns).toEqual([1, 2, 3]);
      await recorder.stop();
    });

    test("it goes on without turns while a visitor waits for it", async () => {
      const { sent, turns, recorder } = await record("abcde");
      await recorder.flush();
      await until(() => turns.length === 3);
      expect(sent).toEqual(five);
      expect(turns).toEqual([3, 3, 3]);
      await recorder.stop();
    });

    test("what a lost answer leaves is sent before anything newer, and nothing twice under two numbers", async () => {
      let isLost = true;
      const { sent, visit, meters, recorder } = await record("abcde", (sequence) => {
        if (sequence !== 2 || !isLost) return;
        isLost = false;
        throw new Error("no answer");
      });
      await until(() => sent.length === 2);
      visit("f");
      expect(meters.size).toBe(6);
      await recorder.stop();
      expect(sent).toEqual([[1, "ab"], [2, "cd"], ...five.slice(1), [4, "f"]]);
      meters.drain("everything");
      expect(meters.size).toBe(0);
    });

    test("a stop that does not wait for a run that hangs stores the rest, too", async () => {
      const answers: (() => void)[] = [];
      const { sent, meters, recorder, clock } = await record(
        "abcde",
        () => new Promise((resolve) => answers.push(resolve)),
      );
      await until(() => sent.length === 1);
      const stopped = recorder.stop();
      clock.advance(10_000);
      await until(() => sent.length === 2);
      let isStopped = false;
      void stopped.then(() => {
        isStopped = true;
      });
      await until(() => {
        for (const answer of answers.splice(0)) answer();
        return isStopped;
      });
      expect(new Set(sent.map(([sequence, keys]) => `${sequence} ${keys}`))).toEqual(new Set(["1 ab", "2 cd", "3 e"]));
      meters.drain("everything");
      expect(meters.size).toBe(0);
    });
  });

  /** Leases have ten units, or what is the most of a small limit. */
  function setUp() {
    const clock = manualClock(0);
    const written: { readonly at: number; readonly keys: readonly string[] }[] = [];
    const failure: { error: Error | undefined } = { error: undefined };
    let lent = 0;
    let recorder: Recorder | undefined;
    const meters = createMeters({
      reasons: 1,
      store: {
        acquire: async ({ max }) => ({
          ...{ kind: "granted", lender: "redis", lease: `lease-${++lent}`, size: Math.min(10, largestLease(max)) },
          ...{ month: "2026-11", validForMs: 5_000 },
        }),
      },
      clock,
      month: () => "2026-11",
      newLeaseId: () => "",
      patience: { redis: 50, sql: 100 },
      usedUp: () => recorder?.soon(),
      flush: async () => recorder?.flush(),
    });
    recorder = createRecorder({
      ...{ meters, clock, log: silent },
      async write(_, batch) {
        written.push({ at: clock.elapsed(), keys: batch.filter(({ units }) => units > 0).map(({ key }) => key) });
        if (failure.error !== undefined) throw failure.error;
      },
    });
    const visit = (key: string, max: number) => meters.spend(meters.of(key), "hits", max, 0);
    const pass = async (ms: number) => {
      clock.advance(ms);
      await Bun.sleep(0);
    };
    return { clock, visit, pass, written, failure };
  }

  test("a link that owes too much to get a lease is recorded without the others", async () => {
    const { visit, written } = setUp();
    await visit("quiet", 1_000_000);
    for (let i = 0; i < 5; i++) await visit("small", 100);
    expect(written.flatMap(({ keys }) => keys)).toEqual(["small", "small"]);
  });

  test("all links are recorded when its time comes early, with a timer of something else", async () => {
    const { clock, visit, pass, written } = setUp();
    await pass(1_000);
    await visit("quiet", 1_000_000);
    sharedAfter(clock, 700, 0, () => {});
    await pass(700);
    expect(written).toEqual([{ at: 1_700, keys: ["quiet"] }]);
  });

  test("while it fails it is tried once a second, however many links owe too much", async () => {
    const { visit, pass, written, failure } = setUp();
    failure.error = new Error("no database");
    for (let at = 0; at < 3_000; at++) {
      for (const key of ["a", "b", "c"]) await visit(key, 100);
      await pass(1);
    }
    expect(written.length).toBeGreaterThanOrEqual(3);
    expect(written.length).toBeLessThanOrEqual(5);
    failure.error = undefined;
    await pass(1_000);
    expect((await visit("a", 100)).kind).toBe("granted");
  });

  describe("while leases are used up all the time", () => {
    /** A link that uses up a lease every 10 ms, and one with a visitor every 400 ms. */
    async function record(ms: number) {
      const { visit, pass, written } = setUp();
      for (let at = 0; at < ms; at++) {
        await visit("busy", 1_000_000);
        if (at % 400 === 0) await visit("quiet", 1_000_000);
        await pass(1);
      }
      return written;
    }

    test("others are recorded once a second, and no later", async () => {
      const quiet = (await record(3_500)).filter(({ keys }) => keys.includes("quiet"));
      expect(quiet.map(({ at }) => at)).toEqual([1_000, 2_000, 3_000]);
    });

    test("the link itself is recorded at once, but 50 times a second at most", async () => {
      const busy = (await record(1_000)).filter(({ keys }) => keys.includes("busy"));
      expect(busy[0]?.at).toBeLessThanOrEqual(11);
      expect(busy.length).toBeGreaterThan(40);
      expect(busy.length).toBeLessThanOrEqual(51);
    });
  });
});
