import { expect, test } from "bun:test";
import { addDays, dateIn, movedRange, parseStep, presetOf, presets, rangeOf } from "./periods.ts";

const today = "2026-03-17";
const now = Date.parse("2026-03-17T14:02:00Z");

test.each([
  ["today", { from: "2026-03-17", step: "1d" }],
  ["yesterday", { from: "2026-03-16", to: "2026-03-16" }],
  ["7d", { from: "2026-03-11", step: "7d" }],
  ["30d", { from: "2026-02-16", step: "30d" }],
  ["month", { from: "2026-03-01", step: "1m" }],
  ["last-month", { from: "2026-02-01", to: "2026-02-28" }],
  ["12m", { from: "2025-04-01", step: "12m" }],
  ["year", { from: "2026-01-01", step: "12m" }],
] as const)("%s is %j", (preset, range) => {
  expect(rangeOf(preset, today)).toEqual(range);
});

test("the date is that of the zone", () => {
  const at = Date.parse("2026-03-17T23:30:00Z");
  expect([dateIn("UTC", at), dateIn("Asia/Tokyo", at)]).toEqual(["2026-03-17", "2026-03-18"]);
});

test.each([
  ["days by days", { from: "2026-03-11" }, { from: "2026-03-04", to: "2026-03-10" }],
  ["days from the 1st by days", { from: "2026-03-01" }, { from: "2026-02-12", to: "2026-02-28", step: undefined }],
  ["a month by a month", { from: "2026-03-01", step: "1m" }, { from: "2026-02-01", to: "2026-02-28" }],
  ["a whole month by a month", { from: "2026-01-01", to: "2026-01-31" }, { from: "2025-12-01", to: "2025-12-31" }],
  [
    "times by their length",
    { from: "2026-03-17T10:00:00.000Z", to: "2026-03-17T12:00:00.000Z" },
    { from: "2026-03-17T08:00:00.000Z", to: "2026-03-17T10:00:00.000Z" },
  ],
] as const)("the period before moves %s", (_, range, before) => {
  expect(movedRange(range, -1, now, today)).toEqual(before);
});

/** Every day of two years, one of them a leap year. */
const days = Array.from({ length: 731 }, (_, place) => addDays("2027-07-01", place));
const nowOf = (date: string) => Date.parse(`${date}T14:02:00Z`);
const move = (range: Parameters<typeof movedRange>[0] | undefined, way: -1 | 1, date: string) =>
  range && movedRange(range, way, nowOf(date), date);

test.each(presets)("%s, moved back and forward again, is the same period on every day", (preset) => {
  for (const date of days) {
    const range = rangeOf(preset, date);
    const before = move(range, -1, date);
    expect([date, move(before, 1, date)]).toEqual([date, range]);
    expect([date, move(move(move(before, -1, date), 1, date), 1, date)]).toEqual([date, range]);
  }
});

test.each(presets)("the period before %s ends the day before it, on every day", (preset) => {
  for (const date of days) {
    const range = rangeOf(preset, date);
    expect([date, move(range, -1, date)?.to]).toEqual([date, addDays(range.from, -1)]);
  }
});

const lengths = { today: 1, yesterday: 1, "7d": 7, "30d": 30, "90d": 90 } as const;
test.each(Object.entries(lengths))("the two periods before %s have its %d days, on every day", (preset, length) => {
  for (const date of days) {
    const range = rangeOf(preset as keyof typeof lengths, date);
    expect(move(range, -1, date)?.from).toBe(addDays(range.from, -length));
    expect(move(move(range, -1, date), -1, date)?.from).toBe(addDays(range.from, -2 * length));
  }
});

const monthCounts = { month: 1, "last-month": 1, "12m": 12, year: 12 } as const;
test.each(Object.entries(monthCounts))("the period before %s has whole months, %d, on every day", (preset, count) => {
  for (const date of days) {
    const range = rangeOf(preset as keyof typeof monthCounts, date);
    const months = Date.UTC(Number(range.from.slice(0, 4)), Number(range.from.slice(5, 7)) - 1 - count, 1);
    expect(move(range, -1, date)?.from).toBe(new Date(months).toISOString().slice(0, 10));
  }
});

test("no period begins in the future, and one up to now has none after it", () => {
  for (const date of days) {
    for (const preset of presets) {
      const range = rangeOf(preset, date);
      const after = move(range, 1, date);
      if (range.to === undefined) expect(after).toBeUndefined();
      else expect(after?.from).toBe(addDays(range.to, 1));
    }
  }
});

test("a preset that was moved back and forward goes on with the days", () => {
  expect(presetOf({ from: "2026-11-01", step: "1d" }, "2026-11-01")).toBe("today");
  expect(presetOf({ from: "2026-11-01", step: "1m" }, "2026-11-01")).toBe("month");
  expect(presetOf({ from: "2026-11-01" }, "2026-11-01")).toBeUndefined();
  expect(presetOf({ from: "2026-11-16", to: "2026-11-16" }, "2026-11-17")).toBeUndefined();
});

test("what is no step in an address is left out, and months count from the 1st only", () => {
  expect(["30d", "1m", "m", "0d", "-1d", "1y", "99999d", undefined].map(parseStep)).toEqual([
    ...(["30d", "1m"] as const),
    ...Array.from({ length: 6 }, () => undefined),
  ]);
  expect(movedRange({ from: "2026-03-11", step: "1m" }, -1, now, today)?.from).toBe("2026-03-04");
});
