import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { grains } from "../rollups/periods.ts";
import { type CoverSettings, coverOf, overlaps, type RollupPeriod, without } from "./cover.ts";
import type { Span } from "./query.ts";

/** A small calendar: an hour is 4 quarter hours, a day 6 hours, a month 5 days. The unit is a quarter hour. */
const [hour, day, month] = [4, 24, 120];
const end = 4 * month;

interface Choice {
  readonly span: Span;
  readonly rows: readonly RollupPeriod[];
  readonly settings: CoverSettings;
}

const choices: fc.Arbitrary<Choice> = fc
  .record({
    ends: fc.uniqueArray(fc.integer({ min: 0, max: end }), { minLength: 2, maxLength: 2 }),
    every: fc.constantFrom(1, 3, hour, day, 7 * hour, month),
    shift: fc.integer({ min: 0, max: day }),
    condensed: fc.integer({ min: 0, max: end / day }),
    rollupsFrom: fc.integer({ min: 0, max: end }),
    eventsFrom: fc.integer({ min: 0, max: end / day }),
    daysFrom: fc.integer({ min: 0, max: end / day }),
    byDay: fc.boolean(),
    quiet: fc.array(fc.boolean(), { minLength: end / day, maxLength: end / day }),
    busyHours: fc.array(fc.boolean(), { minLength: end / hour, maxLength: end / hour }),
  })
  .map(({ ends, every, shift, condensed, rollupsFrom, eventsFrom, daysFrom, byDay, quiet, busyHours }) => {
    const [from = 0, to = 0] = ends.toSorted((a, b) => a - b);
    const starts = [from];
    for (let at = shift; at < to; at += every) if (at > from) starts.push(at);
    const condensedUntil = condensed * day;
    const periods = (grain: number, length: number) =>
      Array.from({ length: end / length }, (_, i) => ({ grain, from: i * length, to: (i + 1) * length }));
    const rows = [
      ...periods(grains.hour, hour).filter((_, i) => busyHours[i]),
      ...periods(grains.day, day).filter(
        (one, i) => one.to <= condensedUntil && one.from >= daysFrom * day && !quiet[i],
      ),
      ...periods(grains.month, month).filter((one) => one.to <= condensedUntil && one.from >= rollupsFrom),
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
      const left = without([span], [...whole, ...gaps, ...ofMonths]);
      const isQuiet = (part: Span) =>
        part.to <= settings.condensedUntil &&
        part.from >= Math.min(settings.rollupsFrom, settings.condensedUntil) &&
        !rows.some((row) => row.grain !== grains.hour && overlaps(row, part) && !whole.includes(row));
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

  test("never counts a month where an interval begins within one of its days", () =>
    eachCover(({ whole }, { settings: { starts, days, daysFrom, byDay } }) => {
      for (const row of whole.filter(({ grain }) => grain === grains.month)) {
        const within = starts.filter((start) => start > row.from && start < row.to);
        expect(within.filter((start) => !days.some(({ from }) => from === start))).toEqual([]);
        if (byDay && row.from >= daysFrom) expect(within).toEqual([]);
      }
    }));
});
