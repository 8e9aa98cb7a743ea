import { hitReasons } from "../../redirect/decide.ts";
import { type Dimension, none, other } from "../click.ts";
import { valuesMost } from "../rollups/tally.ts";

/**
 * The clicks of an overflow row, while they are counted. Two things are as in the row, so that writing it takes the least time: the
 * values of a dimension are one list, and "none" is left out, because it is what the other values leave of all clicks. A row with
 * three clicks a second is written as often as one with three thousand.
 */
export interface OverflowTally {
  /** In the order of `hitReasons`. */
  readonly reasons: number[];
  /** First visits of a day to the link, and to the tenant. Only people have them. */
  visitors: number;
  tenantVisitors: number;
  readonly people: OverflowValues;
  readonly rest: OverflowValues;
  /** How many values it has. */
  size: number;
}

export interface OverflowValues {
  readonly lists: ValueLists;
  /** Where in its list a value is. */
  readonly places: Partial<Record<Dimension, Map<string, number>>>;
}

/** A value, its clicks, first visits to the link and first visits to the tenant; then the next value. */
export type ValueLists = Partial<Record<Dimension, (string | number)[]>>;
export const valueWidth = 4;

export const newOverflowTally = (): OverflowTally => ({
  reasons: hitReasons.map(() => 0),
  visitors: 0,
  tenantVisitors: 0,
  people: { lists: {}, places: {} },
  rest: { lists: {}, places: {} },
  size: 0,
});

export function addOverflowValue(
  tally: OverflowTally,
  { lists, places }: OverflowValues,
  dimension: Dimension,
  value: string,
  clicks: number,
  visitors: number,
  tenantVisitors: number,
): void {
  if (value === none) return;
  let list = lists[dimension];
  let ofDimension = places[dimension];
  if (list === undefined || ofDimension === undefined) {
    [list, ofDimension] = [[], new Map()];
    lists[dimension] = list;
    places[dimension] = ofDimension;
  }
  const place = ofDimension.get(value);
  if (place === undefined) {
    ofDimension.set(value, list.length);
    list.push(value, clicks, visitors, tenantVisitors);
    tally.size++;
    return;
  }
  list[place + 1] = (list[place + 1] as number) + clicks;
  list[place + 2] = (list[place + 2] as number) + visitors;
  list[place + 3] = (list[place + 3] as number) + tenantVisitors;
}

/** Leaves the most frequent values of each dimension, and the others as one: no more may be stored. */
export function trimOverflow(tally: OverflowTally): void {
  if (tally.size <= valuesMost) return;
  for (const { lists, places } of [tally.people, tally.rest]) {
    for (const [dimension, ofDimension] of Object.entries(places) as [Dimension, Map<string, number>][]) {
      const named = ofDimension.size - (ofDimension.has(other) ? 1 : 0);
      if (named <= valuesMost) continue;
      const list = trimmedList(lists[dimension] ?? []);
      tally.size += list.length / valueWidth - ofDimension.size;
      lists[dimension] = list;
      places[dimension] = placesIn(list);
    }
  }
}

export function placesIn(list: readonly (string | number)[]): Map<string, number> {
  const places = new Map<string, number>();
  for (let place = 0; place < list.length; place += valueWidth) places.set(list[place] as string, place);
  return places;
}

type ValueRow = readonly [value: string, clicks: number, visitors: number, tenantVisitors: number];

function trimmedList(list: readonly (string | number)[]): (string | number)[] {
  const rows: ValueRow[] = [];
  for (let place = 0; place < list.length; place += valueWidth) {
    rows.push(list.slice(place, place + valueWidth) as unknown as ValueRow);
  }
  const named = rows.filter(([value]) => value !== other);
  // The same values on every run, also when many are equally frequent.
  named.sort(([a, one], [b, two]) => two - one || (a < b ? -1 : 1));
  const left = [...rows.filter(([value]) => value === other), ...named.slice(valuesMost)];
  const sumOf = (column: 1 | 2 | 3) => left.reduce((sum, row) => sum + row[column], 0);
  return [...named.slice(0, valuesMost).flat(), other, sumOf(1), sumOf(2), sumOf(3)];
}
