import { dayMs } from "../../base/clock.ts";
import { createMemo } from "../../base/memo.ts";
import { quarterMs } from "../click.ts";

/**
 * Where quarter hours, hours, days, weeks and months begin in a time zone.
 *
 * Clocks change: a day has 23, 24 or 25 hours, or does not exist (Samoa skipped 2011-12-30), and some zones change by half an
 * hour. So nothing here adds 24 hours to get to tomorrow. A day begins at the first moment at which the zone's date is that day
 * or a later one. An hour begins where the clock shows a full hour, or where it is changed. Since 2012 all clocks differ from
 * UTC by whole quarters of an hour, and are changed on one: so every boundary is that of a quarter hour.
 *
 * `Intl` takes a microsecond to say how far a clock is from UTC. It is asked about every third day of a year and zone, and
 * what is kept are the moments at which the clock is changed.
 */
export const intervals = ["quarter", "hour", "day", "week", "month"] as const;
export type Interval = (typeof intervals)[number];

export const hourMs = 3_600_000;

/** Times of reports are between these. */
const firstYear = 2012;
const lastYear = 2100;
export const firstMoment = Date.UTC(firstYear);
export const lastMoment = Date.UTC(lastYear);
/** A report from the first date on has this moment in every zone: that day begins up to 12 hours after UTC's. */
export const firstNoon = firstMoment + 12 * hourMs;

export const isZone = (zone: string): boolean => formatOf(zone) !== undefined;

/** The clock of the zone at this moment, read as if it were UTC. */
export const wallClock = (zone: string, at: number): number => at + offsetAt(zone, at);

/** The number of the day that the zone's calendar shows, since 1970-01-01. */
export const localDay = (zone: string, at: number): number => Math.floor(wallClock(zone, at) / dayMs);

/** The first moment at which the zone's date is this day or a later one. */
export const startOfDay = (zone: string, day: number): number => atWallClock(zone, day * dayMs);

/** The start of the interval that contains this moment. */
export function startOf(zone: string, interval: Interval, at: number): number {
  switch (interval) {
    case "quarter":
      return at - (at % quarterMs);
    case "hour": {
      const full = at - (wallClock(zone, at) % hourMs);
      const change = lastChange(zone, at);
      return change > full && offsetAt(zone, change - 1) !== offsetAt(zone, change) ? change : full;
    }
    default: {
      // Where a clock goes back over midnight, the date is for a while that of the day before, but the day has begun.
      const day = firstDayOf(interval, localDay(zone, at));
      const next = startOfDay(zone, nextDayOf(interval, day));
      return next <= at ? next : startOfDay(zone, day);
    }
  }
}

/** The start of the interval after the one that contains this moment. */
export function nextStart(zone: string, interval: Interval, at: number): number {
  switch (interval) {
    case "quarter":
      return at - (at % quarterMs) + quarterMs;
    case "hour": {
      const full = at - (wallClock(zone, at) % hourMs) + hourMs;
      const change = nextChange(zone, at);
      return change < full && offsetAt(zone, change) !== offsetAt(zone, at) ? change : full;
    }
    default: {
      let day = firstDayOf(interval, localDay(zone, at));
      for (;;) {
        day = nextDayOf(interval, day);
        const start = startOfDay(zone, day);
        if (start > at) return start;
      }
    }
  }
}

/** The starts of all intervals that have a part in the range; the first is where the range begins. At most `most` + 1. */
export function startsWithin(zone: string, interval: Interval, from: number, to: number, most: number): number[] {
  const starts: number[] = [];
  for (let at = from; at < to && starts.length <= most; at = nextStart(zone, interval, at)) starts.push(at);
  return starts;
}

/** Moves a moment by days or months of the calendar; the clock shows the same time, or the first one after a gap. */
export function movedBy(
  zone: string,
  at: number,
  { days = 0, months = 0 }: { days?: number; months?: number },
): number {
  const wall = new Date(wallClock(zone, at));
  const monthStart = Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth() + months, 1);
  const date = Math.min(wall.getUTCDate(), daysInMonth(monthStart));
  const midnight = monthStart + (date - 1 + days) * dayMs;
  return atWallClock(zone, midnight + (wall.getTime() % dayMs));
}

/** `2026-03-29T00:00:00+01:00`: the moment as the zone's clock shows it. */
export function toLocalIso(zone: string, at: number): string {
  const minutes = offsetAt(zone, at) / 60_000;
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const two = (count: number) => String(count).padStart(2, "0");
  const wall = new Date(wallClock(zone, at)).toISOString().replace(/\.000Z$|Z$/, "");
  return `${wall}${minutes < 0 ? "-" : "+"}${two(hours)}:${two(rest)}`;
}

