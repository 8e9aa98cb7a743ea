/**
 * Periods of a report, as dates of a time zone ("2026-11-17"), which is what the API takes. A period without `to` ends now, so
 * that the comparison ends at the same time of day.
 */
export const presets = ["today", "yesterday", "7d", "30d", "90d", "month", "last-month", "12m", "year"] as const;
export type Preset = (typeof presets)[number];

export interface Range {
  /** A date, or a time with an offset. */
  readonly from: string;
  readonly to?: string | undefined;
}

export const isPreset = (text: string | undefined): text is Preset => presets.some((one) => one === text);

const dayMs = 86_400_000;
const isDate = (text: string): boolean => text.length === 10;

/** The date that the zone's calendar shows. */
export const dateIn = (zone: string, at: number): string =>
  new Intl.DateTimeFormat("en-CA", { timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" }).format(at);

export const addDays = (date: string, days: number): string => isoOf(Date.parse(date) + days * dayMs);

export const daysBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / dayMs;

const isoOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

const firstOfMonth = (date: string, months: number): string =>
  isoOf(Date.UTC(Number(date.slice(0, 4)), Number(date.slice(5, 7)) - 1 + months, 1));

export function rangeOf(preset: Preset, today: string): Range {
  switch (preset) {
    case "today":
      return { from: today };
    case "yesterday":
      return { from: addDays(today, -1), to: addDays(today, -1) };
    case "7d":
      return { from: addDays(today, -6) };
    case "30d":
      return { from: addDays(today, -29) };
    case "90d":
      return { from: addDays(today, -89) };
    case "month":
      return { from: firstOfMonth(today, 0) };
    case "last-month":
      return { from: firstOfMonth(today, -1), to: addDays(firstOfMonth(today, 0), -1) };
    case "12m":
      return { from: firstOfMonth(today, -11) };
    case "year":
      return { from: `${today.slice(0, 4)}-01-01` };
  }
}

/**
 * The period before or after: whole months by months, days by days, times by their length. Undefined if it would begin in
 * the future.
 */
export function movedRange({ from, to }: Range, step: -1 | 1, now: number, today: string): Range | undefined {
  if (!isDate(from) || (to !== undefined && !isDate(to))) {
    const [start, end] = [Date.parse(from), to === undefined ? now : Date.parse(to)];
    const length = end - start;
    const moved = start + step * length;
    if (moved >= now) return undefined;
    return { from: new Date(moved).toISOString(), to: new Date(moved + length).toISOString() };
  }
  const last = to ?? today;
  const isMonths = from.endsWith("-01") && (to === undefined ? last >= from : addDays(to, 1).endsWith("-01"));
  if (isMonths && (to !== undefined || from >= firstOfMonth(today, -11))) {
    const months = monthsBetween(from, firstOfMonth(last, 1));
    const start = firstOfMonth(from, step * months);
    return until(start, addDays(firstOfMonth(start, months), -1), today);
  }
  const days = daysBetween(from, last) + 1;
  return until(addDays(from, step * days), addDays(last, step * days), today);
}

const monthsBetween = (from: string, to: string): number =>
  (Number(to.slice(0, 4)) - Number(from.slice(0, 4))) * 12 + Number(to.slice(5, 7)) - Number(from.slice(5, 7));

/** A period that reaches today ends now. */
function until(from: string, to: string, today: string): Range | undefined {
  if (from > today) return undefined;
  return to >= today ? { from } : { from, to };
}
