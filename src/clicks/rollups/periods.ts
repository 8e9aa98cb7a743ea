/**
 * The periods that are condensed: what `click_rollups.grain` means. A part of a day is a quarter of an hour, until its three hours are
 * over and take the place of their quarters. Older versions wrote parts of an hour. A quarter year begins in January, April, July or October.
 */
export const grains = { part: 1, day: 2, month: 3, week: 4, quarterYear: 5 } as const;
export type Grain = keyof typeof grains;
/** Made of whole days, and counted by day. */
export const calendarGrains = ["week", "month", "quarterYear"] as const;
export type CalendarGrain = (typeof calendarGrains)[number];

export const countsByDay = ({ grain }: { readonly grain: number }): boolean =>
  calendarGrains.some((one) => grains[one] === grain);

export interface ClickPeriod {
  readonly grain: Grain;
  readonly start: number;
  readonly until: number;
}

/**
 * A click that is written later than a minute after it happened is late, and a transaction lasts a minute at most. So the clicks of
 * what is this long ago are complete, except for late ones, which take the tenant's lock.
 */
export const settledMs = 150_000;

/** Clicks are two days late at most (`quarter-clicks.ts`), on servers of any version: after this none comes to what is over. */
export const latestClickMs = 3 * 86_400_000;

/**
 * With fewer clicks there is no row: reading what lies below takes about as long, and a row takes some hundred microseconds to write. A
 * quarter of an hour needs more clicks, because it is replaced within three hours. Days and months need one.
 */
export const leastClicks = { quarter: 100, part: 20, week: 100, month: 1, quarterYear: 100 } as const;

/** How long roll-ups are kept. Months and quarter years are kept for good. */
export const partsKeptDays = 8;
/** A week with many events is kept as long as its days, of which each has nearly as many values as the week. */
export const weeksKeptDays = 100;
export const longKeptWeek = 1_000;
export const daysKeptDays = 400;

/** No day of a tenant is longer, nor any with a change of its zone. */
export const longestDayMs = 50 * 3_600_000;
