import { BoundedMap } from "../../base/bounded-map.ts";
import type { Sql } from "../../sql/sql.ts";
import { settledMs } from "../rollups/periods.ts";
import { type EventCounts, newEventCounts } from "./event-counts.ts";
import { addEvents, chooseLevel, type EventCount } from "./events.ts";
import type { Span } from "./query.ts";
import type { SubjectScope } from "./scope.ts";

/**
 * The events that no roll-up has yet, of the last gap of a report. The sum of those that are settled is kept in memory, and the next
 * report adds the events since then: whoever looks at a report looks at it again.
 *
 * What is kept is never outdated. An event that is stored so late raises `late` of its tenant in its transaction, and the sum is found
 * under `late`, as it was before the events were read.
 */
export interface OpenSum {
  readonly settled: EventCounts;
  /** Those after them. */
  readonly newer: EventCounts;
  /** To be called when nobody reads the settled ones any more: the next report adds to them. */
  keep(): void;
}

/** Reading fewer takes a tenth of a millisecond. */
const eventsLeast = 50;
/** Of all entries. One of a busy tenant has about 0.5 MB. */
const bytesMost = 8_000_000;

interface Entry {
  readonly counts: EventCounts;
  readonly until: number;
}

const caches = new WeakMap<Sql, BoundedMap<string, Entry>>();

/** For benchmarks: a report without what the one before has left behind. */
export const forgetOpenSums = (sql: Sql): void => void caches.delete(sql);

/** Undefined if the sum of this gap cannot be kept. */
export async function openSum(
  sql: Sql,
  scope: SubjectScope,
  { from, to }: Span,
  { wanted, now, check }: Pick<EventCount, "wanted" | "check"> & { readonly now: number },
): Promise<OpenSum | undefined> {
  // By the database's clock, as it is decided there what is late; ours may be behind it.
  const until = Math.min(scope.databaseNow, now) - settledMs;
  if (scope.number === undefined || until <= from || until >= to) return undefined;
  const cache = caches.get(sql) ?? new BoundedMap<string, Entry>(bytesMost, bytesOf);
  caches.set(sql, cache);
  const key = [scope.number, scope.late, from, ...wanted].join(" ");
  // Nobody else may add to it or read it meanwhile: they begin anew.
  const kept = cache.delete(key);
  // If it ends later, the clock was ahead and was set back: clicks of before that end may have come since, and were not late.
  const known = kept !== undefined && kept.until <= until ? kept : undefined;
  const [settled, newer] = [known?.counts ?? newEventCounts(wanted), newEventCounts(wanted)];
  const missing = { from: known?.until ?? from, to };
  const { level, events } = await chooseLevel(sql, scope, [missing]);
  if (level > 0) return undefined;
  const parts = [
    { from: missing.from, to: until, counts: settled },
    { from: until, to, counts: newer },
  ] as const;
  await addEvents(sql, scope, parts, { level, events, wanted, check });
  return {
    ...{ settled, newer },
    keep() {
      if (settled.itemised >= eventsLeast) cache.set(key, { counts: settled, until });
    },
  };
}

const bytesOf = ({ counts }: Entry): number =>
  counts.values.reduce((sum, { people, rest }) => sum + people.bytes + rest.bytes, 100 * counts.series.size);
