import type { ClickRollupTable } from "../../sql/schema.ts";
import { type Dimension, quarterMs } from "../click.ts";
import { type FactCounts, newTally, type Tally, trimmed } from "./tally.ts";

/**
 * A tally as it is stored. A roll-up is one row with all of its values: a year of a link is 365 rows of a few hundred
 * bytes. With a row for each value it was 22,000 rows, which takes longer to read than a report may take.
 */
export type PackedTally = Pick<ClickRollupTable, "reasons" | "visitors" | "itemised" | "series" | "facts">;

/** Times of the series are stored as quarters of an hour since `start`. */
export function writeTally(tally: Tally, start: number): PackedTally {
  const series = [...tally.series]
    .sort(([a], [b]) => a - b)
    .map(([at, { people, visitors, rest }]) => [(at - start) / quarterMs, people, visitors, rest]);
  return {
    reasons: JSON.stringify(tally.reasons),
    visitors: tally.visitors,
    itemised: tally.itemised,
    series: JSON.stringify(series),
    facts: [...linesOf("p", trimmed(tally.people)), ...linesOf("r", trimmed(tally.rest))].join("\n"),
  };
}

export function readTally(packed: PackedTally, start: number): Tally {
  const tally = { ...newTally(), ...readCounts(packed, start) };
  addPackedValues(tally, packed.facts);
  return tally;
}

/** Everything but the values, for a report that needs none. */
export function readCounts(
  { reasons, visitors, itemised, series }: Omit<PackedTally, "facts">,
  start: number,
): Omit<Tally, "people" | "rest"> {
  return {
    reasons: JSON.parse(reasons) as number[],
    visitors,
    itemised,
    series: new Map(
      (JSON.parse(series) as [number, number, number, number][]).map(([at, people, visitors, rest]) => [
        start + at * quarterMs,
        { people, visitors, rest },
      ]),
    ),
  };
}

export const writeTallyText = (tally: Tally, start: number): string => JSON.stringify(writeTally(tally, start));
export const readTallyText = (text: string, start: number): Tally => readTally(JSON.parse(text) as PackedTally, start);

/**
 * Values are lines, one for each class and dimension: `p country ["US",12,7,"DE",3,0]`, with clicks and visitors. A report
 * reads the lines that it needs. Most reports are about people; a list is parsed in half the time of an object with
 * hundreds of names.
 */
const linesOf = (mark: "p" | "r", values: FactCounts): string[] =>
  [...values].map(([dimension, ofDimension]) => {
    const list = [...ofDimension].flatMap(([value, { clicks, visitors }]) => [value, clicks, visitors]);
    return `${mark} ${dimension} ${JSON.stringify(list)}`;
  });

/** All values, if nothing else is said. */
export interface NeededValues {
  readonly dimensions?: readonly Dimension[];
  readonly people?: boolean;
  readonly rest?: boolean;
}

/** Adds the needed values to those of the tally. */
export function addPackedValues(
  { people, rest }: Pick<Tally, "people" | "rest">,
  facts: string,
  needed: NeededValues = {},
): void {
  for (const line of facts.split("\n")) {
    const isOfPeople = line.startsWith("p");
    if (line === "" || (isOfPeople ? needed.people : needed.rest) === false) continue;
    const end = line.indexOf(" ", 2);
    const dimension = line.slice(2, end) as Dimension;
    if (needed.dimensions?.includes(dimension) === false) continue;
    addList(isOfPeople ? people : rest, dimension, JSON.parse(line.slice(end + 1)) as readonly (string | number)[]);
  }
}

function addList(sum: FactCounts, dimension: Dimension, list: readonly (string | number)[]): void {
  let values = sum.get(dimension);
  if (values === undefined) {
    values = new Map();
    sum.set(dimension, values);
  }
  for (let at = 0; at < list.length; at += 3) {
    const [value, clicks, visitors] = [list[at] as string, list[at + 1] as number, list[at + 2] as number];
    const count = values.get(value);
    if (count === undefined) values.set(value, { clicks, visitors });
    else {
      count.clicks += clicks;
      count.visitors += visitors;
    }
  }
}
