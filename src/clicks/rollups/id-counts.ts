import { hitReasons } from "../../redirect/decide.ts";
import { factColumns } from "../../sql/schema.ts";
import {
  type BreakdownName,
  dimensions,
  firstToLink,
  firstToTenant,
  isPerson,
  other,
  quarterOf,
  tooLate,
} from "../click.ts";
import { addValue, type Counts, countsAt, newTally, type Tally, type ValueCount } from "./tally.ts";

/**
 * A tally whose values are still ids. Events have ids, and most values occur many times: names are looked up once for
 * each value, and not for each click.
 */
export interface IdCounts {
  readonly reasons: number[];
  visitors: number;
  itemised: number;
  readonly series: Map<number, Counts>;
  /** The dimensions of people, then those of the rest. */
  readonly values: readonly IdValues[];
  /** By number, of people and of the rest. Empty if all clicks are those of one link. */
  readonly links: { readonly people: IdValues; readonly rest: IdValues };
}

export type IdValues = Map<number, ValueCount>;

/** No link has this number: all that were not kept apart. */
export const otherLinks = 0;

/** What is read of an event, in this order. */
export const countedColumns = ["link", "at", "reason", "first", "domain", "tags", ...factColumns] as const;
const [linkPlace, atPlace, reasonPlace, firstPlace, factsPlace] = [0, 1, 2, 3, 6];

export const newIdCounts = (): IdCounts => ({
  reasons: hitReasons.map(() => 0),
  visitors: 0,
  itemised: 0,
  series: new Map(),
  values: Array.from({ length: 2 * dimensions.length }, () => new Map()),
  links: { people: new Map(), rest: new Map() },
});

/** Whose first visit of the day counts: a link has its own, the groups of a tenant share the tenant's. */
export type FirstOf = "link" | "tenant";

/** Adds the event that begins at this place of `numbers`. */
export function addEvent(counts: IdCounts, numbers: ArrayLike<number>, place: number, whose: FirstOf): void {
  const [at, reason, first] = [numbers[place + atPlace], numbers[place + reasonPlace], numbers[place + firstPlace]];
  if (at === undefined || reason === undefined || first === undefined) throw new RangeError("no event at this place");
  const isVisitor = (first & tooLate) === 0 && (first & (whose === "link" ? firstToLink : firstToTenant)) !== 0;
  const visitors = isVisitor ? 1 : 0;
  const isOfPerson = isPerson(reason);
  counts.reasons[reason] = (counts.reasons[reason] ?? 0) + 1;
  counts.visitors += visitors;
  counts.itemised++;
  const ofQuarter = countsAt(counts.series, quarterOf(at));
  if (isOfPerson) ofQuarter.people++;
  else ofQuarter.rest++;
  ofQuarter.visitors += visitors;
  const values = isOfPerson ? 0 : dimensions.length;
  for (let dimension = 0; dimension < dimensions.length; dimension++) {
    const ofDimension = counts.values[values + dimension];
    const id = numbers[place + factsPlace + dimension];
    if (ofDimension === undefined || id === undefined) throw new RangeError("an event lacks a fact");
    addId(ofDimension, id, 1, visitors);
  }
  if (whose === "tenant") addId(valuesBy(counts, "link", isOfPerson), numbers[place + linkPlace] ?? 0, 1, visitors);
}

export function addId(values: IdValues, id: number, clicks: number, visitors: number): void {
  const count = values.get(id);
  if (count === undefined) values.set(id, { clicks, visitors });
  else {
    count.clicks += clicks;
    count.visitors += visitors;
  }
}

/** The counts of one breakdown and class. */
export function valuesBy({ values, links }: IdCounts, name: BreakdownName, isOfPerson: boolean): IdValues {
  if (name === "link") return isOfPerson ? links.people : links.rest;
  const found = values[dimensions.indexOf(name) + (isOfPerson ? 0 : dimensions.length)];
  if (found === undefined) throw new RangeError(`there is no dimension ${name}`);
  return found;
}

/** Ids of `click_values`. */
export function* idsOf(counts: IdCounts): Generator<number> {
  for (const values of counts.values) yield* values.keys();
}

/** A value without a name counts as "other". */
export function toTally(counts: IdCounts, nameOf: (id: number) => string | undefined): Tally {
  const { reasons, visitors, itemised, series } = counts;
  const tally: Tally = { ...newTally(), reasons, visitors, itemised, series };
  for (const [place, values] of counts.values.entries()) {
    const dimension = dimensions[place % dimensions.length];
    if (dimension === undefined) throw new RangeError("more values than dimensions");
    const ofClass = place < dimensions.length ? tally.people : tally.rest;
    for (const [id, { clicks, visitors }] of values) {
      addValue(ofClass, dimension, nameOf(id) ?? other, clicks, visitors);
    }
  }
  for (const name of ["people", "rest"] as const) {
    for (const [link, { clicks, visitors }] of counts.links[name]) {
      addValue(tally[name], "link", linkValue(link), clicks, visitors);
    }
  }
  return tally;
}

/** How a tally names a link. */
export const linkValue = (link: number): string => (link === otherLinks ? other : String(link));
