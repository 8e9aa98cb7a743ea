import { dayMs } from "../../base/clock.ts";
import { invalid } from "../../base/errors.ts";
import { type BreakdownName, breakdownNames, quarterMs } from "../click.ts";
import { type ClickFilter, parseFilters } from "./filters.ts";
import {
  firstMoment,
  type Interval,
  intervals,
  isZone,
  lastMoment,
  localDay,
  movedBy,
  startOfDay,
  startsWithin,
} from "./zones.ts";

/** What a report is asked for, from the parameters of a request or a command. */
export interface ReportQuery extends Span {
  readonly zone: string;
  readonly interval: Interval;
  readonly traffic: Traffic;
  /** Undefined: all that the subject has. */
  readonly breakdown: readonly BreakdownName[] | undefined;
  /** Values of each breakdown. */
  readonly limit: number;
  readonly compare: Comparison | undefined;
  readonly filters: readonly ClickFilter[];
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** People are the clicks that count; bots are all others, such as previews. */
export const traffics = ["people", "bots", "all"] as const;
export type Traffic = (typeof traffics)[number];

/** The period before, the same weekdays before, the same dates a year before. */
export const comparisons = ["previous", "weekdays", "year"] as const;
export type Comparison = (typeof comparisons)[number];

/** As sent. */
export interface ReportParams {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly zone?: string | undefined;
  readonly interval?: Interval | undefined;
  readonly traffic?: Traffic | undefined;
  readonly breakdown?: string | undefined;
  readonly limit?: number | undefined;
  readonly compare?: Comparison | undefined;
  readonly filter?: readonly string[] | undefined;
}

export const breakdownLimit = 10;
/** As many as a roll-up keeps of a dimension. */
export const breakdownMost = 300;
/** A chart has fewer points; an answer of this size has about 200 kB. */
export const intervalsMost = 3_000;
const defaultDays = 30;
/** Ten years and their leap days. */
const spanMostMs = 3_653 * dayMs;

export function parseReport(params: ReportParams, tenantZone: string, now: number): ReportQuery {
  const { limit = breakdownLimit, compare } = params;
  const zone = parseZone(params.zone ?? tenantZone);
  const filters = parseFilters(params.filter ?? []);
  const span = parseSpan(params, zone, now);
  const interval = params.interval ?? usualInterval(span);
  const isOfBots = filters.some(({ field }) => field === "reason" || field === "bot");
  const query = {
    ...span,
    ...{ zone, interval, limit, compare, filters },
    traffic: params.traffic ?? (isOfBots ? "all" : "people"),
    breakdown: parseBreakdown(params.breakdown),
  };
  if (startsWithin(zone, interval, span.from, span.to, intervalsMost).length > intervalsMost) {
    const coarser = intervals.find(
      (one) => startsWithin(zone, one, span.from, span.to, intervalsMost).length <= intervalsMost,
    );
    const message = `More than ${intervalsMost} intervals. Choose ${coarser ?? "month"}, or a shorter range.`;
    throw invalid("interval", "too_many", message);
  }
  return query;
}

/** Null and missing zones are the caller's default. */
export function parseZone(text: string): string {
  if (isZone(text)) return text;
  throw invalid("zone", "unknown_zone", "Must be a time zone, such as Europe/Berlin.");
}

/**
 * A range of whole quarter hours: that is how finely all clicks are counted. A date means the whole day in the zone, so a
 * range from 1 to 31 January includes the 31st.
 */
export function parseSpan({ from, to }: Pick<ReportParams, "from" | "to">, zone: string, now: number): Span {
  const until = to === undefined ? ceilQuarter(now) : parseMoment("to", to, zone);
  const start =
    from === undefined
      ? startOfDay(zone, localDay(zone, until - 1) - defaultDays + 1)
      : parseMoment("from", from, zone);
  if (start >= until) {
    if (to === undefined) throw invalid("from", "in_the_future", "Must be before now, unless `to` is given.");
    throw invalid("to", "before_from", "Must be after `from`.");
  }
  if (until - start > spanMostMs) throw invalid("from", "too_long", "A range covers at most ten years.");
  return { from: start, to: until };
}

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/;
const dateChars = 10;
const momentPattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

function parseMoment(field: "from" | "to", text: string, zone: string): number {
  const at = readMoment(field, text, zone);
  if (at === undefined) {
    throw invalid(field, "bad_time", "Must be a date (2026-01-31) or a time with an offset (2026-01-31T10:00:00Z).");
  }
  return at;
}

function readMoment(field: "from" | "to", text: string, zone: string): number | undefined {
  const [date = "", year, month, day] = datePattern.exec(text.slice(0, dateChars)) ?? [];
  const midnight = Date.UTC(Number(year), Number(month) - 1, Number(day));
  // There is no 30 February: `Date` would take it for 2 March.
  if (date === "" || !new Date(midnight).toISOString().startsWith(date)) return undefined;
  const isDate = text.length === dateChars;
  const at = isDate ? midnight : readTime(text);
  if (at === undefined) return undefined;
  if (at < firstMoment || at > lastMoment - (isDate ? dayMs : 0)) {
    throw invalid(field, "out_of_range", "Must be in the years 2012 to 2099.");
  }
  // In the zone, the first and the last day of these years begin and end some hours earlier or later.
  if (isDate) return startOfDay(zone, midnight / dayMs + (field === "to" ? 1 : 0));
  return field === "from" ? at - (at % quarterMs) : ceilQuarter(at);
}

function readTime(text: string): number | undefined {
  const at = momentPattern.test(text) ? new Date(text).getTime() : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

const ceilQuarter = (at: number): number => Math.ceil(at / quarterMs) * quarterMs;

/** A chart of 24 to 100 points, where there is one. */
function usualInterval({ from, to }: Span): Interval {
  const days = (to - from) / dayMs;
  if (days <= 0.5) return "quarter";
  if (days <= 3) return "hour";
  if (days <= 120) return "day";
  return days <= 800 ? "week" : "month";
}

function parseBreakdown(text: string | undefined): readonly BreakdownName[] | undefined {
  if (text === undefined) return undefined;
  const names = text === "" ? [] : text.split(",").slice(0, breakdownNames.length + 1);
  const unknown = names.find((name) => !breakdownNames.some((known) => known === name));
  if (unknown !== undefined) {
    throw invalid("breakdown", "unknown_dimension", `Must be a list of: ${breakdownNames.join(", ")}.`);
  }
  return breakdownNames.filter((name) => names.includes(name));
}

/** At most a year of whole days from that time on; `undefined` if it has not come. */
export function spanOfYear(zone: string, from: number, now: number): Span | undefined {
  const start = startOfDay(zone, localDay(zone, Math.max(from, firstMoment)));
  return start > now ? undefined : { from: start, to: startOfDay(zone, localDay(zone, start) + 366) };
}

/** The range to compare with, by the calendar of the zone: its days have as many hours as they have. */
export function comparedSpan({ from, to, zone }: Span & { readonly zone: string }, compare: Comparison): Span {
  const moved = (by: { days?: number; months?: number }): Span => {
    const [start, end] = [movedBy(zone, from, by), movedBy(zone, to, by)];
    // Where clocks are changed, two times of a range may be the same time of another day.
    return { from: start, to: end > start ? end : start + (to - from) };
  };
  if (compare === "year") {
    const year = moved({ months: -12 });
    // The end is the first moment after the range. If that is on 29 February, 28 February is complete.
    if (!isLeapDay(zone, to) || isLeapDay(zone, from)) return year;
    return { ...year, to: startOfDay(zone, localDay(zone, movedBy(zone, to, { months: -12 })) + 1) };
  }
  const days = Math.max(1, Math.ceil((to - from - dayMs / 12) / dayMs)); // a day may have 25 hours, or 23
  if (compare === "weekdays") return moved({ days: -7 * Math.ceil(days / 7) });
  // The days up to now are compared with as many days up to the same time: a point of one series with a point of the other.
  const first = localDay(zone, from);
  if (startOfDay(zone, first) === from) return moved({ days: first - localDay(zone, to - 1) - 1 });
  return { from: from - (to - from), to: from };
}

function isLeapDay(zone: string, at: number): boolean {
  const date = new Date(localDay(zone, at) * dayMs);
  return date.getUTCMonth() === 1 && date.getUTCDate() === 29;
}
