import { BoundedMap } from "../../base/bounded-map.ts";
import type { Sql } from "../../sql/sql.ts";
import type { BreakdownName } from "../click.ts";
import { addStoredSums } from "../rollups/packed.ts";
import type { NeededValues, SumsByName } from "../rollups/packed-values.ts";
import { addTally, newTally, type Tally } from "../rollups/tally.ts";
import { hasWithin } from "./cover.ts";
import { RankedSums } from "./ranked-sums.ts";
import type { ReportCheck } from "./report-check.ts";
import { type NamedRow, readRows, type StoredPeriod } from "./rollup-rows.ts";
import type { SubjectScope } from "./scope.ts";

/**
 * The sum of the roll-ups of a report without filters. It is kept in memory: who looks at a report looks at it again, and reading
 * the rows of a busy link is most of the work.
 *
 * What is kept is never outdated. The clicks of a roll-up change only with late ones, and those raise `late` of their tenant in the
 * transaction that deletes it. So the sum is found under `late`, as it was before the rows were listed, and the list of rows.
 */
export interface CondensedSums {
  readonly tally: Tally;
  /** By breakdown. Undefined if no values are needed. */
  readonly sums: ReadonlyMap<BreakdownName, RankedSums> | undefined;
  readonly rows: readonly NamedRow[];
}

interface SumSettings {
  /** Starts of the report's intervals. */
  readonly starts: readonly number[];
  readonly needed: Required<NeededValues>;
  readonly check: ReportCheck;
}

/** Of all entries. One of a busy tenant has about 1 MB. */
const bytesMost = 16_000_000;

class SumCache {
  readonly #entries = new BoundedMap<string, { readonly found: CondensedSums; readonly bytes: number }>(
    bytesMost,
    ({ bytes }) => bytes,
  );

  get(key: string): CondensedSums | undefined {
    const entry = this.#entries.delete(key);
    if (entry === undefined) return undefined;
    this.#entries.set(key, entry); // now it is the latest
    return entry.found;
  }

  set(key: string, found: CondensedSums): void {
    const bytes = bytesOf(found) + 2 * key.length;
    if (bytes <= bytesMost / 4) this.#entries.set(key, { found, bytes });
  }
}

const caches = new WeakMap<Sql, SumCache>();

/** For benchmarks: a report without what the one before has left behind. */
export const forgetSums = (sql: Sql): void => void caches.delete(sql);

/** Undefined if a roll-up was deleted or replaced while they were read. The tally may be added to. */
export async function condensedSums(
  sql: Sql,
  scope: SubjectScope,
  periods: readonly StoredPeriod[],
  settings: SumSettings,
): Promise<CondensedSums | undefined> {
  let cache = caches.get(sql);
  if (cache === undefined) {
    cache = new SumCache();
    caches.set(sql, cache);
  }
  const key = keyOf(scope, periods, settings);
  const known = cache.get(key);
  if (known !== undefined) return copyOf(known);
  const found = await read(sql, scope, periods, settings);
  if (found === undefined) return undefined;
  cache.set(key, copyOf(found));
  return found;
}

function keyOf(
  { number, late }: SubjectScope,
  periods: readonly StoredPeriod[],
  { starts, needed: { dimensions, people, rest } }: SumSettings,
): string {
  const rows = periods.map((row) => `${row.grain} ${row.from} ${row.to} ${hasWithin(starts, row)}`);
  return [number, late, dimensions.join(), people, rest, ...rows].join(";");
}

async function read(
  sql: Sql,
  scope: SubjectScope,
  periods: readonly StoredPeriod[],
  { starts, needed, check }: SumSettings,
): Promise<CondensedSums | undefined> {
  const hasValues = needed.dimensions.length > 0;
  const values = needed.rest ? "without names" : "of people, without names";
  const rows = await readRows(sql, scope, periods, {
    hasSeries: (row) => hasWithin(starts, row),
    values: hasValues ? values : "none",
  });
  if (rows.length < periods.length) return undefined;
  const tally = newTally();
  const sums: SumsByName | undefined = hasValues ? new Map() : undefined;
  for (const row of rows) {
    await check();
    addTally(tally, row.tally);
    if (sums !== undefined) addStoredSums(sums, row, needed);
  }
  const named = rows.map(({ grain, from, facts, packed }) => ({ grain, from, bytes: packed?.length ?? facts.length }));
  return {
    tally,
    sums: sums && new Map([...sums].map(([name, ofName]) => [name, new RankedSums(ofName)])),
    rows: named,
  };
}

function copyOf({ tally, sums, rows }: CondensedSums): CondensedSums {
  return {
    tally: {
      ...newTally(),
      ...{ reasons: [...tally.reasons], visitors: tally.visitors, itemised: tally.itemised },
      series: new Map([...tally.series].map(([at, counts]) => [at, { ...counts }])),
    },
    ...{ sums, rows },
  };
}

const bytesOf = ({ tally, sums, rows }: CondensedSums): number =>
  100 * (tally.series.size + rows.length) +
  [...(sums?.values() ?? [])].reduce((sum, { sums }) => sum + sums.bytes + 8 * sums.size, 0);
