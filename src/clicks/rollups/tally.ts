import { hitReasons } from "../../redirect/decide.ts";
import { type BreakdownName, dimensions, isPerson, other, quarterOf } from "../click.ts";

/**
 * Counts of a period: by reason, by quarter of an hour, and by the values of every dimension; of people, and of the rest
 * (bots, previews and so on) apart. What overflow rows and roll-ups store, and what reports add up.
 *
 * The values of a dimension add up to the clicks of its class. A dimension has at most `valuesMost` values besides "none";
 * what is beyond is "other". Groups of links (tenants, domains, tags) are also counted by link.
 */
export interface Tally {
  /** In the order of `hitReasons`. */
  readonly reasons: number[];
  /** First visits of a day. */
  visitors: number;
  /** Clicks that have, or had, an event. */
  itemised: number;
  /** By start. */
  readonly series: Map<number, Counts>;
  readonly people: FactCounts;
  readonly rest: FactCounts;
}

export interface Counts {
  people: number;
  visitors: number;
  rest: number;
}

export type FactCounts = Map<BreakdownName, Map<string, ValueCount>>;

export interface ValueCount {
  clicks: number;
  visitors: number;
}

export const valuesMost = 300;

export const newTally = (): Tally => ({
  reasons: hitReasons.map(() => 0),
  visitors: 0,
  itemised: 0,
  series: new Map(),
  people: new Map(),
  rest: new Map(),
});

export interface TalliedClick {
  readonly at: number;
  readonly reason: number;
  readonly isFirst: boolean;
  /** In the order of `dimensions`. */
  readonly facts: readonly string[];
}

export function addClick(tally: Tally, { at, reason, isFirst, facts }: TalliedClick, isItemised: boolean): void {
  addCounts(tally, quarterOf(at), reason, 1, isFirst ? 1 : 0);
  if (isItemised) tally.itemised++;
  const values = isPerson(reason) ? tally.people : tally.rest;
  for (const [place, dimension] of dimensions.entries()) {
    addValue(values, dimension, facts[place] ?? "", 1, isFirst ? 1 : 0);
  }
}

/** Clicks and visitors of one reason and one entry of the series. Their values are added apart. */
export function addCounts(tally: Tally, start: number, reason: number, clicks: number, visitors: number): void {
  tally.reasons[reason] = (tally.reasons[reason] ?? 0) + clicks;
  tally.visitors += visitors;
  const counts = countsAt(tally.series, start);
  if (isPerson(reason)) counts.people += clicks;
  else counts.rest += clicks;
  counts.visitors += visitors;
}

export function addValue(
  values: FactCounts,
  dimension: BreakdownName,
  value: string,
  clicks: number,
  visitors: number,
): void {
  let ofDimension = values.get(dimension);
  if (ofDimension === undefined) {
    ofDimension = new Map();
    values.set(dimension, ofDimension);
  }
  const count = ofDimension.get(value);
  if (count === undefined) ofDimension.set(value, { clicks, visitors });
  else {
    count.clicks += clicks;
    count.visitors += visitors;
  }
}

export function countsAt(series: Map<number, Counts>, start: number): Counts {
  let counts = series.get(start);
  if (counts === undefined) {
    counts = { people: 0, visitors: 0, rest: 0 };
    series.set(start, counts);
  }
  return counts;
}

export function addTally(sum: Tally, added: Tally): void {
  for (const [reason, clicks] of added.reasons.entries()) sum.reasons[reason] = (sum.reasons[reason] ?? 0) + clicks;
  sum.visitors += added.visitors;
  sum.itemised += added.itemised;
  for (const [start, { people, visitors, rest }] of added.series) {
    const counts = countsAt(sum.series, start);
    counts.people += people;
    counts.visitors += visitors;
    counts.rest += rest;
  }
  addValues(sum.people, added.people);
  addValues(sum.rest, added.rest);
}

export function addValues(sum: FactCounts, added: FactCounts): void {
  for (const [dimension, values] of added) {
    for (const [value, { clicks, visitors }] of values) addValue(sum, dimension, value, clicks, visitors);
  }
}

export const peopleOf = ({ reasons }: Pick<Tally, "reasons">): number =>
  reasons.reduce((sum, clicks, reason) => (isPerson(reason) ? sum + clicks : sum), 0);

export const clicksOf = ({ reasons }: Pick<Tally, "reasons">): number =>
  reasons.reduce((sum, clicks) => sum + clicks, 0);

/** The most frequent values of each dimension, and the others as one. */
export function trimmed(values: FactCounts, most: number = valuesMost): FactCounts {
  return new Map([...values].map(([dimension, ofDimension]) => [dimension, trimmedValues(ofDimension, most)]));
}

function trimmedValues(values: Map<string, ValueCount>, most: number): Map<string, ValueCount> {
  if (values.size <= most) return values;
  const kept = (value: string) => value === "" || value === other;
  const named = [...values].filter(([value]) => !kept(value));
  if (named.length <= most) return new Map(values);
  // The same values on every run, also when many are equally frequent.
  named.sort(([a, one], [b, two]) => two.clicks - one.clicks || (a < b ? -1 : 1));
  const result = new Map([...values].filter(([value]) => kept(value)).concat(named.slice(0, most)));
  const rest = { clicks: 0, visitors: 0 };
  for (const [, { clicks, visitors }] of named.slice(most)) {
    rest.clicks += clicks;
    rest.visitors += visitors;
  }
  const before = values.get(other);
  result.set(other, {
    clicks: rest.clicks + (before?.clicks ?? 0),
    visitors: rest.visitors + (before?.visitors ?? 0),
  });
  return result;
}
