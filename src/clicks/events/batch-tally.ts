import { type ClickBatch, dimensions, firstToLink, firstToTenant, isPerson } from "../click.ts";
import { addCounts, addValue, type FactCounts, newTally, type Tally } from "../rollups/tally.ts";
import { storedText } from "./values.ts";

/**
 * Adds up clicks of one link and quarter, column by column: a value is counted by its place in the batch, and its text is
 * looked at once. A busy link beyond its cap has thousands of clicks a second with a few values; adding each click to the
 * tallies took 6 µs of the 9 µs that it cost to store it.
 */
export interface TalliedPlace {
  /** In the batch. */
  readonly place: number;
  readonly reason: number;
  readonly first: number;
}

/** The same clicks, with the first visits to the link and with those to the tenant. */
export interface BothTallies {
  readonly ofLink: Tally;
  readonly ofTenant: Tally;
}

export function tallyPlaces(batch: ClickBatch, quarter: number, clicks: readonly TalliedPlace[]): BothTallies {
  const both: BothTallies = { ofLink: newTally(), ofTenant: newTally() };
  for (const { reason, first } of clicks) {
    addCounts(both.ofLink, quarter, reason, 1, firstBit(first, firstToLink));
    addCounts(both.ofTenant, quarter, reason, 1, firstBit(first, firstToTenant));
  }
  const people = clicks.filter(({ reason }) => isPerson(reason));
  const rest = clicks.filter(({ reason }) => !isPerson(reason));
  addColumns(batch, people, both.ofLink.people, both.ofTenant.people);
  addColumns(batch, rest, both.ofLink.rest, both.ofTenant.rest);
  return both;
}

const firstBit = (first: number, bit: number): number => ((first & bit) === 0 ? 0 : 1);

function addColumns(
  { facts, texts }: ClickBatch,
  clicks: readonly TalliedPlace[],
  ofLink: FactCounts,
  ofTenant: FactCounts,
): void {
  const width = dimensions.length;
  const counts = new Uint32Array(3 * texts.length);
  for (const [column, dimension] of dimensions.entries()) {
    const seen: number[] = [];
    for (const { place, first } of clicks) {
      const text = facts[place * width + column] ?? 0;
      const at = 3 * text;
      const before = counts[at] ?? 0;
      if (before === 0) seen.push(text);
      counts[at] = before + 1;
      if ((first & firstToLink) !== 0) counts[at + 1] = (counts[at + 1] ?? 0) + 1;
      if ((first & firstToTenant) !== 0) counts[at + 2] = (counts[at + 2] ?? 0) + 1;
    }
    for (const text of seen) {
      const at = 3 * text;
      const value = storedText(texts[text] ?? "");
      addValue(ofLink, dimension, value, counts[at] ?? 0, counts[at + 1] ?? 0);
      addValue(ofTenant, dimension, value, counts[at] ?? 0, counts[at + 2] ?? 0);
      counts.fill(0, at, at + 3);
    }
  }
}
