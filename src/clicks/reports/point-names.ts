import { createMemo } from "../../base/memo.ts";
import { hourMs, type Interval, localDay, toLocalIso, wallClock } from "./zones.ts";

/**
 * Names of the points of a series, in English, for the terminal and share pages: what a point covers depends on the interval, and no two
 * points of a series have the same name.
 */
export interface NamedSeries {
  readonly interval: Interval;
  readonly zone: string;
}

/** `19 Nov 2026, 14:00`, `19 Nov 2026`, `week from 16 Nov 2026`, `November 2026` */
export function pointName(start: number, { interval, zone }: NamedSeries, month: "short" | "long" = "short"): string {
  if (interval === "month") return dateIn(zone, start, { month: "long", year: "numeric" });
  const day = dateIn(zone, start, { day: "numeric", month, year: "numeric" });
  if (interval === "week") return `week from ${day}`;
  return interval === "day" ? day : `${day}, ${timeIn(zone, start)}`;
}

/** On an axis, where there is little room: when each point begins, with the year only if it changes. */
export function tickNames(starts: readonly number[], { interval, zone }: NamedSeries): string[] {
  const first = starts[0] ?? 0;
  const last = starts.at(-1) ?? first;
  const yearOf = (at: number) => dateIn(zone, at, { year: "numeric" });
  const year = yearOf(first) === yearOf(last) ? {} : ({ year: "numeric" } as const);
  const isOneDay = localDay(zone, first) === localDay(zone, last);
  return starts.map((at) => {
    if (interval === "month") return dateIn(zone, at, { month: "short", year: "numeric" });
    const day = dateIn(zone, at, { day: "numeric", month: "short", ...year });
    if (interval === "day" || interval === "week") return day;
    return isOneDay ? timeIn(zone, at) : `${day}, ${timeIn(zone, at)}`;
  });
}

/** Where clocks go back, they show some times twice: then with the distance from UTC. */
function timeIn(zone: string, at: number): string {
  const local = toLocalIso(zone, at);
  const time = local.slice(11, 16);
  // Clocks go back by half an hour, one or two.
  const others = [hourMs / 2, hourMs, 2 * hourMs].flatMap((by) => [at - by, at + by]);
  const isTwice = others.some((other) => toLocalIso(zone, other).slice(0, 16) === local.slice(0, 16));
  return isTwice ? `${time} (UTC${local.slice(-6)})` : time;
}

const dateIn = (zone: string, at: number, format: Intl.DateTimeFormatOptions): string =>
  formats
    .get(JSON.stringify(format))
    .format(wallClock(zone, at))
    .replace(/Sept\b/, "Sep");

/** Making one takes as long as formatting a hundred dates. */
const formats = createMemo<Intl.DateTimeFormat>({
  most: 20,
  find: (format) => new Intl.DateTimeFormat("en-GB", { ...JSON.parse(format), timeZone: "UTC" }),
});
