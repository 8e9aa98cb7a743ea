import { hitReasons } from "../../redirect/decide.ts";
import { type BreakdownName, firstToLink, firstToTenant, isPerson, other, quarterOf, tooLate } from "../click.ts";
import { type FirstOf, linkValue } from "../rollups/id-counts.ts";
import { addValue, type Counts, countsAt, newTally, type Tally } from "../rollups/tally.ts";
import type { ValueNames } from "../rollups/value-names.ts";
import { ValueSums } from "../rollups/value-sums.ts";

/** Events that are added up, with the ids of their values. */
export interface EventCounts {
  readonly reasons: number[];
  visitors: number;
  itemised: number;
  readonly series: Map<number, Counts>;
  readonly values: readonly IdSums[];
}

/** By id, of one breakdown. Links have numbers. */
export interface IdSums {
  readonly name: BreakdownName;
  readonly people: ValueSums;
  readonly rest: ValueSums;
}

export const newEventCounts = (wanted: readonly BreakdownName[]): EventCounts => ({
  reasons: hitReasons.map(() => 0),
  visitors: 0,
  itemised: 0,
  series: new Map(),
  values: wanted.map((name) => ({ name, people: new ValueSums(), rest: new ValueSums() })),
});

/** A key is never 0, and an id may be. */
export const keyOfId = (id: number): number => id + 1;
const idOfKey = (key: number): number => key - 1;

export function addIdSum(sums: ValueSums, id: number, clicks: number, visitors: number): void {
  sums.add(keyOfId(id), keyOfId(id) | 0, clicks, visitors);
}

/** `columns`: at, reason, first, and those of `counts.values`. */
export function addNumbers(counts: EventCounts, numbers: readonly number[], whose: FirstOf): void {
  const width = 3 + counts.values.length;
  const bit = whose === "link" ? firstToLink : firstToTenant;
  const ofPeople = counts.values.map(({ people }) => people);
  const ofRest = counts.values.map(({ rest }) => rest);
  for (let place = 0; place < numbers.length; place += width) {
    const [at, reason, first] = [numbers[place] ?? 0, numbers[place + 1] ?? 0, numbers[place + 2] ?? 0];
    const visitors = (first & tooLate) === 0 && (first & bit) !== 0 ? 1 : 0;
    const isOfPerson = isPerson(reason);
    counts.reasons[reason] = (counts.reasons[reason] ?? 0) + 1;
    counts.visitors += visitors;
    counts.itemised++;
    const ofQuarter = countsAt(counts.series, quarterOf(at));
    if (isOfPerson) ofQuarter.people++;
    else ofQuarter.rest++;
    ofQuarter.visitors += visitors;
    const ofClass = isOfPerson ? ofPeople : ofRest;
    for (let n = 0; n < ofClass.length; n++) {
      addIdSum(ofClass[n] as ValueSums, numbers[place + 3 + n] as number, 1, visitors);
    }
  }
}

/** Calls `take` with each value and its id. */
export function forEachValue(
  { values }: EventCounts,
  take: (name: BreakdownName, isOfPeople: boolean, id: number, clicks: number, visitors: number) => void,
): void {
  for (const { name, people, rest } of values) {
    people.each((key, clicks, visitors) => take(name, true, idOfKey(key), clicks, visitors));
    rest.each((key, clicks, visitors) => take(name, false, idOfKey(key), clicks, visitors));
  }
}

/** Ids of `click_values`. */
export function idsIn(counts: EventCounts): Set<number> {
  const ids = new Set<number>();
  forEachValue(counts, (name, _, id) => {
    if (name !== "link") ids.add(id);
  });
  return ids;
}

/** A value without a name counts as "other". */
export const textOfId = (name: BreakdownName, id: number, nameOf: ValueNames["of"]): string =>
  name === "link" ? linkValue(id) : (nameOf(id) ?? other);

export function tallyOf(counts: EventCounts, nameOf: ValueNames["of"]): Tally {
  const tally = tallyWithoutValues(counts);
  forEachValue(counts, (name, isOfPeople, id, clicks, visitors) => {
    addValue(isOfPeople ? tally.people : tally.rest, name, textOfId(name, id, nameOf), clicks, visitors);
  });
  return tally;
}

export function tallyWithoutValues({ reasons, visitors, itemised, series }: EventCounts): Tally {
  return { ...newTally(), reasons, visitors, itemised, series };
}
