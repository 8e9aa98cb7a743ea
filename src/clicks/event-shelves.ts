import { dayMs } from "../base/clock.ts";

/**
 * Where an event lies within its tenant's day: `clicks.level`, which comes before the link in the order of events. It has two parts.
 *
 * The level is random: half of all events have 0, a quarter 1, and so on. Levels from k on are a sample of 1 in 2^k.
 *
 * The lowest levels, which have 15 of 16 events, are divided by the time of day, into parts of three hours. A report on a workspace
 * reads the events of the last hour, which no roll-up has, and condensing reads one hour after the other: without parts both
 * would look at all events of the day. More parts would cost reports on single links more than they save: the events of a link are a
 * search for each day and shelf, of about 1 µs (ADR 0059).
 *
 * Events of before there were parts have their level alone.
 */
export const levelMost = 12;
const dividedLevels = 4;
export const partsOfDay = 8;
/** Roll-ups of parts of a day are as long, so that an event is read from few shelves. */
export const partMs = dayMs / partsOfDay;
/** Above all levels. */
const firstDivided = 16;

export const shelfOf = (level: number, at: number): number =>
  level < dividedLevels ? firstDivided + level * partsOfDay + Math.floor((at % dayMs) / partMs) : level;

const partsOf = (level: number): number[] =>
  Array.from({ length: partsOfDay }, (_, part) => firstDivided + level * partsOfDay + part);
const shelvesOfLevel: readonly (readonly number[])[] = Array.from({ length: levelMost + 1 }, (_, level) =>
  level < dividedLevels ? [level, ...partsOf(level)] : [level],
);

/** All of them, in the order of events. */
export const allShelves: readonly number[] = shelvesOfLevel.flat().toSorted((a, b) => a - b);

/** The shelves of these levels that may have events of the range, in the order of events. */
export function shelvesOf(
  levels: readonly number[],
  { from, to }: { readonly from: number; readonly to: number },
): number[] {
  const all = levels.flatMap((level) => shelvesOfLevel[level] ?? []).toSorted((a, b) => a - b);
  const [first, last] = [Math.floor(from / partMs), Math.floor((to - 1) / partMs)];
  if (last - first + 1 >= partsOfDay) return all;
  const parts = new Set(Array.from({ length: last - first + 1 }, (_, place) => (first + place) % partsOfDay));
  return all.filter((shelf) => shelf < firstDivided || parts.has((shelf - firstDivided) % partsOfDay));
}

export const everyLevel: readonly number[] = Array.from({ length: levelMost + 1 }, (_, level) => level);
