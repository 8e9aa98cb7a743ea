import { describe, expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createHot } from "./hot-links.ts";

function setUp(linksMost?: number) {
  const clock = manualClock(0);
  const hot = createHot(clock, linksMost);
  return {
    hot,
    clock,
    /** So many visits a second, for so long. */
    visit(rates: Record<string, number>, seconds: number) {
      for (let i = 0; i < seconds; i++) {
        clock.advance(1_000);
        hot.add(new Map(Object.entries(rates)));
      }
    },
  };
}

describe("hot links", () => {
  test("are listed by their visits per minute, hottest first", () => {
    const { hot, visit } = setUp();
    visit({ warm: 2, hot: 10, cold: 1 }, 600);
    expect(hot.top(2).map(({ key }) => key)).toEqual(["hot", "warm"]);
    expect(hot.perMinute("hot")).toBeWithin(590, 610);
    expect(hot.top(1)[0]?.usualPerMinute).toBeWithin(560, 640);
    expect(hot.perMinute("never seen")).toBe(0);
  });

  test("cool down without visits", () => {
    const { hot, visit, clock } = setUp();
    visit({ a: 10 }, 300);
    clock.advance(300_000);
    expect(hot.perMinute("a")).toBeLessThan(10);
  });

  test("are as many as there is room for; a hotter newcomer takes the place of the coldest", () => {
    const { hot, visit } = setUp(3);
    visit({ a: 10, b: 20, c: 30 }, 60);
    visit({ a: 10, b: 20, c: 30, d: 1 }, 60);
    expect(hot.top(9).map(({ key }) => key)).toEqual(["c", "b", "a"]);
    visit({ b: 20, c: 30, e: 1_000 }, 2);
    expect(hot.top(9).map(({ key }) => key)).toEqual(["e", "c", "b"]);
  });

  test("do not take more room or time for a hundred thousand links at once", () => {
    const { hot } = setUp(100);
    hot.add(new Map(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, (i % 7) + 1])));
    expect(hot.top(1_000)).toHaveLength(100);
    expect(hot.top(1)[0]?.perMinute).toBe(7);
  });

  test("far above their own rate are flagged, not before that rate is known, and no longer than it lasts", () => {
    const { hot, visit } = setUp();
    visit({ a: 100 }, 5);
    expect(hot.top(1)[0]?.unusual).toBe(false);
    const later = setUp();
    later.visit({ a: 1, b: 100 }, 1_800);
    later.visit({ a: 100, b: 100 }, 20);
    expect(later.hot.top(9).map(({ key, unusual }) => [key, unusual])).toEqual([
      ["b", false],
      ["a", true],
    ]);
    later.visit({ a: 1, b: 100 }, 300);
    expect(later.hot.top(9).some(({ unusual }) => unusual)).toBe(false);
  });

  test("with few visits are not flagged, however few they had before", () => {
    const { hot, visit } = setUp();
    visit({ a: 1 }, 1);
    visit({}, 3_600);
    visit({ a: 10 }, 9);
    expect(hot.top(1)[0]?.perMinute).toBeWithin(80, 90);
    expect(hot.top(1)[0]?.unusual).toBe(false);
    visit({ a: 10 }, 9);
    expect(hot.top(1)[0]?.unusual).toBe(true);
  });
});
