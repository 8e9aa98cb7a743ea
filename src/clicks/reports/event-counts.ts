import { hitReasons } from "../../redirect/decide.ts";
import { type BreakdownName, firstToLink, firstToTenant, isPerson, other, quarterOf, tooLate } from "../click.ts";
import { type FirstOf, linkValue } from "../rollups/id-counts.ts";
import { addValue, type Counts, countsAt, newTally, type Tally } from "../rollups/tally.ts";
import type { ValueNames } from "../rollups/value-names.ts";
import { ValueSums } from "../rollups/value-sums.ts";
import type { Span } from "./query.ts";

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

/** Adds the events of this range. Numbers: at, reason, first, and those of `counts.values`. */
export function addNumbers(counts: EventCounts, numbers: ArrayLike<number>, whose: FirstOf, { from, to }: Span): void {
  const width = 3 + counts.values.length;
  const bit = whose === "link" ? firstToLink : firstToTenant;
  const rows = numbers.length / width;
  const [people, rest, visitors] = [new Uint8Array(rows), new Uint8Array(rows), new Uint8Array(rows)];
  for (let row = 0, place = 0; row < rows; row++, place += width) {
    const [at, reason, first] = [numbers[place] ?? 0, numbers[place + 1] ?? 0, numbers[place + 2] ?? 0];
    if (at < from || at >= to) continue;
    const isFirst = (first & tooLate) === 0 && (first & bit) !== 0 ? 1 : 0;
    visitors[row] = isFirst;
    counts.reasons[reason] = (counts.reasons[reason] ?? 0) + 1;
    counts.visitors += isFirst;
    counts.itemised++;
    const ofQuarter = countsAt(counts.series, quarterOf(at));
    ofQuarter.visitors += isFirst;
    if (isPerson(reason)) {
      people[row] = 1;
      ofQuarter.people++;
    } else {
      rest[row] = 1;
      ofQuarter.rest++;
    }
  }
  for (const [place, sums] of counts.values.entries()) {
    sums.people.addColumn(numbers, 3 + place, width, { marks: people, visitors });
    sums.rest.addColumn(numbers, 3 + place, width, { marks: rest, visitors });
  }
}

/** Calls `take` with each value and its id. */
export function forEachValue(
  { values }: EventCounts,
  take: (name: BreakdownName, isOfPeople: boolean, id: number, clicks: number, visitors: number) => void,
): void {
  for (const { name, people, rest } of values) {
    people.each((id, clicks, visitors) => take(name, true, id, clicks, visitors));
    rest.each((id, clicks, visitors) => take(name, false, id, clicks, visitors));
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
