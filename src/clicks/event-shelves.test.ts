import { expect, test } from "bun:test";
import { dayMs } from "../base/clock.ts";
import { quarterMs } from "./click.ts";
import { allShelves, everyLevel, levelMost, shelfOf, shelvesOf } from "./event-shelves.ts";

const day = Date.UTC(2026, 10, 17);

test("a range finds every event in it, whatever its level and wherever the range begins", () => {
  for (let first = 0; first < 96; first += 5) {
    for (const quarters of [1, 2, 12, 13, 50, 84, 85, 96, 97, 200]) {
      const span = { from: day + first * quarterMs, to: day + (first + quarters) * quarterMs };
      const shelves = shelvesOf(everyLevel, span);
      for (const at of [span.from, span.from + Math.floor((span.to - span.from) / 2), span.to - 1]) {
        for (const level of everyLevel) {
          expect(shelves).toContain(shelfOf(level, at));
          // Stored before there were parts.
          expect(shelves).toContain(level);
        }
      }
    }
  }
});

test("an hour looks at one part of the day of low levels", () => {
  const shelves = shelvesOf(everyLevel, { from: day + 15 * 4 * quarterMs, to: day + 16 * 4 * quarterMs });
  expect(shelves).toEqual([...everyLevel, ...[0, 1, 2, 3].map((level) => shelfOf(level, day + 16 * 4 * quarterMs))]);
  expect(shelves).not.toContain(shelfOf(0, day + 14 * 4 * quarterMs));
});

test("a sample has the shelves of its levels and no others", () => {
  const whole = { from: day, to: day + dayMs };
  const all = everyLevel.flatMap((level) => shelvesOf([level], whole));
  expect(new Set(all).size).toBe(all.length);
  expect(all.toSorted((a, b) => a - b)).toEqual([...allShelves]);
  for (let at = day; at < whole.to; at += quarterMs) {
    for (const level of everyLevel) {
      const rest = everyLevel.filter((one) => one !== level);
      expect(shelvesOf(rest, whole)).not.toContain(shelfOf(level, at));
    }
  }
  expect(shelvesOf(everyLevel.slice(levelMost), whole)).toEqual([levelMost]);
});
