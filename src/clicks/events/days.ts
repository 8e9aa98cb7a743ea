/**
 * Days of a time zone, as ranges of UTC. A day is all times with the same date there: usually 24 hours, 23 or 25 when
 * clocks change, and it may begin at 1:00.
 */
export interface DayRange {
  readonly start: number;
  readonly until: number;
}

/** Of tenants that have chosen none. */
export const defaultZone = "UTC";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** More than the longest day, and no date comes back after that long. */
const searchMs = 50 * hourMs;

/** The day of `at` in this zone. A zone that this machine does not know counts as UTC. */
export function naturalDay(at: number, zone: string): DayRange {
  const dateAt = datesIn(zone);
  const date = dateAt(at);
  return {
    start: firstTime(at - searchMs, at, (time) => dateAt(time) >= date),
    until: firstTime(at, at + searchMs, (time) => dateAt(time) > date),
  };
}

/** When the calendar week, which begins on Monday, month or quarter year of `at` began in this zone. */
export const naturalStart = {
  week(at: number, zone: string): number {
    const dateAt = datesIn(zone);
    const monday = mondayBefore(dateAt(at));
    return firstTime(at - 9 * 24 * hourMs, at, (time) => dateAt(time) >= monday);
  },
  month(at: number, zone: string): number {
    const dateAt = datesIn(zone);
    const month = dateAt(at).slice(0, "2026-11".length);
    return firstTime(at - 32 * 24 * hourMs, at, (time) => dateAt(time).slice(0, month.length) >= month);
  },
  quarterYear(at: number, zone: string): number {
    const dateAt = datesIn(zone);
    const first = firstMonthOfQuarter(dateAt(at));
    return firstTime(at - 94 * 24 * hourMs, at, (time) => dateAt(time).slice(0, first.length) >= first);
  },
} as const;

function mondayBefore(date: string): string {
  const time = Date.parse(date);
  const daysSince = (new Date(time).getUTCDay() + 6) % 7;
  return new Date(time - daysSince * 24 * hourMs).toISOString().slice(0, "2026-11-18".length);
}

function firstMonthOfQuarter(date: string): string {
  const month = Number(date.slice("2026-".length, "2026-11".length));
  return `${date.slice(0, "2026-".length)}${String(month - ((month - 1) % 3)).padStart(2, "0")}`;
}

/** The first minute in the range with this property, which the last one has. */
function firstTime(from: number, to: number, has: (time: number) => boolean): number {
  let low = Math.floor(from / minuteMs);
  let high = Math.floor(to / minuteMs);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (has(middle * minuteMs)) high = middle;
    else low = middle;
  }
  return high * minuteMs;
}

const formats = new Map<string, Intl.DateTimeFormat>();
const formatsMost = 600; // there are fewer zones

/** Dates as texts that sort by time. */
function datesIn(zone: string): (time: number) => string {
  let format = formats.get(zone);
  if (format === undefined) {
    format = formatOf(zone);
    if (formats.size < formatsMost) formats.set(zone, format);
  }
  const known = format;
  return (time) => known.format(time);
}

function formatOf(zone: string): Intl.DateTimeFormat {
  // Swedish dates are ISO dates.
  const parts = { year: "numeric", month: "2-digit", day: "2-digit" } as const;
  try {
    return new Intl.DateTimeFormat("sv-SE", { ...parts, timeZone: zone });
  } catch {
    return new Intl.DateTimeFormat("sv-SE", { ...parts, timeZone: defaultZone });
  }
}
