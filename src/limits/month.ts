/** Calendar months, UTC: the window of hits. */
export const monthOf = (now: number): string => new Date(now).toISOString().slice(0, 7);

export function monthEnd(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

export const secondsToMonthEnd = (now: number): number => Math.max(1, Math.ceil((monthEnd(now) - now) / 1_000));
