import { dayMs } from "../../base/clock.ts";
import { quarterMs } from "../click.ts";
import { hourMs } from "../reports/zones.ts";

/**
 * Whether a link gets many more or far fewer clicks than usual, judged by its own last four weeks.
 *
 * The usual number of a window of time is the median of the same time of the last seven days, and the median of the same time
 * and weekday of the last four weeks. Medians: one busy day does not become the usual. A spike must be beyond the larger
 * of the two, a drop below the smaller: a newsletter every Monday is no spike, and an office link that sleeps on Sundays no drop.
 *
 * Small numbers prove nothing, so both need a minimum. A spike must also be more than any hour of the last seven days: the
 * bursts of a link that has bursts are usual.
 */
export interface LinkPattern {
  /** When it had its first click. */
  readonly firstAt: number;
  /** Clicks of people by the start of the quarter of an hour; a quarter without clicks may be missing. */
  readonly quarters: ReadonlyMap<number, number>;
}

export interface Compared {
  readonly clicks: number;
  readonly usual: number;
}

export type Unusual =
  /** It begins, or it is going on. */
  ({ readonly kind: "begins" } & Compared) | ({ readonly kind: "continues" } & Compared) | { readonly kind: "no" };

export const historyDays = 28;
/** A link is new before that: it has no pattern. */
export const spikeHistoryMs = 3 * dayMs;
export const spikeLeast = 50;
const spikeTimes = 5;
/** Once it has begun it goes on down to this, so that a spike around the threshold is one. */
const spikeEndTimes = 2.5;

export const dropWindowMs = 6 * hourMs;
export const dropDays = 7;
export const dropDayLeast = 200;
/** In the window. With 40 expected, fewer than 8 happen by chance once in 10^10 windows. */
const dropUsualLeast = 40;
const dropShare = 0.2;
const dropEndShare = 0.5;

const weekDays = 7;
const weeks = 4;

/** The hour that ends at `until`, which is the end of a quarter of an hour. */
export function judgeSpike(pattern: LinkPattern, until: number): Unusual {
  if (until - pattern.firstAt < spikeHistoryMs) return no;
  const clicks = within(pattern, until - hourMs, until);
  if (clicks < spikeLeast) return no;
  const usual = Math.max(...usuals(pattern, until, hourMs));
  const compared = { clicks, usual };
  if (clicks >= spikeTimes * usual && clicks > busiestHour(pattern, until)) return { kind: "begins", ...compared };
  return clicks >= spikeEndTimes * usual ? { kind: "continues", ...compared } : no;
}

/** The six hours that end at `until`. */
export function judgeDrop(pattern: LinkPattern, until: number): Unusual {
  const from = until - dropWindowMs;
  if (!isSteady(pattern, from)) return no;
  const clicks = within(pattern, from, until);
  const usual = Math.min(...usuals(pattern, until, dropWindowMs));
  if (usual < dropUsualLeast) return no;
  const compared = { clicks, usual };
  if (clicks < dropShare * usual) return { kind: "begins", ...compared };
  return clicks < dropEndShare * usual ? { kind: "continues", ...compared } : no;
}

const no: Unusual = { kind: "no" };

function within({ quarters }: LinkPattern, from: number, until: number): number {
  let sum = 0;
  for (let at = from; at < until; at += quarterMs) sum += quarters.get(at) ?? 0;
  return sum;
}

/** By days, and by weeks if the link is old enough. */
function usuals(pattern: LinkPattern, until: number, windowMs: number): number[] {
  const ago = (days: number) => {
    const end = until - days * dayMs;
    return end - windowMs >= pattern.firstAt ? [within(pattern, end - windowMs, end)] : [];
  };
  const days = Array.from({ length: weekDays }, (_, place) => ago(place + 1)).flat();
  const sameWeekday = Array.from({ length: weeks }, (_, place) => ago((place + 1) * weekDays)).flat();
  return [days, sameWeekday].filter((counts) => counts.length > 0).map(median);
}

/** Of the last seven days, at any time. */
function busiestHour(pattern: LinkPattern, until: number): number {
  let most = 0;
  const first = until - hourMs - weekDays * dayMs;
  let sum = within(pattern, first, first + hourMs);
  for (let from = first; from + hourMs <= until - hourMs; from += quarterMs) {
    most = Math.max(most, sum);
    sum += (pattern.quarters.get(from + hourMs) ?? 0) - (pattern.quarters.get(from) ?? 0);
  }
  return most;
}

/** Each of the seven days before had enough clicks. */
function isSteady(pattern: LinkPattern, until: number): boolean {
  if (until - pattern.firstAt < dropDays * dayMs) return false;
  for (let day = 0; day < dropDays; day++) {
    const end = until - day * dayMs;
    if (within(pattern, end - dayMs, end) < dropDayLeast) return false;
  }
  return true;
}

export function median(counts: readonly number[]): number {
  const sorted = counts.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = 0, high = 0] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return (low + high) / 2;
}
