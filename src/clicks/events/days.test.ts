import { describe, expect, test } from "bun:test";
import { naturalDay, naturalStart } from "./days.ts";

const iso = (at: number) => new Date(at).toISOString().replace(":00.000Z", "Z");
const dayOf = (at: string, zone: string) => {
  const { start, until } = naturalDay(Date.parse(at), zone);
  return [iso(start), iso(until)];
};

describe("a day of a zone", () => {
  test("is 24 hours from its midnight, also at odd offsets from UTC", () => {
    expect(dayOf("2026-11-17T12:00Z", "UTC")).toEqual(["2026-11-17T00:00Z", "2026-11-18T00:00Z"]);
    expect(dayOf("2026-11-17T12:00Z", "Asia/Kathmandu")).toEqual(["2026-11-16T18:15Z", "2026-11-17T18:15Z"]);
    expect(dayOf("2026-11-17T12:00Z", "Asia/Kolkata")).toEqual(["2026-11-16T18:30Z", "2026-11-17T18:30Z"]);
    expect(dayOf("2026-11-17T12:00Z", "Pacific/Kiritimati")).toEqual(["2026-11-17T10:00Z", "2026-11-18T10:00Z"]);
    expect(dayOf("2026-11-17T09:59Z", "Pacific/Kiritimati")).toEqual(["2026-11-16T10:00Z", "2026-11-17T10:00Z"]);
    expect(dayOf("2026-11-17T02:00Z", "America/St_Johns")).toEqual(["2026-11-16T03:30Z", "2026-11-17T03:30Z"]);
  });

  test("has 23 and 25 hours when clocks change", () => {
    expect(dayOf("2026-03-29T12:00Z", "Europe/Berlin")).toEqual(["2026-03-28T23:00Z", "2026-03-29T22:00Z"]);
    expect(dayOf("2026-10-25T00:30Z", "Europe/Berlin")).toEqual(["2026-10-24T22:00Z", "2026-10-25T23:00Z"]);
    expect(dayOf("2026-10-25T22:59Z", "Europe/Berlin")).toEqual(["2026-10-24T22:00Z", "2026-10-25T23:00Z"]);
  });

  test("begins at 1:00 where midnight is skipped, and no day is missing", () => {
    // Cairo: the clock goes from 0:00 to 1:00 on the last Friday of April.
    expect(dayOf("2026-04-24T12:00Z", "Africa/Cairo")).toEqual(["2026-04-23T22:00Z", "2026-04-24T21:00Z"]);
    expect(dayOf("2018-11-04T12:00Z", "America/Sao_Paulo")).toEqual(["2018-11-04T03:00Z", "2018-11-05T02:00Z"]);
  });

  test("is followed by the day after next where a date was left out", () => {
    expect(dayOf("2011-12-30T09:59Z", "Pacific/Apia")).toEqual(["2011-12-29T10:00Z", "2011-12-30T10:00Z"]);
    expect(dayOf("2011-12-30T10:00Z", "Pacific/Apia")).toEqual(["2011-12-30T10:00Z", "2011-12-31T10:00Z"]);
  });

  test("includes its first millisecond, and not that of the next", () => {
    const { start, until } = naturalDay(Date.parse("2026-10-25T12:00Z"), "Europe/Berlin");
    expect(naturalDay(start, "Europe/Berlin")).toEqual({ start, until });
    expect(naturalDay(until - 1, "Europe/Berlin")).toEqual({ start, until });
    expect(naturalDay(until, "Europe/Berlin").start).toBe(until);
    expect(naturalDay(start - 1, "Europe/Berlin").until).toBe(start);
  });

  test("of a zone that does not exist is a day of UTC", () => {
    expect(dayOf("2026-11-17T12:00Z", "Mars/Olympus")).toEqual(["2026-11-17T00:00Z", "2026-11-18T00:00Z"]);
  });

  test("lies next to the others without gap or overlap, in every zone, for two years", () => {
    const wrong: string[] = [];
    for (const zone of ["Europe/Berlin", "America/New_York", "Asia/Beirut", "Australia/Lord_Howe", "Africa/Cairo"]) {
      const end = Date.UTC(2028, 0, 1);
      for (let day = naturalDay(Date.UTC(2026, 0, 1), zone); day.until < end; ) {
        const next = naturalDay(day.until, zone);
        const hours = (day.until - day.start) / 3_600_000;
        if (next.start !== day.until || hours < 22.5 || hours > 25.5) wrong.push(`${zone} ${iso(day.start)} ${hours}`);
        day = next;
      }
    }
    expect(wrong).toEqual([]);
  });
});

test("a week begins with its Monday", () => {
  const weekOf = (at: string, zone: string) => iso(naturalStart.week(Date.parse(at), zone));
  expect(weekOf("2026-11-17T12:00Z", "UTC")).toBe("2026-11-16T00:00Z");
  expect(weekOf("2026-11-16T00:00Z", "UTC")).toBe("2026-11-16T00:00Z");
  expect(weekOf("2026-11-15T23:59Z", "UTC")).toBe("2026-11-09T00:00Z");
  expect(weekOf("2026-11-16T03:00Z", "America/New_York")).toBe("2026-11-09T05:00Z");
  // The clocks change on a Sunday.
  expect(weekOf("2026-11-01T20:00Z", "America/New_York")).toBe("2026-10-26T04:00Z");
  expect(weekOf("2026-11-15T10:30Z", "Pacific/Kiritimati")).toBe("2026-11-15T10:00Z");
});

test("a month begins with its first day", () => {
  const monthOf = (at: string, zone: string) => iso(naturalStart.month(Date.parse(at), zone));
  expect(monthOf("2026-11-17T12:00Z", "UTC")).toBe("2026-11-01T00:00Z");
  expect(monthOf("2026-11-17T12:00Z", "America/New_York")).toBe("2026-11-01T04:00Z");
  expect(monthOf("2026-12-31T22:59Z", "Europe/Berlin")).toBe("2026-11-30T23:00Z");
  expect(monthOf("2026-11-30T23:00Z", "Europe/Berlin")).toBe("2026-11-30T23:00Z");
  expect(monthOf("2026-12-31T23:30Z", "Asia/Kathmandu")).toBe("2026-12-31T18:15Z");
});

test("a quarter year begins with its first month", () => {
  const quarterYearOf = (at: string, zone: string) => iso(naturalStart.quarterYear(Date.parse(at), zone));
  expect(quarterYearOf("2026-11-17T12:00Z", "UTC")).toBe("2026-10-01T00:00Z");
  expect(quarterYearOf("2026-10-01T00:00Z", "UTC")).toBe("2026-10-01T00:00Z");
  expect(quarterYearOf("2026-09-30T23:59Z", "UTC")).toBe("2026-07-01T00:00Z");
  expect(quarterYearOf("2026-03-31T23:00Z", "America/New_York")).toBe("2026-01-01T05:00Z");
  expect(quarterYearOf("2026-06-30T22:00Z", "Europe/Berlin")).toBe("2026-06-30T22:00Z");
  expect(quarterYearOf("2027-03-31T09:59Z", "Pacific/Kiritimati")).toBe("2026-12-31T10:00Z");
});
