import type { Clock } from "../base/clock.ts";

/**
 * How long a charge counts. Pure functions of a time; the store says what time it is.
 *
 * A **month** is a calendar month in UTC; every month has its own key.
 *
 * A **sliding** window consists of buckets, each a count. A window of 60 one-minute buckets includes the current bucket
 * and the 60 before it, 61 in all: the oldest is only partly inside the last 60 minutes, but counts in full. So no 60
 * minutes, wherever they begin, exceed the limit; the price is that a charge counts for up to one bucket longer than an
 * hour. A fixed window would allow twice the limit around its edge, and a log of every charge would cost memory per
 * charge instead of per bucket.
 *
 * A **total** never ends.
 *
 * A bucket in the future was written by a clock that has since been set back. It counts as if it were current: nothing
 * is forgotten, and it leaves the window one length from now.
 */
export type Window =
  | { readonly kind: "month" }
  | { readonly kind: "sliding"; readonly bucketMs: number; readonly buckets: number }
  | { readonly kind: "total" };

export const monthWindow: Window = { kind: "month" };
export const slidingHour: Window = { kind: "sliding", bucketMs: 60_000, buckets: 60 };
export const slidingMinute: Window = { kind: "sliding", bucketMs: 1_000, buckets: 60 };
export const totalWindow: Window = { kind: "total" };

/** Bucket number → amount charged in it. Months and totals have one bucket, number 0. */
export type Buckets = ReadonlyMap<number, number>;

/** A charge, and when it stops counting. */
export interface Leaving {
  readonly amount: number;
  readonly at: number;
}

export interface Month {
  /** `2026-11` */
  readonly name: string;
  readonly startsAt: number;
  readonly endsAt: number;
}

export function monthOf(now: number): Month {
  const date = new Date(now);
  const [year, index] = [date.getUTCFullYear(), date.getUTCMonth()];
  return {
    name: date.toISOString().slice(0, 7),
    startsAt: Date.UTC(year, index),
    endsAt: Date.UTC(year, index + 1),
  };
}

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

/** The key that counts the current window. */
export function keyAt(key: string, window: Window, now: number): string {
  return window.kind === "month" ? `${key}:${monthOf(now).name}` : key;
}

export function bucketAt(window: Window, now: number): number {
  return window.kind === "sliding" ? Math.floor(now / window.bucketMs) : 0;
}

/** From this time on, a charge made in the bucket no longer counts. */
export function countsUntil(window: Window, bucket: number, now: number): number {
  if (window.kind === "sliding") return (bucket + window.buckets + 1) * window.bucketMs;
  return window.kind === "month" ? monthOf(now).endsAt : Number.POSITIVE_INFINITY;
}

/** The buckets that count now, each with the time it leaves; earliest first. */
export function leavingBuckets(window: Window, buckets: Buckets, now: number): Leaving[] {
  const current = bucketAt(window, now);
  return [...buckets]
    .map(([bucket, amount]) => ({ amount, at: countsUntil(window, Math.min(bucket, current), now) }))
    .filter(({ amount, at }) => amount > 0 && at > now)
    .toSorted(earliestFirst);
}

export const sum = (parts: Iterable<{ readonly amount: number }>): number => {
  let all = 0;
  for (const { amount } of parts) all += amount;
  return all;
};

/** The first time at which `amount` fits under `max` if nothing else happens; `null` if waiting does not help. */
export function fitsAt(counting: readonly Leaving[], amount: number, max: number): number | null {
  if (amount > max) return null;
  let left = sum(counting);
  for (const part of counting.toSorted(earliestFirst)) {
    left -= part.amount;
    if (left + amount <= max) return Number.isFinite(part.at) ? part.at : null;
  }
  return null;
}

const earliestFirst = (one: Leaving, other: Leaving): number => one.at - other.at || 0;

/** Rejects a window that cannot be computed with before it reaches a store. */
export function isWindow(window: Window): boolean {
  if (window.kind !== "sliding") return window.kind === "month" || window.kind === "total";
  const { bucketMs, buckets } = window;
  return (
    Number.isSafeInteger(bucketMs) && bucketMs > 0 && Number.isSafeInteger(buckets) && buckets > 0 && buckets <= 100
  );
}
