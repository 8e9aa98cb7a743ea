import { describe, expect, test } from "bun:test";
import { pointName, tickNames } from "./point-names.ts";
import { hourMs, type Interval, intervals, startsWithin } from "./zones.ts";

const zone = "Europe/Berlin";
const at = Date.parse("2026-09-07T00:00:00+02:00");

describe("the name of a point", () => {
  test("says what it covers: a time, a day, a week or a month", () => {
    const named = (interval: Interval) => [
      pointName(at, { interval, zone }),
      pointName(at, { interval, zone }, "long"),
    ];
    expect(intervals.map(named)).toEqual([
      ["7 Sep 2026, 00:00", "7 September 2026, 00:00"],
      ["7 Sep 2026, 00:00", "7 September 2026, 00:00"],
      ["7 Sep 2026", "7 September 2026"],
      ["week from 7 Sep 2026", "week from 7 September 2026"],
      ["September 2026", "September 2026"],
    ]);
  });

  test("is that of no other point, also in the night when clocks go back", () => {
    for (const [name, change] of [
      [zone, "2026-10-25"],
      ["Australia/Lord_Howe", "2026-04-05"],
      ["Antarctica/Troll", "2026-10-25"],
    ] as const) {
      const noon = Date.parse(`${change}T12:00:00Z`);
      for (const interval of intervals) {
        const about = { interval, zone: name };
        const starts = startsWithin(name, interval, noon - 48 * hourMs, noon + 24 * hourMs, 1_000);
        expect(new Set(starts.map((start) => pointName(start, about))).size).toBe(starts.length);
        expect(new Set(tickNames(starts, about)).size).toBe(starts.length);
      }
    }
    const [first, second] = [Date.UTC(2026, 9, 25, 0), Date.UTC(2026, 9, 25, 1)];
    expect([first, second].map((start) => pointName(start, { interval: "hour", zone }))).toEqual([
      "25 Oct 2026, 02:00 (UTC+02:00)",
      "25 Oct 2026, 02:00 (UTC+01:00)",
    ]);
  });
});

test("an axis has times for a day, days with times for some, and the year where it changes", () => {
  const ticks = (interval: Interval, ...times: string[]) =>
    tickNames(
      times.map((time) => Date.parse(`${time}+01:00`)),
      { interval, zone },
    );
  expect(ticks("hour", "2026-11-19T00:00", "2026-11-19T23:00")).toEqual(["00:00", "23:00"]);
  expect(ticks("hour", "2026-11-18T00:00", "2026-11-19T01:00")).toEqual(["18 Nov, 00:00", "19 Nov, 01:00"]);
  expect(ticks("day", "2026-11-18T00:00", "2026-11-19T00:00")).toEqual(["18 Nov", "19 Nov"]);
  expect(ticks("week", "2026-11-16T00:00", "2027-11-15T00:00")).toEqual(["16 Nov 2026", "15 Nov 2027"]);
  expect(ticks("month", "2026-11-01T00:00", "2026-12-01T00:00")).toEqual(["Nov 2026", "Dec 2026"]);
  expect(ticks("day")).toEqual([]);
});
