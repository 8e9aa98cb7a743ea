import { none, other } from "../click.ts";
import type { ValueCount } from "../rollups/tally.ts";
import { valueKey } from "../rollups/value-key.ts";
import { ValueSums } from "../rollups/value-sums.ts";

/**
 * Sums of one breakdown, of which those with the most clicks are found when they are asked for, and then kept. The sums never change:
 * what is added to them is apart, and a value that is not among the first of these sums and gets nothing is not among the first of both.
 */
export class RankedSums {
  readonly sums: ValueSums;
  readonly clicks: number;
  readonly visitors: number;
  #top: FirstKeys | undefined;

  constructor(sums: ValueSums) {
    let [clicks, visitors] = [0, 0];
    sums.each((_, ofKey, visitorsOfKey) => {
      clicks += ofKey;
      visitors += visitorsOfKey;
    });
    this.sums = sums;
    this.clicks = clicks;
    this.visitors = visitors;
  }

  first(most: number): FirstKeys {
    if (this.#top?.most === most) return this.#top;
    const least = leastOf(this.sums, most);
    const keys: number[] = [];
    this.sums.each((key, clicks) => {
      if (clicks >= least && isNamed(key)) keys.push(key);
    });
    this.#top = { most, least, keys };
    return this.#top;
  }
}

/** The first so many and those that equal the last, in no order. Without "none" and "other". */
interface FirstKeys {
  readonly most: number;
  /** The clicks of the last. 0 if there are fewer. */
  readonly least: number;
  readonly keys: readonly number[];
}

export const noneKey = valueKey(none);
export const otherKey = valueKey(other);
const isNamed = (key: number): boolean => key !== noneKey && key !== otherKey;

export const noSums = new RankedSums(new ValueSums());

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
  const { least: leastKept, keys } = kept.first(most);
  for (const key of keys) take(key);
  let [clicks, visitors] = [kept.clicks, kept.visitors];
  added.each((key, ofKey, visitorsOfKey) => {
    clicks += ofKey;
    visitors += visitorsOfKey;
    // With fewer it is not among the first of both: there are as many others already.
    if (ofKey + kept.sums.clicksOf(key) >= leastKept) take(key);
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

/** 0 if there are fewer. */
function nthOf(clicks: number[], most: number): number {
  return clicks.length <= most ? 0 : (clicks.sort((a, b) => b - a)[most - 1] ?? 0);
}

/**
 * The clicks of the last of the first so many; 0 if there are fewer. One pass: who has fewer than the last of the first so many until
 * then is skipped, which soon is almost everyone.
 */
function leastOf(sums: ValueSums, most: number): number {
  if (sums.size <= most) return 0;
  const kept = new Float64Array(2 * most);
  let [count, least] = [0, 0];
  const keepFirst = () => {
    const sorted = kept.subarray(0, count).sort();
    kept.copyWithin(0, count - most, count);
    [count, least] = [most, sorted[0] ?? 0];
  };
  sums.each((key, clicks) => {
    if (clicks <= least || !isNamed(key)) return;
    kept[count++] = clicks;
    if (count === kept.length) keepFirst();
  });
  if (count > most) keepFirst();
  return count < most ? 0 : kept.subarray(0, count).reduce((one, two) => Math.min(one, two));
}
