import { sql as raw } from "kysely";
import type { Sql } from "../../sql/sql.ts";
import { readCounts, type StoredValues, storedValues } from "../rollups/packed.ts";
import { grains } from "../rollups/periods.ts";
import { clicksOf, newTally, peopleOf, type Tally } from "../rollups/tally.ts";
import type { RollupPeriod } from "./cover.ts";
import type { Span } from "./query.ts";
import type { ReportCheck } from "./report-check.ts";
import type { SubjectScope } from "./scope.ts";

/** Reads roll-ups for a report: which there are, and those parts of them that it needs. */
export interface StoredPeriod extends RollupPeriod {
  readonly start: number;
}

/** A month has at most 32 days; a row that begins before the range may reach into it. */
export const longestMs = 33 * 86_400_000;

export async function periodsOf({ db }: Sql, subject: number, { from, to }: Span): Promise<StoredPeriod[]> {
  const rows = await db
    .selectFrom("click_rollups")
    .select(["grain", "start", "until"])
    .where("subject", "=", subject as never)
    .where("grain", "in", Object.values(grains))
    .where("start", ">=", from - longestMs)
    .where("start", "<", to)
    .where("until", ">", from)
    .execute();
  return rows.map(({ grain, start, until }) => ({ grain, start, from: start, to: until }));
}

const rowsAtOnce = 200;

export interface RollupRow extends Span, StoredValues {
  readonly grain: number;
  /** Without values. */
  readonly tally: Tally;
}

export interface ReadParts {
  /** Whether the series is read, or the row counts as a whole at its start. */
  readonly hasSeries: (row: StoredPeriod) => boolean;
  readonly values: "none" | "of people, without names" | "without names" | "all";
}

/** Two fifths of a busy link's bytes are values of bots and previews. A row of an older version does not say where they begin, and is read as a whole. */
const ofPeople = raw<Uint8Array | null>`coalesce(substr(packed, 1, people_bytes), packed)`.as("packed");

/** In one statement, because on PostgreSQL each statement adds a third of a millisecond. */
export async function readRows(
  { db }: Sql,
  { number }: SubjectScope,
  rows: readonly StoredPeriod[],
  { hasSeries, values }: ReadParts,
): Promise<RollupRow[]> {
  const ofKind = (some: readonly StoredPeriod[]) => {
    const [{ grain } = { grain: 0 }] = some;
    const isRead = some[0] !== undefined && hasSeries(some[0]);
    return db
      .selectFrom("click_rollups")
      .select(["grain", "start", "until", "reasons", "visitors", "itemised"])
      .select(raw<string | null>`${isRead ? raw.ref("series") : raw`null`}`.as("series"))
      .$if(values !== "none", (query) => query.select("facts"))
      .$if(values === "of people, without names", (query) => query.select(ofPeople))
      .$if(values === "without names" || values === "all", (query) => query.select("packed"))
      .$if(values === "all", (query) => query.select("names"))
      .where("subject", "=", number as never)
      .where("grain", "=", grain)
      .where(
        "start",
        "in",
        some.map(({ start }) => start),
      )
      .where("until", "in", endsOf(some));
  };
  const [first, ...others] = alike(rows, (row) => `${row.grain} ${hasSeries(row)}`).map(ofKind);
  if (first === undefined) return [];
  const stored = await others.reduce((all, one) => all.unionAll(one), first).execute();
  return stored.map(({ grain, start, until, series, facts = "", packed = null, names = null, ...counts }) => {
    const tally = { ...newTally(), ...readCounts({ ...counts, series: series ?? "[]" }, start) };
    if (series === null) {
      const people = peopleOf(tally);
      tally.series.set(start, { people, visitors: tally.visitors, rest: clicksOf(tally) - people });
    }
    return { from: start, to: until, grain, tally, facts, packed, names };
  });
}

/** A row of three hours begins with its first quarter, and may have taken its place since the rows were listed. */
const endsOf = (rows: readonly Span[]): number[] => [...new Set(rows.map(({ to }) => to))];

/** How many events these rows were made from. Undefined if one of them was deleted or replaced meanwhile. */
export async function itemisedIn(
  { db }: Sql,
  { number }: SubjectScope,
  rows: readonly StoredPeriod[],
): Promise<number | undefined> {
  let itemised = 0;
  for (const some of alike(rows, ({ grain }) => String(grain))) {
    const [{ grain = 0 } = {}] = some;
    const starts = some.map(({ start }) => start);
    const found = await db
      .selectFrom("click_rollups")
      .select((row) => [row.fn.countAll<number>().as("rows"), row.fn.sum<number | null>("itemised").as("itemised")])
      .where("subject", "=", number as never)
      .where("grain", "=", grain)
      .where("start", "in", starts)
      .where("until", "in", endsOf(some))
      .executeTakeFirstOrThrow();
    if (Number(found.rows) < some.length) return undefined;
    itemised += Number(found.itemised);
  }
  return itemised;
}

/** In groups of the same kind, and not too many at once. */
function alike<One>(all: readonly One[], kindOf: (one: One) => string, most = rowsAtOnce): One[][] {
  return [...Map.groupBy(all, kindOf).values()].flatMap((some) =>
    Array.from({ length: Math.ceil(some.length / most) }, (_, place) => some.slice(place * most, (place + 1) * most)),
  );
}

/** One row has most of the names, so it is read first. */
const firstNames = 1;
const namesAtOnce = 50;

/** A row, and how large its values are. */
export interface NamedRow {
  readonly grain: number;
  readonly from: number;
  readonly bytes: number;
}

/** The values of rows with their names, those with the most values first. */
export async function* readNames(
  { db }: Sql,
  { number }: SubjectScope,
  rows: readonly NamedRow[],
  check: ReportCheck,
): AsyncGenerator<StoredValues> {
  const sorted = rows.toSorted((a, b) => b.bytes - a.bytes);
  const ofRest = alike(sorted.slice(firstNames), ({ grain }) => String(grain), namesAtOnce);
  for (const some of [sorted.slice(0, firstNames), ...ofRest]) {
    await check();
    const [{ grain = 0 } = {}] = some;
    const starts = some.map(({ from }) => from);
    const stored = await db
      .selectFrom("click_rollups")
      .select(storedValues)
      .where("subject", "=", number as never)
      .where("grain", "=", grain)
      .where("start", "in", starts)
      .execute();
    yield* stored;
  }
}
