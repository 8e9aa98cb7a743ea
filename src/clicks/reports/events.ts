import { type RawBuilder, sql as raw } from "kysely";
import { hitReasons } from "../../redirect/decide.ts";
import { readNumbers } from "../../sql/read-numbers.ts";
import type { LinkNumber, TenantNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { type EventQuery, sumEvents } from "../../sql/sum-events.ts";
import { dimensions, firstToLink, firstToTenant, tooLate, utcDay } from "../click.ts";
import { addEvent, countedColumns, type FirstOf, type IdCounts, newIdCounts } from "../rollups/id-counts.ts";
import { countsAt } from "../rollups/tally.ts";
import type { Span } from "./query.ts";

/**
 * Events of a range, filtered and added up. The key of events begins with day, tenant and level: the days are listed, so that
 * SQLite seeks each of them, and the events of one link are a short range for each day and level.
 */
export interface EventScope {
  readonly tenant: TenantNumber;
  readonly link: LinkNumber | undefined;
  /** Conditions on other columns. */
  readonly conditions: readonly RawBuilder<boolean>[];
  readonly whose: FirstOf;
}

export const levelMost = 12;
/** No report reads more events: at 1 µs each, that is a quarter of a second. */
export const eventsMost = 250_000;

export function eventsOf(
  { db }: Pick<Sql, "db">,
  scope: EventScope,
  { from, to }: Span,
  levels: readonly number[],
): EventQuery {
  const first = utcDay(from);
  const days = Array.from({ length: utcDay(to - 1) - first + 1 }, (_, place) => first + place);
  let query = db
    .selectFrom("clicks")
    .where("day", "in", days)
    .where("tenant", "=", scope.tenant)
    .where("level", "in", levels)
    .where("at", ">=", from)
    .where("at", "<", to);
  if (scope.link !== undefined) query = query.where("link", "=", scope.link);
  for (const condition of scope.conditions) query = query.where(condition);
  return query;
}

const levelsFrom = (least: number): number[] =>
  Array.from({ length: levelMost + 1 - least }, (_, place) => least + place);

export interface Sample {
  /** Levels from here on are read: 1 of 2^level events. */
  readonly level: number;
  /** How many events that is, before filters. */
  readonly events: number;
}

/** The largest sample that is not too large, counted from the highest level, the smallest, downwards. */
export async function chooseSample(
  sql: Sql,
  scope: EventScope,
  spans: readonly Span[],
  most = eventsMost,
): Promise<Sample> {
  const unfiltered = { ...scope, conditions: [] };
  let events = 0;
  for (let level = levelMost; level >= 0; level--) {
    let here = 0;
    for (const span of spans) {
      const some = eventsOf(sql, unfiltered, span, [level])
        .select(raw<number>`1`.as("one"))
        .limit(most + 1 - events - here);
      const counted = await sql.db
        .selectFrom(some.as("some"))
        .select((row) => row.fn.countAll<number>().as("count"))
        .executeTakeFirstOrThrow();
      here += counted.count;
      if (events + here > most) break;
    }
    if (events + here > most && level < levelMost) return { level: level + 1, events };
    events += here;
  }
  return { level: 0, events };
}

/** How many events of a sample are the subject's. */
export async function eventsWithin(
  sql: Sql,
  scope: EventScope,
  span: Span,
  { level, events }: Sample,
): Promise<number> {
  if (scope.conditions.length === 0) return events;
  const { count } = await eventsOf(sql, scope, span, levelsFrom(level))
    .select((row) => row.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

/** Adds up the events of these ranges, of the levels from `level` on. `check` throws when it takes too long. */
export async function countEvents(
  sql: Sql,
  scope: EventScope,
  spans: readonly Span[],
  level: number,
  check: () => void,
): Promise<IdCounts> {
  const counts = newIdCounts();
  for (const span of spans) {
    if (sql.dialect === "postgres") {
      check();
      await addSums(sql, scope, eventsOf(sql, scope, span, levelsFrom(level)), counts);
      continue;
    }
    // One level at a time: half of the events are in memory at most.
    for (const one of levelsFrom(level)) {
      check();
      const numbers = await readNumbers(sql, eventsOf(sql, scope, span, [one]), countedColumns);
      for (let place = 0; place < numbers.length; place += countedColumns.length) {
        addEvent(counts, numbers, place, scope.whose);
      }
    }
  }
  return counts;
}

async function addSums(sql: Sql, { whose }: EventScope, events: EventQuery, counts: IdCounts): Promise<void> {
  const bit = whose === "link" ? firstToLink : firstToTenant;
  const sums = await sumEvents(sql, events, { counted: hitReasons.indexOf("counted"), bit, late: tooLate });
  for (const { place, person, value, clicks, visitors } of sums) {
    if (place === 0) {
      counts.reasons[value] = (counts.reasons[value] ?? 0) + clicks;
      counts.itemised += clicks;
      counts.visitors += visitors;
    } else if (place === 1) {
      const ofQuarter = countsAt(counts.series, value);
      if (person === 1) ofQuarter.people += clicks;
      else ofQuarter.rest += clicks;
      ofQuarter.visitors += visitors;
    } else {
      const values = counts.values[place - 2 + (person === 1 ? 0 : dimensions.length)];
      const count = values?.get(value);
      if (count === undefined) values?.set(value, { clicks, visitors });
      else {
        count.clicks += clicks;
        count.visitors += visitors;
      }
    }
  }
}
