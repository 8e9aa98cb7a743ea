import { describe, expect, test } from "bun:test";
import { manualClock } from "./clock.ts";
import { Late } from "./deadline.ts";
import { createLog } from "./log.ts";
import { type RepeatSettings, type Run, repeat } from "./repeat.ts";

const everyMs = 1_000;
const deadlineMs = 5_000;
const stopMs = 2_000;

/** Work whose runs the test ends itself, one by one. */
function setUp(more: Partial<RepeatSettings> = {}) {
  const clock = manualClock(0);
  const startedAt: number[] = [];
  const signals: AbortSignal[] = [];
  const ended: Run[] = [];
  const lines: string[] = [];
  let open: PromiseWithResolvers<void>[] = [];
  const log = createLog("info", { write: (line) => lines.push(JSON.parse(line).msg) }, false, clock.now);
  const repeated = repeat({
    ...{ name: "counting", everyMs, deadlineMs, stopMs, clock, log },
    ended: (run) => ended.push(run),
    work(signal) {
      startedAt.push(clock.elapsed());
      signals.push(signal);
      const run = Promise.withResolvers<void>();
      open.push(run);
      return run.promise;
    },
    ...more,
  });
  const settle = async () => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return {
    repeated,
    clock,
    startedAt,
    signals,
    ended,
    lines,
    settle,
    running: () => open.length,
    /** Ends the run that is under way. */
    async end(error?: Error) {
      const [first, ...others] = open;
      open = others;
      if (error) first?.reject(error);
      else first?.resolve();
      await settle();
    },
  };
}

describe("repeated work", () => {
  test("runs at a fixed rate from start to start, the first time after one interval", async () => {
    const { clock, startedAt, end } = setUp();
    clock.advance(everyMs - 1);
    expect(startedAt).toEqual([]);
    clock.advance(1);
    clock.advance(300);
    await end();
    clock.advance(everyMs - 300);
    expect(startedAt).toEqual([everyMs, 2 * everyMs]);
  });

  test("never overlaps with itself: what is slower than its interval skips times, and soon() is one more run after it", async () => {
    const { clock, startedAt, end, running, repeated } = setUp({ firstMs: 0 });
    clock.advance(0);
    clock.advance(2_500);
    for (let i = 0; i < 5; i++) repeated.soon();
    expect(running()).toBe(1);
    await end();
    expect(startedAt).toEqual([0, 2_500]);
    expect(running()).toBe(1);
    clock.advance(2_500);
    await end();
    clock.advance(499);
    expect(startedAt).toEqual([0, 2_500]);
    clock.advance(1);
    expect(startedAt).toEqual([0, 2_500, 5_500]);
  });

  test("soon() runs at once when nothing is running, and the interval starts over", async () => {
    const { clock, startedAt, end, repeated } = setUp();
    clock.advance(400);
    repeated.soon();
    await end();
    clock.advance(everyMs - 1);
    expect(startedAt).toEqual([400]);
    clock.advance(1);
    expect(startedAt).toEqual([400, 400 + everyMs]);
  });

  test("a caller that waits for a run gets the outcome of one that started after the call", async () => {
    const { end, repeated, settle } = setUp();
    const outcomes: string[] = [];
    const note = (who: string) => [() => void outcomes.push(`${who} ok`), () => void outcomes.push(`${who} failed`)];
    void repeated.run().then(...note("first"));
    void repeated.run().then(...note("second"));
    void repeated.run().then(...note("third"));
    await end();
    expect(outcomes).toEqual(["first ok"]);
    await end(new Error("no answer"));
    await settle();
    expect(outcomes).toEqual(["first ok", "second failed", "third failed"]);
  });

  test("logs when it begins to fail and when it works again, and reports every run", async () => {
    const { clock, end, lines, ended, repeated } = setUp();
    for (const error of [undefined, new Error("away"), new Error("away"), undefined, undefined]) {
      clock.advance(everyMs);
      await end(error);
      expect(repeated.failing).toBe(error !== undefined);
    }
    expect(lines).toEqual(["counting failed; will retry", "counting works again"]);
    expect(ended.map(({ error }) => error !== undefined)).toEqual([false, true, true, false, false]);
  });

  test("a run beyond its deadline fails at that moment, is aborted, and is not overtaken", async () => {
    const { clock, end, lines, ended, signals, running, startedAt } = setUp();
    clock.advance(everyMs);
    clock.advance(deadlineMs - 1);
    expect(ended).toEqual([]);
    clock.advance(1);
    expect(ended).toEqual([{ ms: deadlineMs, error: expect.any(Late) }]);
    expect(signals[0]?.aborted).toBe(true);
    expect(lines).toHaveLength(1);
    clock.advance(100 * everyMs);
    expect(running()).toBe(1);
    await end();
    expect(ended).toHaveLength(1);
    clock.advance(everyMs);
    await end();
    expect(startedAt).toHaveLength(2);
    expect(lines).toEqual(["counting failed; will retry", "counting works again"]);
  });

  test("a pause can depend on the failures in a row", async () => {
    const { clock, end, startedAt } = setUp({ everyMs: (failures) => everyMs * 2 ** failures });
    clock.advance(everyMs);
    await end(new Error("away"));
    clock.advance(2 * everyMs);
    await end(new Error("away"));
    clock.advance(4 * everyMs);
    await end();
    clock.advance(everyMs);
    expect(startedAt).toEqual([1, 3, 7, 8].map((count) => count * everyMs));
  });

  test("a stop aborts what runs, waits for its end, and nothing begins after it", async () => {
    const { clock, end, signals, repeated, settle, startedAt, lines } = setUp();
    clock.advance(everyMs);
    const later = repeated.run();
    later.catch(() => {});
    let stopped = false;
    void repeated.stop().then(() => {
      stopped = true;
    });
    await settle();
    expect([signals[0]?.aborted, stopped]).toEqual([true, false]);
    await end(new Error("aborted"));
    await settle();
    expect(stopped).toBe(true);
    await expect(later).rejects.toThrow("stopped");
    repeated.soon();
    clock.advance(10 * everyMs);
    expect(startedAt).toHaveLength(1);
    expect(lines).toEqual([]);
  });

  test("a stop does not wait longer than its bound for work that hangs", async () => {
    const { clock, repeated, settle, ended } = setUp();
    clock.advance(everyMs);
    let stopped = false;
    void repeated.stop().then(() => {
      stopped = true;
    });
    clock.advance(stopMs - 1);
    await settle();
    expect(stopped).toBe(false);
    clock.advance(1);
    await settle();
    expect(stopped).toBe(true);
    clock.advance(deadlineMs);
    expect(ended).toEqual([]);
  });

  test("work that shares its wake-ups with shorter work runs no more often than it says, and no later", async () => {
    const { clock, startedAt, end } = setUp();
    const shorter = repeat({
      ...{ name: "shorter", everyMs: everyMs / 2, firstMs: 100, deadlineMs, stopMs, clock },
      ...{ log: createLog("silent", { write() {} }, false, clock.now), work: async () => {} },
    });
    for (let ms = 0; ms < 10 * everyMs; ms += 50) {
      clock.advance(50);
      await end();
    }
    expect(startedAt).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((at) => at * everyMs));
    await shorter.stop();
  });
});
