import { describe, expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createChangeRates } from "./changes.ts";

const hourMs = 3_600_000;

function setUp() {
  const clock = manualClock(0);
  return { clock, changes: createChangeRates(clock) };
}

describe("how often a link changes", () => {
  test("is the number of its changes, each of which fades over a day", () => {
    const { clock, changes } = setUp();
    expect(changes.perDay("a")).toBe(0);
    for (let version = 1; version <= 5; version++) changes.add("a", version);
    changes.add("b", 1);
    expect([changes.perDay("a"), changes.perDay("b")]).toEqual([5, 1]);
    clock.advance(24 * hourMs);
    expect(changes.perDay("a")).toBeCloseTo(5 / Math.E);
    clock.advance(240 * hourMs);
    expect(changes.perDay("a")).toBeLessThan(0.001);
  });

  test("converges to the rate of one change per hour", () => {
    const { clock, changes } = setUp();
    for (let version = 1; version <= 240; version++) {
      clock.advance(hourMs);
      changes.add("a", version);
    }
    expect(changes.perDay("a")).toBeWithin(23, 26);
  });

  test("does not grow when the feed tells of the same change again and again", () => {
    const { changes } = setUp();
    for (const version of [7, 7, 7, 6, 7]) changes.add("a", version);
    expect(changes.perDay("a")).toBe(1);
    changes.add("a", 8);
    expect(changes.perDay("a")).toBe(2);
  });

  test("takes room for ten thousand links, those that changed last", () => {
    const { changes } = setUp();
    for (let i = 0; i <= 10_000; i++) changes.add(`k${i}`, 1);
    expect([changes.perDay("k0"), changes.perDay("k1"), changes.perDay("k10000")]).toEqual([0, 1, 1]);
  });
});
