import { none, other } from "../click.ts";
import type { ValueCount } from "../rollups/tally.ts";
import { valueKey } from "../rollups/value-key.ts";
import { ValueSums } from "../rollups/value-sums.ts";
import { breakdownMost } from "./query.ts";

/**
 * Sums of one breakdown with those that have the most clicks. It never changes, so it can be kept: what is added to it is apart, and
 * a value that is not among the first of these sums and gets nothing is not among the first of both.
 */
export interface RankedSums {
  readonly sums: ValueSums;
  readonly clicks: number;
  readonly visitors: number;
  /** Keys of the first `breakdownMost` and those that equal the last, most clicks first. Without "none" and "other". */
  readonly top: readonly number[];
}

export const noneKey = valueKey(none);
export const otherKey = valueKey(other);
const isNamed = (key: number): boolean => key !== noneKey && key !== otherKey;

export function ranked(sums: ValueSums): RankedSums {
  const least = leastOf(sums, breakdownMost);
  let [clicks, visitors] = [0, 0];
  const top: { readonly key: number; readonly clicks: number }[] = [];
  sums.each((key, ofKey, visitorsOfKey) => {
    clicks += ofKey;
    visitors += visitorsOfKey;
    if (ofKey >= least && isNamed(key)) top.push({ key, clicks: ofKey });
  });
  top.sort((a, b) => b.clicks - a.clicks);
  return { sums, clicks, visitors, top: top.map(({ key }) => key) };
}

export const noSums: RankedSums = { sums: new ValueSums(), clicks: 0, visitors: 0, top: [] };

/**
 * The values of both with the most clicks, those that equal the last of them, "none", and all others as one; by key. An infinite
 * number of them is all.
 */
export function chosenOf(kept: RankedSums, added: ValueSums, most: number): Map<number, ValueCount> {
  const values = new Map<number, ValueCount>();
  const take = (key: number) => {
    const [one, two] = [kept.sums.get(key), added.get(key)];
    values.set(key, { clicks: one.clicks + two.clicks, visitors: one.visitors + two.visitors });
  };
  if (most <= breakdownMost) for (const key of firstOf(kept, most)) take(key);
  else kept.sums.each(take);
  let [clicks, visitors] = [kept.clicks, kept.visitors];
  added.each((key, ofKey, visitorsOfKey) => {
    clicks += ofKey;
    visitors += visitorsOfKey;
    take(key);
  });
  const least = nthOf(
    [...values].filter(([key]) => isNamed(key)).map(([, count]) => count.clicks),
    most,
  );
  values.delete(otherKey);
  take(noneKey);
  for (const [key, count] of values) {
    if (count.clicks === 0 || (count.clicks < least && isNamed(key))) values.delete(key);
    else {
      clicks -= count.clicks;
      visitors -= count.visitors;
    }
  }
  if (clicks > 0) values.set(otherKey, { clicks, visitors });
  return values;
}

/** With those that equal the last. */
function firstOf({ sums, top }: RankedSums, most: number): readonly number[] {
  const last = top[most - 1];
  if (last === undefined) return top;
  const least = sums.get(last).clicks;
  let end = most;
  while (end < top.length && sums.get(top[end] ?? 0).clicks === least) end++;
  return top.slice(0, end);
}

/** 0 if there are fewer. */
function nthOf(clicks: number[], most: number): number {
  return clicks.length <= most ? 0 : (clicks.sort((a, b) => b - a)[most - 1] ?? 0);
}

/** The clicks of the last of the first so many. */
function leastOf(sums: ValueSums, most: number): number {
  if (sums.size <= most) return 0;
  const clicks = new Float64Array(sums.size);
  let count = 0;
  sums.each((key, ofKey) => {
    if (isNamed(key)) clicks[count++] = ofKey;
  });
  return count <= most ? 0 : (clicks.subarray(0, count).sort()[count - most] ?? 0);
}
