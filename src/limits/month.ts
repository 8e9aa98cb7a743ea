import type { Clock } from "../base/clock.ts";

/** Calendar months, UTC: the window of hits. */
export const monthOf = (now: number): string => new Date(now).toISOString().slice(0, 7);

export function monthEnd(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

export const secondsToMonthEnd = (now: number): number => Math.max(1, Math.ceil((monthEnd(now) - now) / 1_000));

/** The present month, spelled once a month: it is asked for with every hit. */
export function createMonth(clock: Clock): () => string {
  let [month, from, until] = ["", 0, 0];
  return () => {
    const now = clock.now();
    if (now < from || now >= until) [month, from, until] = [monthOf(now), now, monthEnd(now)];
    return month;
  };
}
