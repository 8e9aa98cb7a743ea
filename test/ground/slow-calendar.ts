/**
 * A slow and exact reckoning of calendars: it reads the clock of a zone minute by minute, through the parts that `Intl`
 * shows to people, and knows nothing of offsets.
 */
export type CalendarInterval = "quarter" | "hour" | "day" | "week" | "month";

const minuteMs = 60_000;

interface Wall {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** What was read of the zone that was asked for last: the same minutes are read again for each kind of interval. */
let read: { readonly zone: string; readonly walls: Map<number, Wall> } = { zone: "", walls: new Map() };

export function readWall(zone: string, at: number): Wall {
  if (read.zone !== zone) read = { zone, walls: new Map() };
  const known = read.walls.get(at);
  if (known !== undefined) return known;
  const wall = formatWall(zone, at);
  read.walls.set(at, wall);
  return wall;
}

function formatWall(zone: string, at: number): Wall {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-GB", {
      ...{ timeZone: zone, calendar: "gregory", numberingSystem: "latn", hourCycle: "h23" },
      ...{ year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" },
    });
    formats.set(zone, format);
  }
  const [, day, month, year, hour, minute] = /^(\d+)\/(\d+)\/(\d+), (\d+):(\d+)$/.exec(format.format(at)) ?? [];
  return { year: Number(year), month: Number(month), day: Number(day), hour: Number(hour), minute: Number(minute) };
}

/** Days of the calendar since some day: only for comparing, and for days of the week. */
const dateNumber = ({ year, month, day }: Wall): number => Date.UTC(year, month - 1, day) / 86_400_000;

/** Every moment in the range at which an interval begins. `from` and `to` are full minutes. */
export function reckonStarts(zone: string, interval: CalendarInterval, from: number, to: number): number[] {
  const starts: number[] = [];
  // A day before, so that the latest date so far is known.
  let latest = Number.NEGATIVE_INFINITY;
  let before = readWall(zone, from - 1_440 * minuteMs - minuteMs);
  for (let at = from - 1_440 * minuteMs; at < to; at += minuteMs) {
    const wall = readWall(zone, at);
    if (begins(interval, before, wall, latest) && at >= from) starts.push(at);
    latest = Math.max(latest, dateNumber(wall));
    before = wall;
  }
  return starts;
}

function begins(interval: CalendarInterval, before: Wall, wall: Wall, latest: number): boolean {
  const passed = wall.hour * 60 + wall.minute - (before.hour * 60 + before.minute);
  const isChanged = passed !== 1 && passed !== 1 - 1_440;
  if (interval === "quarter") return wall.minute % 15 === 0;
  if (interval === "hour") return wall.minute === 0 || isChanged;
  const today = dateNumber(wall);
  if (!(today > latest)) return false;
  const days = Array.from({ length: Math.min(7, today - latest) }, (_, back) => today - back);
  if (interval === "day") return true;
  // 1970-01-05 was a Monday.
  if (interval === "week") return days.some((day) => (day - 4) % 7 === 0);
  return days.some((day) => new Date(day * 86_400_000).getUTCDate() === 1);
}
