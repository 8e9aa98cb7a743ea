import type { ClickReport } from "../../api/generated.ts";
import {
  dateFormat,
  formatClock,
  formatDate,
  formatDay,
  formatMonth,
  formatRange,
  formatWeekday,
} from "../../format.ts";
import { reportTexts as t } from "../../texts/report.ts";
import { dateIn, daysBetween } from "./periods.ts";
import { type Interval, intervals } from "./report-state.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export type Span = Pick<ClickReport, "from" | "to" | "zone">;

/**
 * "1–16 Nov 2026"; with times if it does not consist of whole days. `to` is exclusive. A period that ends now, and the one
 * that it is compared with, end at any time of their last day.
 */
export function rangeText({ from, to, zone }: Span, endsNow: boolean): string {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const isWhole = isMidnight(start, zone) && (endsNow || isMidnight(end, zone));
  if (isWhole) return formatRange(start, end - 1, zone);
  const options = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZone: zone } as const;
  return dateFormat(options).formatRange(start, end);
}

/**
 * How long a period is by the calendar of its zone: a day has 24 hours, also when clocks are changed. Times of a report begin
 * with what the clock of its zone shows.
 */
export const calendarMs = ({ from, to }: Pick<Span, "from" | "to">): number => Math.max(0, clockOf(to) - clockOf(from));

const clockChars = "2026-11-17T14:02".length;
const clockOf = (time: string): number => Date.parse(`${time.slice(0, clockChars)}Z`);

/** The days of a period that begins with a day; the last one may go on. */
export function daysOf({ from, to, zone }: Span): number | undefined {
  if (!isMidnight(Date.parse(from), zone)) return undefined;
  return daysBetween(dateIn(zone, Date.parse(from)), dateIn(zone, Date.parse(to) - 1)) + 1;
}

const isMidnight = (at: number, zone: string): boolean => dateIn(zone, at) !== dateIn(zone, at - 1);

/** On the axis. */
export function tickText(interval: Interval, zone: string, spanMs: number, now: number) {
  return (start: string): string => {
    if (interval === "month")
      return dateFormat({ month: "short", year: "2-digit", timeZone: zone }).format(new Date(start));
    if (interval === "day" || interval === "week") {
      const isToday = interval === "day" && dateIn(zone, Date.parse(start)) === dateIn(zone, now);
      return isToday ? t.chart.today : formatDay(start, zone);
    }
    return spanMs > 2 * dayMs ? formatDay(start, zone) : formatClock(start, zone);
  };
}

/** In the tooltip and the table. */
export function momentText(interval: Interval, zone: string) {
  return (start: string): string => {
    switch (interval) {
      case "month":
        return formatMonth(start, zone);
      case "week":
        return t.chart.weekFrom(formatDate(start, zone));
      case "day":
        return formatWeekday(start, zone);
      default:
        return `${formatWeekday(start, zone)}, ${formatClock(start, zone)}`;
    }
  };
}

/** What the dashed line is: the previous value's own moment, short. */
export function shortMoment(interval: Interval, zone: string, isOtherYear: boolean) {
  return (start: string): string => {
    if (interval === "month") return formatMonth(start, zone);
    const day = isOtherYear ? formatDate(start, zone) : formatDay(start, zone);
    return interval === "day" || interval === "week" ? day : `${day}, ${formatClock(start, zone)}`;
  };
}

/** Few enough points to draw, and more than one. */
const fits: Readonly<Record<Interval, readonly [leastMs: number, mostMs: number]>> = {
  quarter: [0, 4 * dayMs],
  hour: [2 * hourMs, 32 * dayMs],
  day: [2 * dayMs, 800 * dayMs],
  week: [14 * dayMs, Number.POSITIVE_INFINITY],
  month: [59 * dayMs, Number.POSITIVE_INFINITY],
};

export function fittingIntervals(spanMs: number, current: Interval): Interval[] {
  return intervals.filter((one) => one === current || (spanMs >= fits[one][0] && spanMs <= fits[one][1]));
}
