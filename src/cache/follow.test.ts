import { describe, expect, test } from "bun:test";
import { setImmediate as othersTurn } from "node:timers/promises";
import { nameOf } from "../../test/ground/changes.ts";
import { manualClock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import type { Change, RecordedChange } from "./feed.ts";
import { follow } from "./follow.ts";

const pollMs = 500;
const batch = 250;
const longBatch = 1_000;
const toldAtOnce = 100;

/**
 * A feed in memory, and everything that its follower does with it. As on PostgreSQL, what is at or above the line of
 * `settle` can still get something new in front of it.
 */
function setUp() {
  const clock = manualClock(0);
  const rows: RecordedChange[] = [];
  const announced: Change[] = [];
  const followed: number[] = [];
  const lines: string[] = [];
  const limits: number[] = [];
  /** How much was announced whenever another task had a turn. */
  const turns: number[] = [];
  /** Where the rounds ended that something else keeps up with, how many of those are done, and whether they were called off. */
  const corrected = { upTo: [] as number[], done: 0, isCalledOff: false };
  let correcting: Promise<void> = Promise.resolve();
  let line = Number.POSITIVE_INFINITY;
  let fault: Error | undefined;
  let gate: Promise<void> = Promise.resolve();
  const feed = {
    async end() {
      return { at: rows.at(-1)?.at ?? 0 };
    },
    async after(cursor: { at: number }, limit: number) {
      limits.push(limit);
      await gate;
      if (fault) throw fault;
      const changes = rows.filter(({ at }) => at > cursor.at).slice(0, limit);
      const finalCount = changes.findLastIndex(({ at }) => at < line) + 1;
      const last = changes[finalCount - 1];
      const next = { at: changes.at(-1)?.at ?? cursor.at };
      return { changes, next, finalUntil: last && { at: last.at }, finalCount };
    },
  };
  const insert = (code: string, at: number) => {
    rows.push({ kind: "link", domain: "", code, version: 1, at });
    rows.sort((a, b) => a.at - b.at);
  };
  const nextAt = () => (rows.at(-1)?.at ?? 0) + 1;
  return {
    clock,
    announced,
    followed,
    lines,
    limits,
    turns,
    insert,
    change(...codes: string[]) {
      for (const code of codes) insert(code, nextAt());
    },
    insertMany(first: string) {
      rows.push({ kind: "links", domain: "", codes: `${first} ${first}2`, version: 1, at: nextAt() });
    },
    settle(below: number) {
      line = below;
    },
    fail(error: Error | undefined) {
      fault = error;
    },
    hold() {
      const held = Promise.withResolvers<void>();
      gate = held.promise;
      return held.resolve;
    },
    corrected,
    holdCorrection() {
      const held = Promise.withResolvers<void>();
      correcting = held.promise;
      return held.resolve;
    },
    start: () =>
      follow<{ at: number }>({
        feed,
        announce: (change) => announced.push(change),
        followed: (elapsed) => followed.push(elapsed),
        async correct({ position }, signal) {
          corrected.upTo.push(position.at);
          const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
          await Promise.race([correcting, aborted]);
          corrected.isCalledOff ||= signal.aborted;
          corrected.done++;
        },
        clock,
        log: createLog("info", { write: (line) => lines.push(line) }, false, clock.now),
      }),
    /** Lets time pass, and what came of it happen. */
    async pass(ms: number) {
      clock.advance(ms);
      for (let turn = 0; turn < 30; turn++) {
        for (let step = 0; step < 10; step++) await Promise.resolve();
        await othersTurn();
        turns.push(announced.length);
      }
    },
  };
}

const codes = (changes: readonly Change[]) => changes.map(nameOf);

describe("a follower", () => {
  test("announces what is committed after it began, in order, once", async () => {
    const { start, change, pass, announced } = setUp();
    change("before");
    const follower = await start();
    change("a", "b");
    await pass(pollMs);
    change("c");
    await pass(pollMs);
    await pass(pollMs);
    expect(codes(announced)).toEqual(["a", "b", "c"]);
    await follower.stop();
  });

  test("says up to when it has followed: the moment before it asked", async () => {
    const { start, pass, followed, clock, hold } = setUp();
    clock.advance(7);
    const follower = await start();
    expect(followed).toEqual([7]);
    const open = hold();
    await pass(pollMs);
    expect(followed).toEqual([7]);
    clock.advance(300); // the answer took this long
    open();
    await follower.stop();
    expect(followed).toEqual([7, 7 + pollMs]);
  });

  test("announces before it says that it has followed", async () => {
    const clock = manualClock(0);
    const told: string[] = [];
    const feed = {
      end: async () => ({}),
      after: async () => ({
        changes: [{ kind: "link" as const, domain: "", code: "a", version: 1, at: 0 }],
        next: {},
        finalUntil: undefined,
        finalCount: 0,
      }),
    };
    const follower = await follow({
      feed,
      announce: () => told.push("announced"),
      followed: () => told.push("followed"),
      correct: async ({ notFinal }) => void told.push(`corrected ${codes(notFinal)}`),
      clock,
      log: createLog("silent", { write() {} }, false, clock.now),
    });
    clock.advance(pollMs);
    await follower.stop();
    expect(told).toEqual(["followed", "announced", "followed", "corrected a"]);
  });

  test("reads on while there are full batches, and lets others have a turn among them", async () => {
    const { start, change, pass, announced, limits, followed, turns } = setUp();
    const follower = await start();
    change(...Array.from({ length: 2 * batch + 1 }, (_, i) => `c${i}`));
    await pass(pollMs);
    expect(announced).toHaveLength(2 * batch + 1);
    expect(limits).toEqual([batch, batch, batch]);
    expect(turns).toContain(2 * batch);
    expect(followed).toEqual([0, pollMs]);
    await follower.stop();
  });

  test("lets others have a turn before each change of many links", async () => {
    const { start, pass, insertMany, announced, turns } = setUp();
    const follower = await start();
    for (const first of ["a", "b", "c", "d"]) insertMany(first);
    await pass(pollMs);
    expect(announced).toHaveLength(4);
    expect(turns).toContain(2);
    expect(turns).toContain(3);
    await follower.stop();
  });

  test("announces what comes while something else takes its time to keep up, which then goes on with the last round", async () => {
    const { start, change, pass, announced, followed, corrected, holdCorrection } = setUp();
    const follower = await start();
    const release = holdCorrection();
    for (const code of ["a", "b", "c", "d"]) {
      change(code);
      await pass(pollMs);
    }
    expect(codes(announced)).toEqual(["a", "b", "c", "d"]);
    expect(followed.at(-1)).toBe(4 * pollMs);
    expect(corrected).toMatchObject({ upTo: [1], done: 0 });
    release();
    await pass(0);
    expect(corrected).toMatchObject({ upTo: [1, 4], done: 2 });
    await pass(pollMs);
    expect(corrected).toMatchObject({ upTo: [1, 4, 4], done: 3 });
    await follower.stop();
  });

  test("calls off at its end what keeps up with it, and waits for that", async () => {
    const { start, change, pass, corrected, holdCorrection } = setUp();
    const follower = await start();
    holdCorrection();
    change("a");
    await pass(pollMs);
    change("b");
    await pass(pollMs);
    expect(corrected).toEqual({ upTo: [1], done: 0, isCalledOff: false });
    await follower.stop();
    expect(corrected).toEqual({ upTo: [1], done: 1, isCalledOff: true });
  });

  test("reads longer batches from a database that is far away, and still lets others have a turn", async () => {
    const { start, change, pass, clock, hold, announced, limits, turns } = setUp();
    const follower = await start();
    change(...Array.from({ length: batch + longBatch + 1 }, (_, i) => `c${i}`));
    const open = hold();
    await pass(pollMs);
    clock.advance(50); // the first answer took this long
    open();
    await pass(0);
    expect(limits).toEqual([batch, longBatch, longBatch]);
    expect(turns).toContain(batch + toldAtOnce);
    expect(announced).toHaveLength(batch + longBatch + 1);
    await follower.stop();
  });

  test("announces at once what is not final yet, and again until it is", async () => {
    const { start, insert, settle, pass, announced } = setUp();
    const follower = await start();
    settle(2);
    insert("a", 1);
    insert("b", 2);
    await pass(pollMs);
    expect(codes(announced)).toEqual(["a", "b"]);
    await pass(pollMs);
    expect(codes(announced)).toEqual(["a", "b", "b"]);
    settle(Number.POSITIVE_INFINITY);
    await pass(pollMs);
    await pass(pollMs);
    expect(codes(announced)).toEqual(["a", "b", "b", "b"]);
    await follower.stop();
  });

  test("does not miss what appears before something it has already announced", async () => {
    const { start, insert, settle, pass, announced } = setUp();
    const follower = await start();
    settle(2);
    insert("after", 3);
    await pass(pollMs);
    insert("before", 2);
    settle(Number.POSITIVE_INFINITY);
    await pass(pollMs);
    expect(codes(announced)).toEqual(["after", "before", "after"]);
    await follower.stop();
  });

  test("does not miss what appears on a page it has left, when a later page is final", async () => {
    const { start, insert, settle, pass, announced, hold, limits } = setUp();
    const follower = await start();
    for (let at = 1; at <= batch; at++) insert(`c${at}`, at);
    insert("on the second page", batch + 1);
    settle(batch / 2);
    const first = hold();
    await pass(pollMs);
    const second = hold();
    first();
    await pass(0);
    expect(limits).toHaveLength(2);
    insert("late", batch / 2 + 0.5);
    settle(Number.POSITIVE_INFINITY);
    second();
    await pass(0);
    await pass(pollMs);
    expect(codes(announced)).toContain("late");
    await follower.stop();
  });

  test("does not pile up behind a slow answer", async () => {
    const { start, change, pass, limits, hold, announced } = setUp();
    const follower = await start();
    const open = hold();
    change("a");
    await pass(pollMs);
    await pass(10 * pollMs);
    expect(limits).toHaveLength(1);
    open();
    await pass(0);
    await pass(pollMs);
    expect(limits).toHaveLength(2);
    expect(codes(announced)).toEqual(["a"]);
    await follower.stop();
  });

  test("claims nothing while it cannot read, and misses nothing of that time", async () => {
    const { start, change, pass, fail, followed, announced, lines } = setUp();
    const follower = await start();
    fail(new Error("no SQL"));
    change("a");
    await pass(pollMs);
    await pass(pollMs);
    expect(followed).toEqual([0]);
    fail(undefined);
    change("b");
    await pass(pollMs);
    expect(codes(announced)).toEqual(["a", "b"]);
    expect(followed).toEqual([0, 3 * pollMs]);
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
      "cannot follow the change feed; trusting links in memory for 1 s only",
      "following the change feed again",
    ]);
    await follower.stop();
  });

  test("does not start where the end of the feed cannot be found", async () => {
    const clock = manualClock(0);
    let asked = 0;
    const down = async () => {
      asked++;
      throw new Error("no SQL");
    };
    const log = createLog("silent", { write() {} }, false, clock.now);
    const starting = follow({ feed: { end: down, after: down }, announce() {}, followed() {}, clock, log });
    await expect(starting).rejects.toThrow("no SQL");
    clock.advance(10 * pollMs);
    expect(asked).toBe(1);
  });

  test("reads at once when it is woken, and once more when it is woken while it reads", async () => {
    const { start, change, pass, hold, announced, limits } = setUp();
    const follower = await start();
    change("a");
    follower.wake();
    await pass(0);
    expect(codes(announced)).toEqual(["a"]);
    const open = hold();
    follower.wake();
    change("b");
    for (let i = 0; i < 5; i++) follower.wake();
    open();
    await pass(0);
    expect(codes(announced)).toEqual(["a", "b"]);
    expect(limits).toHaveLength(3);
    await follower.stop();
  });

  test("that is stopped finishes what it reads, and reads no more", async () => {
    const { start, change, pass, hold, announced, limits } = setUp();
    const follower = await start();
    change("a");
    const open = hold();
    await pass(pollMs);
    const stopping = follower.stop();
    open();
    await stopping;
    expect(codes(announced)).toEqual(["a"]);
    change("b");
    await pass(10 * pollMs);
    expect(codes(announced)).toEqual(["a"]);
    expect(limits).toHaveLength(1);
  });
});
