/**
 * Clicks may arrive 48 hours late. The roll-ups that contain them are then made again, which needs all events of the day, and
 * a tenant's day lies in up to three days of UTC.
 */
export const eventsLeastDays = 4;

/** For how long a tenant's events are kept: as its plan allows, or for less time if it chose so. Null: for good. */
export function eventsKeptDays(plan: number | null, own: number | null): number | null {
  const days = plan === null || own === null ? (own ?? plan) : Math.min(plan, own);
  return days === null ? null : Math.max(days, eventsLeastDays);
}
