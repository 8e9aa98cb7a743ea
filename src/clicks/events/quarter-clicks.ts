import { isPerson, quarterMs, quarterOf } from "../click.ts";
import type { BatchPart, LinkClicks } from "./parts.ts";

/** The clicks of a link in a quarter of an hour. No day ends within a quarter, so they have one day, too. */
export interface QuarterClicks extends LinkClicks {
  readonly quarter: number;
  /** How many are of people. */
  readonly people: number;
}

/** A click with another time has a wrong one: it is put to the time of the database. */
const aheadMs = 15 * 60_000;
const behindMs = 48 * 3_600_000;

export const isPossible = (at: number, now: number): boolean => at >= now - behindMs && at <= now + aheadMs;

/** The times of the clicks of a part, in its order. */
export interface PartTimes {
  readonly at: Float64Array;
  /** How many were wrong. */
  readonly corrected: number;
}

/** `shiftMs` is added to the times, if they are of another clock. */
export function timesOf({ batch, places }: BatchPart, now: number, shiftMs = 0): PartTimes {
  const at = new Float64Array(places.length);
  let corrected = 0;
  for (let n = 0; n < places.length; n++) {
    const said = (batch.at[places[n] ?? 0] ?? 0) + shiftMs;
    const isRight = isPossible(said, now);
    at[n] = isRight ? said : now;
    if (!isRight) corrected++;
  }
  return { at, corrected };
}

/** In their order. A quarter occurs again if the clock went back. */
export function byQuarter(
  { batch, places }: Pick<BatchPart, "batch" | "places">,
  links: readonly LinkClicks[],
  at: Float64Array,
): QuarterClicks[] {
  const all: QuarterClicks[] = [];
  for (const { link, from, to } of links) {
    for (let start = from; start < to; ) {
      const quarter = quarterOf(at[start] ?? 0);
      const end = endOfQuarter(at, start, to, quarter);
      all.push({ link, quarter, from: start, to: end, people: countPeople(batch.reason, places, start, end) });
      start = end;
    }
  }
  return all;
}

function endOfQuarter(at: Float64Array, from: number, to: number, quarter: number): number {
  let end = from;
  while (end < to && (at[end] ?? 0) >= quarter && (at[end] ?? 0) < quarter + quarterMs) end++;
  return end;
}

function countPeople(reason: Uint8Array, places: Uint32Array, from: number, to: number): number {
  let people = 0;
  for (let n = from; n < to; n++) if (isPerson(reason[places[n] ?? 0] ?? 0)) people++;
  return people;
}
