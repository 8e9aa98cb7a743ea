import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { countsByDay, grains } from "../rollups/periods.ts";
import { type CoverSettings, coverOf, overlaps, type RollupPeriod, without } from "./cover.ts";
import type { Span } from "./query.ts";

/** A small calendar: an hour is 4 quarter hours, a part 3 hours, a day 2 parts, a week 2 days, a month 5 days, a quarter year 2 months. The unit is a quarter hour. */
const [hour, part, day, week, month, quarterYear] = [4, 12, 24, 48, 120, 240];
const end = 4 * month;

interface Choice {
  readonly span: Span;
  readonly rows: readonly RollupPeriod[];
  readonly settings: CoverSettings;
}

/** Often where a month begins: few other ranges have a month or quarter year in them. */
const time = fc.oneof(
  fc.integer({ min: 0, max: end }),
  fc.integer({ min: 0, max: end / month }).map((n) => n * month),
);

const choices: fc.Arbitrary<Choice> = fc
  .record({
    ends: fc.uniqueArray(time, { minLength: 2, maxLength: 2 }),
    every: fc.constantFrom(1, 3, hour, day, 7 * hour, month),
    shift: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: day })),
    condensed: fc.oneof(fc.constant(end / day), fc.integer({ min: 0, max: end / day })),
    rollupsFrom: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: end })),
    eventsFrom: fc.integer({ min: 0, max: end / day }),
    daysFrom: fc.integer({ min: 0, max: end / day }),
    byDay: fc.boolean(),
    quiet: fc.array(fc.boolean(), { minLength: end / day, maxLength: end / day }),
    busyHours: fc.array(fc.boolean(), { minLength: end / hour, maxLength: end / hour }),
    busyParts: fc.array(fc.boolean(), { minLength: end / part, maxLength: end / part }),
    busyWeeks: fc.array(fc.boolean(), { minLength: end / week, maxLength: end / week }),
    busyQuarterYears: fc.array(fc.boolean(), { minLength: end / quarterYear, maxLength: end / quarterYear }),
  })
  .map(({ ends, every, shift, condensed, rollupsFrom, eventsFrom, daysFrom, byDay, quiet, ...busy }) => {
    const [from = 0, to = 0] = ends.toSorted((a, b) => a - b);
    const starts = [from];
    for (let at = shift; at < to; at += every) if (at > from) starts.push(at);
    const condensedUntil = condensed * day;
    const periods = (grain: number, length: number) =>
      Array.from({ length: end / length }, (_, i) => ({ grain, from: i * length, to: (i + 1) * length }));
    const rows = [
      ...periods(grains.part, hour).filter((_, i) => busy.busyHours[i]),
      ...periods(grains.part, part).filter((_, i) => busy.busyParts[i]),
      ...periods(grains.day, day).filter(
        (one, i) => one.to <= condensedUntil && one.from >= daysFrom * day && !quiet[i],
      ),
      // Weeks are kept for less time than days.
      ...periods(grains.week, week).filter(
        (one, i) => one.to <= condensedUntil && one.from >= daysFrom * day && busy.busyWeeks[i],
      ),
      ...periods(grains.month, month).filter((one) => one.to <= condensedUntil && one.from >= rollupsFrom),
      ...periods(grains.quarterYear, quarterYear).filter(
        (one, i) => one.to <= condensedUntil && one.from >= rollupsFrom && busy.busyQuarterYears[i],
      ),
    ];
    const days = periods(grains.day, day);
    return {
      span: { from, to },
      rows,
      settings: {
        starts,
        days,
        condensedUntil,
        rollupsFrom,
        eventsFrom: eventsFrom * day,
        daysFrom: daysFrom * day,
        byDay,
      },
    };
  });

const sizeOf = (spans: readonly Span[]) => spans.reduce((sum, { from, to }) => sum + to - from, 0);
const areApart = (spans: readonly Span[]) =>
  spans.every((one, i) => one.from < one.to && spans.slice(i + 1).every((two) => !overlaps(one, two)));

describe("what a report reads", () => {
  const eachCover = (check: (cover: ReturnType<typeof coverOf<RollupPeriod>>, choice: Choice) => void) =>
    fc.assert(
      fc.property(choices, (choice) => check(coverOf(choice.span, choice.rows, choice.settings), choice)),
      { numRuns: 2_000 },
    );

  test("is apart: no click is in two roll-ups, or in a roll-up and in events", () =>
    eachCover(({ whole, gaps, ofMonths }, { span }) => {
      const parts = [...whole, ...gaps, ...ofMonths];
      expect(areApart(parts)).toBe(true);
      expect(parts.filter(({ from, to }) => from < span.from || to > span.to)).toEqual([]);
    }));

  test("leaves out nothing but condensed periods without a roll-up", () =>
    eachCover(({ whole, gaps, ofMonths }, { span, rows, settings }) => {
      // A part of a day, a week or a quarter year may be missing: what lies below it has its clicks.
      const isNeeded = ({ grain }: RollupPeriod) => grain === grains.day || grain === grains.month;
      const left = without([span], [...whole, ...gaps, ...ofMonths]);
      const isQuiet = (part: Span) =>
        part.to <= settings.condensedUntil &&
        part.from >= Math.min(settings.rollupsFrom, settings.condensedUntil) &&
        !rows.some((row) => isNeeded(row) && overlaps(row, part) && !whole.includes(row));
      expect(left.filter((part) => !isQuiet(part))).toEqual([]);
      expect(sizeOf(left) + sizeOf(whole) + sizeOf(gaps) + sizeOf(ofMonths)).toBe(span.to - span.from);
    }));

  test("are the parts that days and months still count, where the range cuts these", () =>
    eachCover(({ cut, cutMonths, ofCut, ofMonths, gaps }, { settings }) => {
      expect(without(ofCut, cut)).toEqual([]);
      expect(without(ofCut, gaps)).toEqual([]);
      expect(without(ofMonths, cutMonths)).toEqual([]);
      const isRead = ({ from }: Span) => from >= settings.eventsFrom && from < settings.daysFrom;
      expect(ofMonths.filter(isRead)).toEqual([]);
    }));

  test("is the quarter year, month, week, day or part that contains others, where it is within the range", () =>
    eachCover(({ whole }, { rows, span }) => {
      for (const row of rows.filter(
        ({ grain, from, to }) => grain <= grains.day && from >= span.from && to <= span.to,
      )) {
        const within = whole.filter((one) => overlaps(one, row));
        expect(within.some((one) => one.from <= row.from && one.to >= row.to)).toBe(true);
      }
    }));

  test("never counts a week, month or quarter year where an interval begins within one of its days", () =>
    eachCover(({ whole }, { settings: { starts, days, daysFrom, byDay } }) => {
      for (const row of whole.filter(countsByDay)) {
        const within = starts.filter((start) => start > row.from && start < row.to);
        expect(within.filter((start) => !days.some(({ from }) => from === start))).toEqual([]);
        if (byDay && (row.from >= daysFrom || row.grain === grains.quarterYear)) expect(within).toEqual([]);
      }
    }));
});
