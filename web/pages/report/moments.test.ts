import { expect, test } from "bun:test";
import { previousName } from "./clicks-chart.tsx";
import { calendarMs, daysOf, fittingIntervals } from "./moments.ts";

const hourMs = 3_600_000;
const berlin = "Europe/Berlin";

test.each([
  ["the day with 25 hours", "2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00", berlin, 1, "Previous day"],
  ["the day with 23 hours", "2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00", berlin, 1, "Previous day"],
  ["October", "2026-10-01T00:00:00+02:00", "2026-11-01T00:00:00+01:00", berlin, 31, "Previous 31 days"],
  ["March", "2026-03-01T00:00:00+01:00", "2026-04-01T00:00:00+02:00", berlin, 31, "Previous 31 days"],
  ["two days up to now", "2026-10-25T00:00:00+02:00", "2026-10-26T09:15:00+01:00", berlin, 2, "Previous 2 days"],
  [
    "a day from one o'clock",
    "2026-09-06T01:00:00-03:00",
    "2026-09-07T00:00:00-03:00",
    "America/Santiago",
    1,
    "Previous day",
  ],
  ["three hours", "2026-10-25T09:00:00+01:00", "2026-10-25T12:00:00+01:00", berlin, undefined, "Previous period"],
])("%s is compared with what the legend says", (_, from, to, zone, days, name) => {
  expect(daysOf({ from, to, zone })).toBe(days);
  expect(previousName({ compare: "previous" }, { from, to, zone })).toBe(name);
});

test("a comparison by weekdays or with a year before is named after itself", () => {
  const report = { from: "2026-10-01T00:00:00+02:00", to: "2026-11-01T00:00:00+01:00", zone: berlin };
  expect(previousName({ compare: "weekdays" }, report)).toBe("Same weekdays before");
  expect(previousName({ compare: undefined }, report)).toBe("");
});

test("a day of a change of clocks is as long as any other", () => {
  const long = { from: "2026-10-25T00:00:00+02:00", to: "2026-10-27T00:00:00+01:00" };
  const short = { from: "2026-03-28T00:00:00+01:00", to: "2026-03-30T00:00:00+02:00" };
  expect([long, short].map(calendarMs)).toEqual([48 * hourMs, 48 * hourMs]);
  expect(fittingIntervals(calendarMs(short), "hour")).toEqual(fittingIntervals(calendarMs(long), "hour"));
  expect(calendarMs({ from: "2026-10-25T02:30:00+02:00", to: "2026-10-25T02:00:00+01:00" })).toBe(0);
});
