/** The periods that are condensed: what `click_rollups.grain` means. */
export const grains = { hour: 1, day: 2, month: 3 } as const;
export type Grain = keyof typeof grains;

export interface ClickPeriod {
  readonly grain: Grain;
  readonly start: number;
  readonly until: number;
}

/**
 * A click that is written later than ten minutes after it happened is late, and a transaction lasts five seconds at most. So
 * the clicks of a period that ended this long ago are complete, except for late ones, which take the tenant's lock.
 */
export const settledMs = 15 * 60_000;

/** An hour with fewer clicks is read from its events as fast. */
export const busyClicks = 500;

/** How long roll-ups are kept. Months are kept for good. */
export const hoursKeptDays = 8;
export const daysKeptDays = 400;

/** No day of a tenant is longer, nor any with a change of its zone. */
export const longestDayMs = 50 * 3_600_000;
