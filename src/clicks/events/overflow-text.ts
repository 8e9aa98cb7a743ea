import { dimensions, isPerson, none } from "../click.ts";
import type { FirstOf } from "../rollups/id-counts.ts";
import { addValue, type FactCounts, newTally, type Tally } from "../rollups/tally.ts";
import { type OverflowTally, type ValueLists, valueWidth, withPlaces } from "./overflow-tally.ts";

/**
 * The text of an overflow row. A busy link's row is replaced every second and read once or twice, so it has only what cannot be
 * computed from the rest: no series, because it is of one quarter of an hour, and no clicks with "none". With 1,000 busy links, half of
 * the writer's time was spent on rows of three times the size, and most of that on copying their pages to the log and to the file.
 */
export type StoredOverflow = readonly [
  reasons: number[],
  visitors: number,
  tenantVisitors: number,
  people: ValueLists,
  rest: ValueLists,
];

export const overflowText = ({ reasons, visitors, tenantVisitors, people, rest }: OverflowTally): string =>
  JSON.stringify([reasons, visitors, tenantVisitors, people.lists, rest.lists] satisfies StoredOverflow);

/** To be added to. */
export function readOverflowText(text: string): OverflowTally {
  const [reasons, visitors, tenantVisitors, people, rest] = JSON.parse(text) as StoredOverflow;
  return withPlaces({ reasons, visitors, tenantVisitors }, people, rest);
}

/** As reports and roll-ups count, with the first visits to the link or to the tenant. */
export function tallyOfOverflow(stored: StoredOverflow, quarter: number, whose: FirstOf): Tally {
  const [reasons, ofLink, ofTenant, people, rest] = stored;
  const visitors = whose === "link" ? ofLink : ofTenant;
  const tally: Tally = { ...newTally(), reasons, visitors };
  const clicks = { people: 0, rest: 0 };
  for (const [reason, count] of reasons.entries()) clicks[isPerson(reason) ? "people" : "rest"] += count;
  if (clicks.people + clicks.rest > 0) tally.series.set(quarter, { ...clicks, visitors });
  addLists(tally.people, people, whose, clicks.people, visitors);
  addLists(tally.rest, rest, whose, clicks.rest, 0);
  return tally;
}

function addLists(sums: FactCounts, lists: ValueLists, whose: FirstOf, clicks: number, visitors: number): void {
  if (clicks === 0) return;
  const visitorsAt = whose === "link" ? 2 : 3;
  for (const dimension of dimensions) {
    const list = lists[dimension] ?? [];
    const left = { clicks, visitors };
    for (let place = 0; place < list.length; place += valueWidth) {
      const [ofValue, first] = [list[place + 1] as number, list[place + visitorsAt] as number];
      addValue(sums, dimension, list[place] as string, ofValue, first);
      left.clicks -= ofValue;
      left.visitors -= first;
    }
    if (left.clicks > 0) addValue(sums, dimension, none, left.clicks, left.visitors);
  }
}
