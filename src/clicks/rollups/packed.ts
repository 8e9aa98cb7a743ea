import type { ClickRollupTable } from "../../sql/schema.ts";
import { type BreakdownName, quarterMs } from "../click.ts";
import { type StoredOverflow, tallyOfOverflow } from "../events/overflow-text.ts";
import type { FirstOf } from "./id-counts.ts";
import {
  addPacked,
  findNames,
  type NeededValues,
  type NewPackedValues,
  type PackedValues,
  packValues,
  type SumsByName,
  sumsOf,
  unpackValues,
} from "./packed-values.ts";
import { addValue, type FactCounts, newTally, type Tally, trimmed } from "./tally.ts";
import { valueKey } from "./value-key.ts";

/**
 * A tally as it is stored. A roll-up is one row with all of its values: a year of a link is 365 rows of a few hundred
 * bytes. With a row for each value it was 22,000 rows, which takes longer to read than a report may take.
 */
export type PackedTally = StoredCounts & StoredValues & Pick<NewPackedValues, "people_bytes">;

type StoredCounts = Pick<ClickRollupTable, "reasons" | "visitors" | "itemised" | "series">;
/** `facts` of an overflow row, and of a roll-up that was written before there was `packed`. */
export type StoredValues = Pick<ClickRollupTable, "facts" | "packed" | "names">;

export const storedCounts = ["reasons", "visitors", "itemised", "series"] as const;
export const storedValues = ["facts", "packed", "names"] as const;

export function writeTally(tally: Tally, start: number): PackedTally {
  return { ...writeCounts(tally, start), facts: "", ...packValues(trimmed(tally.people), trimmed(tally.rest)) };
}

/** Times of the series are stored as quarters of an hour since `start`. */
function writeCounts(tally: Tally, start: number): StoredCounts {
  const series = [...tally.series]
    .sort(([a], [b]) => a - b)
    .map(([at, { people, visitors, rest }]) => [(at - start) / quarterMs, people, visitors, rest]);
  return {
    reasons: JSON.stringify(tally.reasons),
    visitors: tally.visitors,
    itemised: tally.itemised,
    series: JSON.stringify(series),
  };
}

export function readTally(packed: StoredCounts & StoredValues, start: number): Tally {
  const tally = { ...newTally(), ...readCounts(packed, start) };
  addStoredValues(tally, packed);
  return tally;
}

/** Adds the needed values to those of the tally, with their names. */
export function addStoredValues(
  tally: Pick<Tally, "people" | "rest">,
  stored: StoredValues,
  needed: NeededValues = {},
): void {
  if (isPacked(stored)) unpackValues(stored, tally, needed);
  else addLines(tally, stored.facts, needed);
}

/** Adds the needed values by their keys. The names are not read. */
export function addStoredSums(sums: SumsByName, { packed, facts }: StoredValues, needed: NeededValues): void {
  if (packed !== null) {
    addPacked(sums, packed, needed);
    return;
  }
  forEachOfLines(facts, needed, (name, value, clicks, visitors) => {
    sumsOf(sums, name).add(valueKey(value), clicks, visitors);
  });
}

/** Calls `take` with the names of values whose keys are wanted. */
export function findStoredNames(
  stored: StoredValues,
  wanted: ReadonlySet<number>,
  take: (key: number, text: string) => void,
): void {
  if (isPacked(stored)) {
    findNames(stored, wanted, take);
    return;
  }
  forEachOfLines(stored.facts, {}, (_, value) => {
    const key = valueKey(value);
    if (wanted.has(key)) take(key, value);
  });
}

const isPacked = (stored: Pick<StoredValues, "packed" | "names">): stored is PackedValues =>
  stored.packed !== null && stored.names !== null;

/** Everything but the values, for a report that needs none. */
export function readCounts(
  { reasons, visitors, itemised, series }: StoredCounts,
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

/** Of an overflow row; of one that was written before there was `StoredOverflow`, the text has the visitors of either. */
export function readTallyText(text: string, start: number, whose: FirstOf = "link"): Tally {
  const stored = JSON.parse(text) as StoredOverflow | (StoredCounts & { readonly facts: string });
  if (!("facts" in stored)) return tallyOfOverflow(stored, start, whose);
  const tally = { ...newTally(), ...readCounts(stored, start) };
  addLines(tally, stored.facts);
  return tally;
}

/** The older form of an overflow row, for tests. */
export function writeTallyText(tally: Tally, start: number): string {
  const facts = [...linesOf("p", trimmed(tally.people)), ...linesOf("r", trimmed(tally.rest))].join("\n");
  return JSON.stringify({ ...writeCounts(tally, start), facts });
}

/** Values as lines, one for each class and dimension: `p country ["US",12,7,"DE",3,0]`, with clicks and visitors. */
const linesOf = (mark: "p" | "r", values: FactCounts): string[] =>
  [...values].map(([dimension, ofBreakdownName]) => {
    const list = [...ofBreakdownName].flatMap(([value, { clicks, visitors }]) => [value, clicks, visitors]);
    return `${mark} ${dimension} ${JSON.stringify(list)}`;
  });

const addLines = ({ people, rest }: Pick<Tally, "people" | "rest">, facts: string, needed: NeededValues = {}): void =>
  forEachOfLines(facts, needed, (name, value, clicks, visitors, isOfPeople) => {
    addValue(isOfPeople ? people : rest, name, value, clicks, visitors);
  });

function forEachOfLines(
  facts: string,
  { dimensions, people, rest }: NeededValues,
  take: (name: BreakdownName, value: string, clicks: number, visitors: number, isOfPeople: boolean) => void,
): void {
  for (const line of facts.split("\n")) {
    const isOfPeople = line.startsWith("p");
    if (line === "" || (isOfPeople ? people : rest) === false) continue;
    const end = line.indexOf(" ", 2);
    const name = line.slice(2, end) as BreakdownName;
    if (dimensions?.includes(name) === false) continue;
    const list = JSON.parse(line.slice(end + 1)) as readonly (string | number)[];
    for (let at = 0; at < list.length; at += 3) {
      take(name, list[at] as string, list[at + 1] as number, list[at + 2] as number, isOfPeople);
    }
  }
}
