import { expect, test } from "bun:test";
import { manualClock } from "./clock.ts";
import { sharedAfter } from "./wake-ups.ts";

function setUp() {
  const clock = manualClock(0);
  const went: [name: string, at: number][] = [];
  const start = (name: string, ms: number, earlyMs: number) =>
    sharedAfter(clock, ms, earlyMs, () => went.push([name, clock.elapsed()]));
  return { clock, went, start };
}

test("a timer that may go off early goes off with another one", () => {
  const { clock, went, start } = setUp();
  start("late", 1_000, 400);
  start("early", 700, 0);
  clock.advance(2_000);
  expect(went).toEqual([
    ["early", 700],
    ["late", 700],
  ]);
});

test("a timer goes off neither before it may nor after its time", () => {
  const { clock, went, start } = setUp();
  start("first", 500, 0);
  start("later", 1_000, 499);
  clock.advance(2_000);
  expect(went).toEqual([
    ["first", 500],
    ["later", 1_000],
  ]);
});

test("a timer that is called off goes off with no other, and wakes none", () => {
  const { clock, went, start } = setUp();
  start("called off", 800, 800)();
  let stop = () => {};
  sharedAfter(clock, 1_000, 500, () => {
    went.push(["other", clock.elapsed()]);
    stop();
  });
  stop = start("by another one", 1_000, 500);
  sharedAfter(clock, 700, 0, () => {});
  clock.advance(699);
  expect(went).toEqual([]);
  clock.advance(1);
  expect(went).toEqual([["other", 700]]);
  clock.advance(1_000);
  expect(went).toHaveLength(1);
});

test("what goes off together stays together, at the intervals of each", () => {
  const { clock, went } = setUp();
  const again = (name: string, ms: number) => {
    sharedAfter(clock, ms, Math.min(450, 0.45 * ms), () => {
      went.push([name, clock.elapsed()]);
      again(name, ms);
    });
  };
  const begin = (name: string, ms: number, at: number) => sharedAfter(clock, at, 0, () => again(name, ms));
  begin("feed", 500, 10);
  begin("hits", 1_000, 360);
  begin("beat", 2_000, 777);
  clock.advance(20_000);
  const settled = went.filter(([, at]) => at > 4_000);
  const wakes = new Set(settled.map(([, at]) => at));
  expect(wakes.size).toBe(settled.filter(([name]) => name === "feed").length);
  for (const [name, ms] of [
    ["feed", 500],
    ["hits", 1_000],
    ["beat", 2_000],
  ] as const) {
    const times = settled.flatMap(([one, at]) => (one === name ? [at] : []));
    expect(times.length).toBeGreaterThanOrEqual(7);
    expect(times.slice(1).every((at, place) => at - (times[place] ?? 0) === ms)).toBe(true);
  }
});
