import { expect, test } from "bun:test";
import { dayMs } from "../../base/clock.ts";
import { grains } from "../rollups/periods.ts";
import { emptyDaysIn } from "./gather.ts";

const hourMs = 3_600_000;
const day = (start: number, until: number) => ({ grain: grains.day, start, from: start, to: until });
const [first, end] = [100, 110];
const all = { from: first * dayMs, to: end * dayMs };

test("a day of UTC is empty if no day with clicks touches it", () => {
  const inUtc = [day(102 * dayMs, 103 * dayMs)];
  expect([...emptyDaysIn(all, inUtc, all)]).toEqual([100, 101, 103, 104, 105, 106, 107, 108, 109]);
  const inBerlin = [day(102 * dayMs - hourMs, 103 * dayMs - hourMs)];
  expect([...emptyDaysIn(all, inBerlin, all)]).toEqual([100, 103, 104, 105, 106, 107, 108, 109]);
});

test("a day that is not condensed as a whole, or whose roll-ups are deleted, is never empty", () => {
  const condensed = { from: 102 * dayMs - hourMs, to: 105 * dayMs + hourMs };
  expect([...emptyDaysIn(all, [], condensed)]).toEqual([102, 103, 104]);
  expect([...emptyDaysIn(all, [], { from: 0, to: 0 })]).toEqual([]);
});

test("hours and months do not tell which days have clicks", () => {
  const others = [grains.part, grains.month].map((grain) => ({ ...day(100 * dayMs, 110 * dayMs), grain }));
  expect(emptyDaysIn(all, others, all).size).toBe(10);
});
