import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { reckonStarts } from "../../../test/ground/slow-calendar.ts";
import {
  type Interval,
  intervals,
  isZone,
  movedBy,
  nextStart,
  startOf,
  startOfDay,
  startsWithin,
  toLocalIso,
} from "./zones.ts";

const dayMs = 86_400_000;
const quarterMs = 900_000;
const iso = (at: number) => new Date(at).toISOString();

/** Zones with unusual clocks, and a moment at which each was changed. */
const changes: readonly (readonly [zone: string, at: string])[] = [
  ["Europe/Berlin", "2026-03-29T01:00Z"],
  ["Europe/Berlin", "2026-10-25T01:00Z"],
  ["America/St_Johns", "2026-03-08T05:30Z"],
  ["America/Sao_Paulo", "2018-11-04T03:00Z"],
  ["America/Sao_Paulo", "2018-02-18T02:00Z"],
  ["Asia/Beirut", "2022-03-26T22:00Z"],
  ["Australia/Lord_Howe", "2026-04-04T15:00Z"],
  ["Australia/Lord_Howe", "2026-10-03T15:30Z"],
  ["Pacific/Apia", "2011-12-30T10:00Z"],
  ["Pacific/Fakaofo", "2011-12-30T10:00Z"],
  ["Asia/Pyongyang", "2018-05-04T15:00Z"],
  ["America/Caracas", "2016-05-01T07:00Z"],
  ["Antarctica/Troll", "2026-03-29T01:00Z"],
  ["Asia/Kolkata", "2025-12-31T23:59Z"],
  ["Asia/Kathmandu", "2026-01-01T00:00Z"],
  ["Pacific/Kiritimati", "2026-01-01T00:00Z"],
  ["Pacific/Chatham", "2026-04-04T14:00Z"],
  ["Africa/Casablanca", "2026-02-15T02:00Z"],
  ["UTC", "2026-02-28T23:00Z"],
];

/** All starts after the first, which is where the range begins. */
const found = (zone: string, interval: Interval, from: number, to: number) =>
  startsWithin(zone, interval, from, to, 100_000).slice(1).map(iso);

describe("intervals in a time zone", () => {
  for (const [zone, at] of changes) {
    test(`begin where a clock that is read minute by minute says, around ${at} in ${zone}`, () => {
      const change = Date.parse(at);
      const middle = change - (change % quarterMs);
      for (const interval of intervals) {
        const span = interval === "quarter" || interval === "hour" ? dayMs : 3 * dayMs;
        const expected = reckonStarts(zone, interval, middle - span + 60_000, middle + span);
        expect([interval, ...found(zone, interval, middle - span, middle + span)]).toEqual([
          interval,
          ...expected.map(iso),
        ]);
      }
    });
  }

  test("begin where the slow reckoning says, at any time in any zone", () => {
    const zones = [...Intl.supportedValuesOf("timeZone"), "UTC"];
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.constantFrom(...intervals),
        fc.integer({ min: Date.UTC(2012) / quarterMs, max: Date.UTC(2037) / quarterMs }),
        (zone, interval, quarter) => {
          const from = quarter * quarterMs;
          const to = from + 2 * dayMs;
          expect(found(zone, interval, from, to)).toEqual(reckonStarts(zone, interval, from + 60_000, to).map(iso));
        },
      ),
      { numRuns: 60 },
    );
  });

  test("follow each other without a gap, and every moment is in the one that began last", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...changes),
        fc.constantFrom(...intervals),
        fc.integer({ min: -400, max: 400 }),
        ([zone, change], interval, quarters) => {
          const changed = Date.parse(change);
          const at = changed - (changed % quarterMs) + quarters * quarterMs;
          const start = startOf(zone, interval, at);
          expect(start).toBeLessThanOrEqual(at);
          expect(nextStart(zone, interval, at)).toBeGreaterThan(at);
          expect(nextStart(zone, interval, start)).toBe(nextStart(zone, interval, at));
          expect(startOf(zone, interval, nextStart(zone, interval, at))).toBe(nextStart(zone, interval, at));
          expect(start % quarterMs).toBe(0);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test("a day that does not exist is left out", () => {
    const days = found("Pacific/Apia", "day", Date.parse("2011-12-28T12:00Z"), Date.parse("2012-01-02T00:00Z"));
    expect(days).toEqual([
      "2011-12-29T10:00:00.000Z",
      "2011-12-30T10:00:00.000Z",
      "2011-12-31T10:00:00.000Z",
      "2012-01-01T10:00:00.000Z",
    ]);
  });

  test("a half-hour change gives an hour of 30 minutes", () => {
    expect(
      found("Australia/Lord_Howe", "hour", Date.parse("2026-04-04T14:00Z"), Date.parse("2026-04-04T17:00Z")),
    ).toEqual(["2026-04-04T15:00:00.000Z", "2026-04-04T15:30:00.000Z", "2026-04-04T16:30:00.000Z"]);
  });

  test("are not counted further than asked", () => {
    expect(startsWithin("UTC", "quarter", 946_684_800_000, 1_946_684_800_000, 100)).toHaveLength(101);
  });
});

describe("a time zone", () => {
  test("is one of the IANA list", () => {
    expect(
      ["Europe/Berlin", "UTC", "Etc/GMT+5", "America/Argentina/Buenos_Aires"].filter((zone) => !isZone(zone)),
    ).toEqual([]);
    const bad = [
      "",
      "Mars/Olympus",
      "+02:00",
      "Europe/Berlin\n",
      "../etc/passwd",
      "__proto__",
      "Europe/".padEnd(400, "x"),
    ];
    expect(bad.filter(isZone)).toEqual([]);
  });

  test("shows a moment with its offset", () => {
    const at = Date.parse("2026-11-17T12:00Z");
    const shown = ["Asia/Kathmandu", "America/St_Johns", "UTC", "Pacific/Kiritimati"].map((zone) =>
      toLocalIso(zone, at),
    );
    expect(shown).toEqual([
      "2026-11-17T17:45:00+05:45",
      "2026-11-17T08:30:00-03:30",
      "2026-11-17T12:00:00+00:00",
      "2026-11-18T02:00:00+14:00",
    ]);
    for (const text of shown) expect(Date.parse(text)).toBe(at);
  });

  test("moves a moment by its calendar: the clock shows the same time", () => {
    const moved = (zone: string, at: string, by: { days?: number; months?: number }) =>
      toLocalIso(zone, movedBy(zone, Date.parse(at), by));
    expect(moved("Europe/Berlin", "2026-03-30T00:00:00+02:00", { days: -7 })).toBe("2026-03-23T00:00:00+01:00");
    expect(moved("Europe/Berlin", "2028-02-29T10:00:00+01:00", { months: -12 })).toBe("2027-02-28T10:00:00+01:00");
    // 02:30 does not exist on that day.
    expect(moved("Europe/Berlin", "2026-03-30T02:30:00+02:00", { days: -1 })).toBe("2026-03-29T03:00:00+02:00");
    expect(moved("Pacific/Apia", "2011-12-31T00:00:00+14:00", { days: -1 })).toBe("2011-12-31T00:00:00+14:00");
  });

  test("begins a day at its first moment, where midnight does not exist", () => {
    expect(toLocalIso("America/Sao_Paulo", startOfDay("America/Sao_Paulo", Date.UTC(2018, 10, 4) / dayMs))).toBe(
      "2018-11-04T01:00:00-02:00",
    );
  });
});
