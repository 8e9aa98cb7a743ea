import { expect, test } from "bun:test";
import { dateIn, movedRange, presets, rangeOf } from "./periods.ts";

const today = "2026-03-17";
const now = Date.parse("2026-03-17T14:02:00Z");

test.each([
  ["today", { from: "2026-03-17" }],
  ["yesterday", { from: "2026-03-16", to: "2026-03-16" }],
  ["7d", { from: "2026-03-11" }],
  ["30d", { from: "2026-02-16" }],
  ["month", { from: "2026-03-01" }],
  ["last-month", { from: "2026-02-01", to: "2026-02-28" }],
  ["12m", { from: "2025-04-01" }],
  ["year", { from: "2026-01-01" }],
] as const)("%s is %j", (preset, range) => {
  expect(rangeOf(preset, today)).toEqual(range);
});

test("the date is that of the zone", () => {
  const at = Date.parse("2026-03-17T23:30:00Z");
  expect([dateIn("UTC", at), dateIn("Asia/Tokyo", at)]).toEqual(["2026-03-17", "2026-03-18"]);
});

test.each([
  ["days by days", { from: "2026-03-11" }, { from: "2026-03-04", to: "2026-03-10" }],
  ["a month by a month", { from: "2026-03-01" }, { from: "2026-02-01", to: "2026-02-28" }],
  ["a whole month by a month", { from: "2026-01-01", to: "2026-01-31" }, { from: "2025-12-01", to: "2025-12-31" }],
  [
    "times by their length",
    { from: "2026-03-17T10:00:00.000Z", to: "2026-03-17T12:00:00.000Z" },
    { from: "2026-03-17T08:00:00.000Z", to: "2026-03-17T10:00:00.000Z" },
  ],
] as const)("the period before moves %s", (_, range, before) => {
  expect(movedRange(range, -1, now, today)).toEqual(before);
});

test("forth and back is the same period, and there is none in the future", () => {
  for (const preset of presets) {
    const range = rangeOf(preset, today);
    const before = movedRange(range, -1, now, today);
    expect(before && movedRange(before, 1, now, today)).toEqual(range);
    if (range.to === undefined) expect(movedRange(range, 1, now, today)).toBeUndefined();
  }
});
