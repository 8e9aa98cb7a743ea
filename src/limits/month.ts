import type { Clock } from "../base/clock.ts";
import { monthOf } from "./window.ts";

/** The window of hits. */
export const monthName = (now: number): string => monthOf(now).name;
export const monthEnd = (now: number): number => monthOf(now).endsAt;
export const secondsToMonthEnd = (now: number): number => Math.max(1, Math.ceil((monthEnd(now) - now) / 1_000));

/** The present month, spelled once a month: it is asked for with every hit. */
export function createMonth(clock: Clock): () => string {
  let [month, from, until] = ["", 0, 0];
  return () => {
    const now = clock.now();
    if (now < from || now >= until) [month, from, until] = [monthName(now), now, monthEnd(now)];
    return month;
  };
}
