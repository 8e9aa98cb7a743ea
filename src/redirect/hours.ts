import { createMemo } from "../base/memo.ts";
import { days, type Hours } from "../links/routing/rules.ts";

/**
 * Whether a time is within hours of a wall clock in a time zone. Computing a zone's offset takes some microseconds, and
 * since 1972 offsets have only changed on a quarter of an hour: so it is computed once for each.
 */
const slotMs = 900_000;
const dayMinutes = 1_440;

interface Zone {
  /** `undefined` for a zone unknown to this machine. */
  readonly format: Intl.DateTimeFormat | undefined;
  slot: number;
  offsetMs: number;
}

/** There are about six hundred names. */
const zones = createMemo<Zone>({
  most: 1_000,
  find: (name) => ({ format: formatOf(name), slot: Number.NaN, offsetMs: 0 }),
});

export function isWithinHours(hours: Hours, now: number): boolean {
  const local = Math.floor((now + offsetMs(hours.zone, now)) / 60_000);
  const minute = ((local % dayMinutes) + dayMinutes) % dayMinutes;
  const today = Math.floor(local / dayMinutes);
  const { fromMinute, untilMinute } = hours;
  if (fromMinute < untilMinute) return minute >= fromMinute && minute < untilMinute && begins(hours, today);
  return (minute >= fromMinute && begins(hours, today)) || (minute < untilMinute && begins(hours, today - 1));
}

/** 1970 began on a Thursday. */
function begins({ days: wanted }: Hours, day: number): boolean {
  if (wanted === undefined) return true;
  const name = days[(((day + 4) % 7) + 7) % 7];
  return name !== undefined && wanted.includes(name);
}

function offsetMs(zone: string, now: number): number {
  const slot = Math.floor(now / slotMs);
  const known = zones.get(zone);
  if (known.slot !== slot) {
    const start = slot * slotMs;
    known.offsetMs = known.format === undefined ? Number.NaN : wallClock(known.format, start) - start;
    known.slot = slot;
  }
  return known.offsetMs;
}

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat("en", {
      ...{ timeZone, calendar: "gregory", numberingSystem: "latn", hourCycle: "h23" },
      ...{ year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" },
    });
  } catch {
    return undefined;
  }
}

/** The local time there, read as if it were UTC. */
function wallClock(format: Intl.DateTimeFormat, at: number): number {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of format.formatToParts(at)) parts[type] = Number(value);
  const { year = 1970, month = 1, day = 1, hour = 0, minute = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute);
}