/** The first moment at which the zone's clock shows this time or a later one. */
function atWallClock(zone: string, wall: number): number {
  // Clocks are within 16 hours of UTC: before `at` this one shows an earlier time.
  let at = wall - 16 * hourMs;
  for (;;) {
    const shown = Math.max(at, wall - offsetAt(zone, at));
    const change = nextChange(zone, at);
    if (shown < change) return shown;
    at = change;
  }
}

/** Weeks begin on Monday; day 0 was a Thursday. */
function firstDayOf(interval: "day" | "week" | "month", day: number): number {
  if (interval === "day") return day;
  if (interval === "week") return day - ((((day + 3) % 7) + 7) % 7);
  const date = new Date(day * dayMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / dayMs;
}

function nextDayOf(interval: "day" | "week" | "month", firstDay: number): number {
  if (interval === "day") return firstDay + 1;
  if (interval === "week") return firstDay + 7;
  return firstDay + daysInMonth(firstDay * dayMs);
}

function daysInMonth(monthStart: number): number {
  const date = new Date(monthStart);
  return (Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) - monthStart) / dayMs;
}

/** Offsets of a zone within a year of UTC: `starts[i]` is where `offsets[i]` begins to hold. */
interface ZoneYear {
  readonly starts: readonly number[];
  readonly offsets: readonly number[];
}

/** A report covers at most ten years and is compared with as many. */
const years = createMemo<ZoneYear>({
  most: 2_000,
  find(key) {
    const [year = "", zone = ""] = key.split(" ");
    return readYear(zone, Number(year));
  },
});

const yearOf = (zone: string, at: number): ZoneYear => years.get(`${new Date(at).getUTCFullYear()} ${zone}`);

function placeIn({ starts }: ZoneYear, at: number): number {
  let place = starts.length - 1;
  while (place > 0 && (starts[place] ?? 0) > at) place--;
  return place;
}

function offsetAt(zone: string, at: number): number {
  const year = yearOf(zone, at);
  return year.offsets[placeIn(year, at)] ?? 0;
}

/** Where the current offset began, at the earliest where the year did. */
function lastChange(zone: string, at: number): number {
  const year = yearOf(zone, at);
  return year.starts[placeIn(year, at)] ?? at;
}

/** Where the current offset ends, at the latest where the year does. */
function nextChange(zone: string, at: number): number {
  const year = yearOf(zone, at);
  const next = year.starts[placeIn(year, at) + 1];
  return next ?? Math.max(at + 1, Date.UTC(new Date(at).getUTCFullYear() + 1));
}

/** No clock was changed twice within seven days since 1999 (it was in Brazil, in 2000). */
const lookMs = 3 * dayMs;

function readYear(zone: string, year: number): ZoneYear {
  const format = formatOf(zone);
  if (format === undefined) throw new RangeError(`unknown time zone ${zone}`);
  const begin = Date.UTC(year);
  const end = Date.UTC(year + 1);
  const starts = [begin];
  const offsets = [readOffset(format, begin)];
  for (let at = begin; at < end; at += lookMs) {
    const before = offsets.at(-1) ?? 0;
    const after = readOffset(format, at + lookMs);
    if (after === before) continue;
    let [low, high] = [at, at + lookMs];
    while (high - low > quarterMs) {
      const middle = low + Math.ceil((high - low) / 2 / quarterMs) * quarterMs;
      if (readOffset(format, middle) === before) low = middle;
      else high = middle;
    }
    if (high >= end) break;
    starts.push(high);
    offsets.push(after);
  }
  return { starts, offsets };
}

/** "1/2/2026, GMT+05:45", or "GMT" alone. */
function readOffset(format: Intl.DateTimeFormat, at: number): number {
  const text = format.format(at);
  const [hours = "0", minutes = "0"] = text
    .slice(text.lastIndexOf("GMT") + 3)
    .replace("\u2212", "-")
    .split(":");
  const size = Math.abs(Number(hours)) * hourMs + Number(minutes) * 60_000;
  return hours.startsWith("-") ? -size : size;
}

/** There are about six hundred names. */
const formats = createMemo<{ readonly format: Intl.DateTimeFormat | undefined }>({
  most: 1_000,
  find: (zone) => ({ format: newFormat(zone) }),
});

const formatOf = (zone: string): Intl.DateTimeFormat | undefined => formats.get(zone).format;

function newFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  // Names such as `+02:00`, which some runtimes accept, are not in the IANA list.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(timeZone)) return undefined;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone, numberingSystem: "latn", timeZoneName: "longOffset" });
  } catch {
    return undefined;
  }
}
