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
  /** Where the values of long lists are. Most lists have a few values, and searching them takes less time and memory. */
  readonly places: Partial<Record<Dimension, Map<string, number>>>;
}

/** A value, its clicks, first visits to the link and first visits to the tenant; then the next value. */
type ValueList = (string | number)[];
export type ValueLists = Partial<Record<Dimension, ValueList>>;
export const valueWidth = 4;
/** 16 values. */
const searchedMost = 16 * valueWidth;

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
  const list = lists[dimension];
  if (list === undefined) {
    lists[dimension] = [value, clicks, visitors, tenantVisitors];
    tally.size++;
    return;
  }
  const ofDimension = places[dimension];
  const place = ofDimension === undefined ? list.indexOf(value) : (ofDimension.get(value) ?? -1);
  if (place === -1) {
    ofDimension?.set(value, list.length);
    list.push(value, clicks, visitors, tenantVisitors);
    if (ofDimension === undefined && list.length > searchedMost) places[dimension] = placesIn(list);
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

/** The tally of a row that was read back. */
export function withPlaces(
  stored: Pick<OverflowTally, "reasons" | "visitors" | "tenantVisitors">,
  people: ValueLists,
  rest: ValueLists,
): OverflowTally {
  const tally = {
    ...newOverflowTally(),
    ...stored,
    people: { lists: people, places: {} },
    rest: { lists: rest, places: {} },
  };
  for (const { lists, places } of [tally.people, tally.rest] as OverflowValues[]) {
    for (const [dimension, list] of Object.entries(lists) as [Dimension, ValueList][]) {
      if (list.length > searchedMost) places[dimension] = placesIn(list);
      tally.size += list.length / valueWidth;
    }
  }
  return tally;
}

function placesIn(list: ValueList): Map<string, number> {
  const places = new Map<string, number>();
  for (let place = 0; place < list.length; place += valueWidth) places.set(list[place] as string, place);
  return places;
}

type ValueRow = readonly [value: string, clicks: number, visitors: number, tenantVisitors: number];

function trimmedList(list: ValueList): ValueList {
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
