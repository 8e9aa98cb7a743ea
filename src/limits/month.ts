import type { Clock } from "../base/clock.ts";
import { monthOf } from "./window.ts";

/** The month in which hits are counted. */
export const monthName = (now: number): string => monthOf(now).name;
export const monthEnd = (now: number): number => monthOf(now).endsAt;
export const secondsToMonthEnd = (now: number): number => Math.max(1, Math.ceil((monthEnd(now) - now) / 1_000));

/** The current month, formatted once a month because every hit needs it. */
export function createMonth(clock: Clock): () => string {
  let [month, from, until] = ["", 0, 0];
  return () => {
    const now = clock.now();
    if (now < from || now >= until) [month, from, until] = [monthName(now), now, monthEnd(now)];
    return month;
  };
}
