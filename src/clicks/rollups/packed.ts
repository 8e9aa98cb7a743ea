import type { ClickRollupTable } from "../../sql/schema.ts";
import { type Dimension, dimensions, quarterMs } from "../click.ts";
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
    facts: JSON.stringify({ p: toJson(trimmed(tally.people)), r: toJson(trimmed(tally.rest)) }),
  };
}

export function readTally({ reasons, visitors, itemised, series, facts }: PackedTally, start: number): Tally {
  const { p, r } = JSON.parse(facts) as { p: JsonCounts; r: JsonCounts };
  return {
    ...newTally(),
    ...readCounts({ reasons, visitors, itemised, series }, start),
    people: fromJson(p),
    rest: fromJson(r),
  };
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

/** `[clicks, visitors]`, or just the clicks if no visitor was new. */
type JsonCounts = Partial<Record<Dimension, Record<string, number | [number, number]>>>;

const toJson = (values: FactCounts): JsonCounts =>
  Object.fromEntries(
    [...values].map(([dimension, ofDimension]) => [
      dimension,
      Object.fromEntries(
        [...ofDimension].map(([value, { clicks, visitors }]) => [value, visitors === 0 ? clicks : [clicks, visitors]]),
      ),
    ]),
  );

const fromJson = (json: JsonCounts): FactCounts =>
  new Map(
    dimensions.flatMap((dimension) => {
      const values = json[dimension];
      if (values === undefined) return [];
      const counts = Object.entries(values).map(([value, count]) => {
        const [clicks, visitors] = typeof count === "number" ? [count, 0] : count;
        return [value, { clicks, visitors }] as const;
      });
      return [[dimension, new Map(counts)]];
    }),
  );
