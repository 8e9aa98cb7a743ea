import { countsByDay, grains } from "../rollups/periods.ts";
import type { Span } from "./query.ts";

/**
 * Which roll-ups a report reads, and which parts of its range remain.
 *
 * The largest roll-ups that lie wholly within the range are read as they are. Weeks, months and quarter years count by day, so they are only
 * used where no interval of the report begins within one of their days. What remains is read from events, and only where there can be
 * any: before `condensedUntil` a period without a roll-up has no clicks, except before `rollupsFrom`.
 *
 * A roll-up that the range cuts still says how many clicks its quarter hours (or days, for a month) have. Its events may be
 * gone; then these clicks are known, but not their values. `cut` lists such roll-ups. Of a month that is cut, events are read
 * where its days have no roll-ups any more and all events are kept; a week that is cut has its days, and a quarter year its months.
 */
export interface RollupPeriod extends Span {
  readonly grain: number;
}

export interface Cover<Row> {
  readonly whole: readonly Row[];
  /** Days, which count by quarter hour. */
  readonly cut: readonly Row[];
  /** Months, which count by day, and the parts of the range that only they count. */
  readonly cutMonths: readonly Row[];
  readonly ofMonths: readonly Span[];
  /** To read from events: in order, without overlap. */
  readonly gaps: readonly Span[];
  /** The parts of the gaps that days count. */
  readonly ofCut: readonly Span[];
}

export interface CoverSettings {
  /** Starts of the report's intervals. */
  readonly starts: readonly number[];
  /** Days of the tenant, for what counts by day. */
  readonly days: readonly Span[];
  readonly condensedUntil: number;
  /** The subject has had roll-ups since then: a tag may have had clicks before. */
  readonly rollupsFrom: number;
  /** Events before this are deleted. */
  readonly eventsFrom: number;
  /** Days that begin later have a roll-up, if they have clicks. */
  readonly daysFrom: number;
  /** Whether what counts by day is read in smaller parts where it can be, unless it is within one interval. */
  readonly byDay: boolean;
}

export function coverOf<Row extends RollupPeriod>(
  { from, to }: Span,
  rows: readonly Row[],
  { starts, days, condensedUntil, rollupsFrom, eventsFrom, daysFrom, byDay }: CoverSettings,
): Cover<Row> {
  const isInside = (row: Span) => row.from >= from && row.to <= to;
  const splitDays = days.filter((day) => hasWithin(starts, day));
  const isSplit = (row: Row) =>
    splitDays.some((day) => overlaps(day, row)) || (byDay && hasParts(row) && hasWithin(starts, row));
  /** A month does not have its days for good. */
  const hasParts = (row: Row) => row.grain !== grains.month || row.from >= daysFrom;
  const fits = (row: Row) => isInside(row) && (!countsByDay(row) || !isSplit(row));
  const whole: Row[] = [];
  for (const row of rows.toSorted((a, b) => b.to - b.from - (a.to - a.from))) {
    if (fits(row) && !whole.some((other) => overlaps(other, row))) whole.push(row);
  }
  const remaining = without([{ from, to }], whole);
  const leftOver = (grain: number, ranges: readonly Span[]) =>
    rows.filter((row) => row.grain === grain && !whole.includes(row) && ranges.some((range) => overlaps(range, row)));
  const cut = leftOver(grains.day, remaining);
  const ofCut = cut.flatMap((row) => remaining.flatMap((range) => clipped(range, row)));
  const cutMonths = leftOver(grains.month, without(remaining, ofCut));
  const inMonths = cutMonths.flatMap((row) => without(remaining, ofCut).flatMap((range) => clipped(range, row)));
  const hasEvents = (range: Span) => range.from >= eventsFrom && range.from < daysFrom;
  const open = remaining.flatMap((range) => [
    ...clipped(range, { from, to: Math.min(rollupsFrom, condensedUntil) }),
    ...clipped(range, { from: condensedUntil, to }),
  ]);
  const gaps = merged([...without(open, inMonths), ...ofCut, ...inMonths.filter(hasEvents)]);
  return { whole, cut, cutMonths, ofMonths: inMonths.filter((range) => !hasEvents(range)), gaps, ofCut: merged(ofCut) };
}

/** Whether an interval begins after the start of this range, and before its end. */
export function hasWithin(starts: readonly number[], { from, to }: Span): boolean {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) > from) high = middle;
    else low = middle + 1;
  }
  return (starts[low] ?? Number.POSITIVE_INFINITY) < to;
}

export const overlaps = (a: Span, b: Span): boolean => a.from < b.to && b.from < a.to;

/** The parts of these ranges that are in none of the others. */
export function without(ranges: readonly Span[], others: readonly Span[]): Span[] {
  let left = [...ranges];
  for (const other of others) {
    left = left.flatMap((range) =>
      overlaps(range, other)
        ? [
            { from: range.from, to: other.from },
            { from: other.to, to: range.to },
          ].filter((part) => part.from < part.to)
        : [range],
    );
  }
  return left;
}

export function clipped(range: Span, { from, to }: Span): Span[] {
  const part = { from: Math.max(range.from, from), to: Math.min(range.to, to) };
  return part.from < part.to ? [part] : [];
}

export function merged(ranges: readonly Span[]): Span[] {
  const result: { from: number; to: number }[] = [];
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else result.push({ from, to });
  }
  return result;
}
