import { BoundedMap } from "../../base/bounded-map.ts";
import type { Sql } from "../../sql/sql.ts";
import { settledMs } from "../rollups/periods.ts";
import { type EventCounts, newEventCounts } from "./event-counts.ts";
import { addEvents, chooseLevel, type EventCount } from "./events.ts";
import type { Span } from "./query.ts";
import type { SubjectScope } from "./scope.ts";

/**
 * The events that no roll-up has yet, of the last gaps of a report. The sum of those that are settled is kept in memory, and the next
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

/** `gaps`: in order, without overlap. Undefined if their sum cannot be kept. */
export async function openSum(
  sql: Sql,
  scope: SubjectScope,
  gaps: readonly Span[],
  { wanted, now, check }: Pick<EventCount, "wanted" | "check"> & { readonly now: number },
): Promise<OpenSum | undefined> {
  // By the database's clock, as it is decided there what is late; ours may be behind it.
  const until = Math.min(scope.databaseNow, now) - settledMs;
  const last = gaps.at(-1);
  if (last === undefined || scope.number === undefined || until <= last.from || until >= last.to) return undefined;
  const { from, to } = last;
  const before = gaps.slice(0, -1);
  const cache = caches.get(sql) ?? new BoundedMap<string, Entry>(bytesMost, bytesOf);
  caches.set(sql, cache);
  const places = before.flatMap((gap) => [gap.from, gap.to]);
  const key = [scope.number, scope.late, ...places, from, ...wanted].join(" ");
  // Nobody else may add to it or read it meanwhile: they begin anew.
  const kept = cache.delete(key);
  // If it ends later, the clock was ahead and was set back: clicks of before that end may have come since, and were not late.
  const known = kept !== undefined && kept.until <= until ? kept : undefined;
  const [settled, newer] = [known?.counts ?? newEventCounts(wanted), newEventCounts(wanted)];
  const missing =
    known === undefined
      ? [...before, { from, to: until }]
      : known.until < until
        ? [{ from: known.until, to: until }]
        : [];
  const { level, events } = await chooseLevel(sql, scope, [...missing, { from: until, to }]);
  if (level > 0) return undefined;
  const parts = [
    { spans: missing, counts: settled },
    { spans: [{ from: until, to }], counts: newer },
  ];
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
