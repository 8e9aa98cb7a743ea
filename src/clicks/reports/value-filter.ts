import { type Dimension, dimensions, other } from "../click.ts";
import type { Counts, FactCounts, Tally, ValueCount } from "../rollups/tally.ts";
import { type ClickFilter, lowerAscii } from "./filters.ts";

/**
 * A report with one filter, on one dimension, needs no single clicks: roll-ups and overflow rows have the values of each
 * dimension. So its totals are as complete as those without filters, also when the events are gone. Clicks whose value
 * was not kept apart ("other") may match or not: they are not itemised.
 */
export interface ValueFilter {
  readonly dimension: Dimension;
  matches(value: string): boolean;
}

export function valueFilterOf([filter, second]: readonly ClickFilter[]): ValueFilter | undefined {
  if (filter === undefined || second !== undefined) return undefined;
  const dimension = dimensions.find((one) => one === filter.field);
  // Only an event says that it is "other" itself. In a roll-up this also stands for rare values.
  if (dimension === undefined || filter.values.includes(other)) return undefined;
  const known = new Set(filter.values);
  const parts = filter.values.map(lowerAscii);
  const test = {
    is: (value: string) => known.has(value),
    "is not": (value: string) => !known.has(value),
    contains: (value: string) => parts.some((part) => lowerAscii(value).includes(part)),
  }[filter.how];
  return { dimension, matches: (value) => value !== other && test(value) };
}

/** The filters for events: of a single dimension, "other" is not known to be different from a value. */
export const eventFilters = (filters: readonly ClickFilter[]): readonly ClickFilter[] =>
  valueFilterOf(filters) === undefined
    ? filters
    : filters.map((filter) => (filter.how === "is not" ? { ...filter, values: [...filter.values, other] } : filter));

export function matchedValues(values: FactCounts, { dimension, matches }: ValueFilter): Map<string, ValueCount> {
  return new Map([...(values.get(dimension) ?? [])].filter(([value]) => matches(value)));
}

export function matchedCounts({ people, rest }: Pick<Tally, "people" | "rest">, filter: ValueFilter): Counts {
  const ofPeople = [...matchedValues(people, filter).values()];
  const ofRest = [...matchedValues(rest, filter).values()];
  const sum = (some: readonly ValueCount[], name: keyof ValueCount) =>
    some.reduce((total, count) => total + count[name], 0);
  return { people: sum(ofPeople, "clicks"), visitors: sum(ofPeople, "visitors"), rest: sum(ofRest, "clicks") };
}
