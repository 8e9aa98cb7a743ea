import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { days, type Hours } from "../links/routing/rules.ts";
import { isWithinHours } from "./hours.ts";

const office: Hours = { zone: "Europe/Berlin", fromMinute: 9 * 60, untilMinute: 17 * 60 + 30 };
const at = (text: string) => Date.parse(text);

describe("hours of a zone", () => {
  test.each([
    ["2026-11-16T07:59:59Z", false],
    ["2026-11-16T08:00:00Z", true],
    ["2026-11-16T16:29:59Z", true],
    ["2026-11-16T16:30:00Z", false],
    // In summer the same clock is an hour earlier.
    ["2026-07-16T06:59:59Z", false],
    ["2026-07-16T07:00:00Z", true],
  ])("begin and end by its own clock: %s", (time, expected) => {
    expect(isWithinHours(office, at(time))).toBe(expected);
  });

  test("change over with its clock, in the very minute", () => {
    const third: Hours = { zone: "Europe/Berlin", fromMinute: 180, untilMinute: 240 };
    expect([at("2026-03-29T00:59:59Z"), at("2026-03-29T01:00:00Z")].map((now) => isWithinHours(third, now))).toEqual([
      false,
      true,
    ]);
  });

  test("are those of a day as it is called there", () => {
    const monday: Hours = { zone: "Pacific/Auckland", days: ["mon"], fromMinute: 0, untilMinute: 1_440 };
    expect(isWithinHours(monday, at("2026-11-15T10:59:59Z"))).toBe(false);
    expect(isWithinHours(monday, at("2026-11-15T11:00:00Z"))).toBe(true);
    expect(isWithinHours(monday, at("2026-11-16T11:00:00Z"))).toBe(false);
  });

  test("that end before they begin end on the next day, and belong to the day they began on", () => {
    const night: Hours = { zone: "UTC", days: ["fri"], fromMinute: 22 * 60, untilMinute: 6 * 60 };
    const moments = [
      ...["2026-11-20T05:00:00Z", "2026-11-20T22:00:00Z", "2026-11-21T05:59:59Z"],
      ...["2026-11-21T06:00:00Z", "2026-11-21T23:00:00Z"],
    ];
    expect(moments.map((time) => isWithinHours(night, at(time)))).toEqual([false, true, true, false, false]);
  });

  test("in an unknown zone never match", () => {
    expect(isWithinHours({ zone: "Mars/Olympus", fromMinute: 0, untilMinute: 1_440 }, at("2026-11-16T12:00:00Z"))).toBe(
      false,
    );
  });

  test("are what a calendar of that zone says, whatever the moment", () => {
    const zones = ["Asia/Kathmandu", "America/St_Johns", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Tehran"];
    const moment = fc.integer({ min: at("1975-01-01T00:00:00Z"), max: at("2037-01-01T00:00:00Z") });
    fc.assert(
      fc.property(fc.constantFrom(...zones), moment, (zone, now) => {
        const shown = new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit" }).format(
          now,
        );
        const day = new Intl.DateTimeFormat("en-GB", { timeZone: zone, weekday: "short" }).format(now).toLowerCase();
        const minute = Number(shown.slice(0, 2)) * 60 + Number(shown.slice(3));
        const today = days.find((one) => one === day) ?? "sun";
        return (
          isWithinHours({ zone, days: [today], fromMinute: minute, untilMinute: minute + 1 }, now) &&
          !isWithinHours({ zone, days: [today], fromMinute: minute + 1, untilMinute: minute + 2 }, now)
        );
      }),
      { numRuns: 500 },
    );
  });
});
