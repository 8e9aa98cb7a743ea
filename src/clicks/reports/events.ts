import { type RawBuilder, sql as raw } from "kysely";
import { dayMs } from "../../base/clock.ts";
import { hitReasons } from "../../redirect/decide.ts";
import { daysOfPartition } from "../../sql/partitions.ts";
import { readNumbers } from "../../sql/read-numbers.ts";
import type { LinkNumber, TenantNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { type EventQuery, sumEvents } from "../../sql/sum-events.ts";
import { type BreakdownName, firstToLink, firstToTenant, tooLate, utcDay } from "../click.ts";
import { allShelves, everyLevel, levelMost, shelvesOf } from "../event-shelves.ts";
import type { FirstOf } from "../rollups/id-counts.ts";
import { countsAt } from "../rollups/tally.ts";
import { merged, overlaps } from "./cover.ts";
import { addNumbers, type EventCounts, newEventCounts } from "./event-counts.ts";
import type { Span } from "./query.ts";
import type { ReportCheck } from "./report-check.ts";

/**
 * Events of a range, filtered and added up. The key of events begins with day, tenant and shelf (`event-shelves.ts`): days and shelves
 * are listed, so that the databases seek each of them, and the events of one link are a short range for each day and shelf.
 */
export interface EventScope {
  readonly tenant: TenantNumber;
  readonly link: LinkNumber | undefined;
  /** Conditions on other columns. */
  readonly conditions: readonly RawBuilder<boolean>[];
  readonly whose: FirstOf;
  /** Older events are deleted. */
  readonly eventsFrom?: number;
  /** The tenant has no clicks outside of this. Undefined if it is not known to have days. */
  readonly lived?: Span | undefined;
  /** UTC days without a click of the link: looking for them on every shelf would take most of the time. */
  readonly emptyDays?: ReadonlySet<number>;
}

/**
 * No report reads more events. Reading and adding up one takes 1 to 2.5 µs with all dimensions, so that is a quarter of a second; half
 * of them still give a total within 1 %.
 */
export const eventsReadMost = 125_000;

/** The events of all these ranges. */
export const eventsOf = (
  sql: Pick<Sql, "db" | "dialect">,
  scope: EventScope,
  spans: readonly Span[],
  levels: readonly number[],
): EventQuery => eventsOn(sql, scope, spans, distinct(spans.map((span) => shelvesOf(levels, span))));

export function eventsOn(
  { db, dialect }: Pick<Sql, "db" | "dialect">,
  scope: EventScope,
  all: readonly Span[],
  shelves: readonly number[],
): EventQuery {
  const spans = merged(all);
  const days = distinct(spans.map((span) => searchedDays(span, scope)));
  const { from, to } = hullOf(spans);
  const ofDays = (some: readonly number[]) => {
    const within = { from: (some[0] ?? 0) * dayMs, to: ((some.at(-1) ?? 0) + 1) * dayMs };
    const query = db
      .selectFrom("clicks")
      .where("day", "in", some)
      .where("tenant", "=", scope.tenant)
      .where("level", "in", shelves)
      .where("at", ">=", from)
      .where("at", "<", to)
      .$if(spans.length > 1, (one) =>
        one.where(
          isWithin(
            "at",
            spans.filter((span) => overlaps(span, within)),
          ),
        ),
      );
    return scope.link === undefined ? query : query.where("link", "=", scope.link);
  };
  const [first = [], ...more] = dialect === "postgres" && scope.link !== undefined ? byWeek(days) : [days];
  let query: EventQuery = ofDays(first);
  if (more.length > 0) {
    const weeks = more.reduce((all, some) => all.unionAll(ofDays(some).selectAll()), ofDays(first).selectAll());
    query = db.selectFrom(weeks.as("clicks")) as unknown as EventQuery;
  }
  for (const condition of scope.conditions) query = query.where(condition);
  return query;
}

/** Of ranges in order: from the beginning of the first to the end of the last. */
const hullOf = (spans: readonly Span[]): Span => ({ from: spans[0]?.from ?? 0, to: spans.at(-1)?.to ?? 0 });

/** Whether a time is in one of these ranges. A tree of conditions, because SQLite refuses a list of a thousand. */
export function isWithin(column: "at" | "quarter", spans: readonly Span[]): RawBuilder<boolean> {
  const [first] = spans;
  if (first === undefined) return raw<boolean>`(1 = 0)`;
  if (spans.length === 1) {
    return raw<boolean>`(${raw.ref(column)} >= ${first.from} and ${raw.ref(column)} < ${first.to})`;
  }
  const half = Math.ceil(spans.length / 2);
  return raw<boolean>`(${isWithin(column, spans.slice(0, half))} or ${isWithin(column, spans.slice(half))})`;
}

const distinct = (lists: readonly (readonly number[])[]): number[] =>
  [...new Set(lists.flat())].sort((one, other) => one - other);

/** The UTC days that may have clicks; at least one. A range of ten years would otherwise be thousands of searches. */
export function searchedDays(
  { from, to }: Span,
  { eventsFrom = 0, lived, emptyDays }: Pick<EventScope, "eventsFrom" | "lived" | "emptyDays">,
): number[] {
  const last = utcDay(Math.min(to, lived?.to ?? to) - 1);
  const first = Math.min(last, utcDay(Math.max(from, eventsFrom, lived?.from ?? from)));
  const days = Array.from({ length: last - first + 1 }, (_, place) => first + place);
  const some = emptyDays === undefined ? days : days.filter((day) => !emptyDays.has(day));
  return some.length === 0 ? [last] : some;
}

/**
 * PostgreSQL would look for each day in each partition: for 90 days and 13 levels that is 15,000 searches instead of
 * 1,200.
 */
const byWeek = (days: readonly number[]): number[][] => [
  ...Map.groupBy(days, (day) => Math.floor(day / daysOfPartition)).values(),
];

const levelsFrom = (least: number): readonly number[] => everyLevel.slice(least);

export interface Sample {
  /** Levels from here on are read: 1 of 2^level events. */
  readonly level: number;
  /** How many events that is, before filters; or about how many. */
  readonly events: number;
}

const levelsUpTo = (least: number, end: number): readonly number[] => everyLevel.slice(least, end);

/** Levels from here on are few events. They tell how many the others are. */
const guessLevels = 7;
/** The one that is counted alone: a sixteenth of all events, divided by the time of day, so that no others are looked at. */
const guessLevel = 3;
/** Fewer may be far from their share. */
const guessLeast = 1_000;

/** The largest sample that is not too large, counted from the highest levels, the smallest sample, downwards. */
export async function chooseSample(
  sql: Sql,
  scope: EventScope,
  spans: readonly Span[],
  most = eventsReadMost,
): Promise<Sample> {
  let [level, events] = [levelMost + 1, 0];
  /** False if there are too many. The highest level is always read. */
  async function add(least: number): Promise<boolean> {
    const found = await countUpTo(sql, scope, spans, levelsUpTo(least, level), most - events);
    if (events + found > most && least < levelMost) return false;
    [level, events] = [least, events + found];
    return true;
  }
  /** The next level to count down to: the lowest that is likely to fit. The same level, if there is none. */
  function next(): number {
    if (2 * (events + 30) * 2 ** level <= most) return 0;
    const room = Math.floor(Math.log2(most / (1.05 * Math.max(1, events))));
    if (events > guessLeast) return Math.max(0, level - Math.max(0, room));
    return Math.max(0, level - Math.max(1, Math.min(3, room)));
  }
  if (!(await add(guessLevels))) await add(levelMost);
  for (let least = next(); least < level; least = next()) {
    if (!(await add(least)) && !(least < level - 1 && (await add(level - 1)))) break;
  }
  return { level, events };
}

/**
 * The same without counting all of them: a sixteenth tells whether the others are too many. Where most of a day is not in the
 * range, counting takes as long as reading.
 */
export async function chooseLevel(sql: Sql, scope: EventScope, spans: readonly Span[]): Promise<Sample> {
  if (spans.length === 0) return { level: 0, events: 0 };
  const some = await countUpTo(sql, scope, spans, [guessLevel], eventsReadMost);
  // Almost never are there more: four times the standard deviation.
  const events = (some + 4 * Math.sqrt(some) + 1) * 2 ** (guessLevel + 1);
  return events <= eventsReadMost ? { level: 0, events } : await chooseSample(sql, scope, spans);
}

/** Counts no further than one more than `most`. */
export async function countUpTo(
  sql: Sql,
  scope: EventScope,
  spans: readonly Span[],
  levels: readonly number[],
  most: number,
): Promise<number> {
  if (spans.length === 0) return 0;
  const some = eventsOf(sql, { ...scope, conditions: [] }, spans, levels)
    .select(raw<number>`1`.as("one"))
    .limit(most + 1);
  const { count } = await sql.db
    .selectFrom(some.as("some"))
    .select((row) => row.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

/** How many events of a sample are the subject's. */
export async function eventsWithin(
  sql: Sql,
  scope: EventScope,
  span: Span,
  { level, events }: Sample,
): Promise<number> {
  if (scope.conditions.length === 0) return events;
  const { count } = await eventsOf(sql, scope, [span], levelsFrom(level))
    .select((row) => row.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

export interface EventCount {
  /** Levels from here on are read. */
  readonly level: number;
  /** About how many events that is, if it is known. */
  readonly events?: number;
  /** What they are broken down by. */
  readonly wanted: readonly BreakdownName[];
  readonly check: ReportCheck;
}

/** So many are read at once and added up here. That takes 5 to 10 ms of a thread, which on PostgreSQL serves redirects. */
const fewMost = 8_000;

/** Whether it takes less time to read all events of a link than to count them first: a search costs as much as an event. */
export const areFewerThanSearches = (scope: EventScope, span: Span, events: number): boolean =>
  scope.link !== undefined && events <= searchedDays(span, scope).length * allShelves.length;

/** Adds up the events of these ranges. */
export async function countEvents(
  sql: Sql,
  scope: EventScope,
  spans: readonly Span[],
  count: EventCount,
): Promise<EventCounts> {
  const counts = newEventCounts(count.wanted);
  await addEvents(sql, scope, [{ spans, counts }], count);
  return counts;
}

/** Of two parts, one has ended before the other begins. */
export interface CountedPart {
  readonly spans: readonly Span[];
  /** Their events are added to these. */
  readonly counts: EventCounts;
}

/** Adds up the events of several parts. Few are read at once: a query for each would look at a whole shelf each time. */
export async function addEvents(
  sql: Sql,
  scope: EventScope,
  all: readonly CountedPart[],
  { level, events = Number.POSITIVE_INFINITY, wanted, check }: EventCount,
): Promise<void> {
  const parts = all.filter(({ spans }) => spans.length > 0);
  if (parts.length === 0) return;
  const columns = ["at", "reason", "first", ...wanted] as const;
  const read = levelsFrom(level);
  if (sql.dialect === "postgres" && events > fewMost) {
    for (const { spans, counts } of parts) {
      await check();
      await addSums(sql, scope, eventsOf(sql, scope, spans, read), wanted, counts);
    }
    return;
  }
  const spans = parts.flatMap((part) => part.spans);
  // One level at a time if they are many: half of the events are in memory at most.
  for (const levels of events > fewMost ? read.map((one) => [one]) : [read]) {
    await check();
    const numbers = await readNumbers(sql, eventsOf(sql, scope, spans, levels), columns);
    for (const part of parts) addNumbers(part.counts, numbers, scope.whose, hullOf(merged(part.spans)));
  }
}

/**
 * Adds up the few events of a range that pass the filters, and says how many there are in all. Counting them first would be as many
 * searches again.
 */
export async function countFewEvents(
  sql: Sql,
  { all, filtered }: { readonly all: EventScope; readonly filtered: EventScope },
  span: Span,
  wanted: readonly BreakdownName[],
): Promise<{ readonly passing: EventCounts; readonly events: number }> {
  const columns = ["at", "reason", "first", ...wanted] as const;
  const passes = raw<number>`case when ${raw.join(filtered.conditions, raw` and `)} then 1 else 0 end`;
  const marked = eventsOf(sql, all, [span], everyLevel).select([...columns, passes.as("passes")]);
  const numbers = await readNumbers(sql, sql.db.selectFrom(marked.as("clicks")) as unknown as EventQuery, [
    "passes" as "at",
    ...columns,
  ]);
  const width = columns.length + 1;
  const some: number[] = [];
  for (let place = 0; place < numbers.length; place += width) {
    if (numbers[place] === 1) for (let n = 1; n < width; n++) some.push(numbers[place + n] as number);
  }
  const passing = newEventCounts(wanted);
  addNumbers(passing, some, all.whose, span);
  return { passing, events: numbers.length / width };
}

async function addSums(
  sql: Sql,
  { whose }: EventScope,
  events: EventQuery,
  wanted: readonly BreakdownName[],
  counts: EventCounts,
): Promise<void> {
  const bit = whose === "link" ? firstToLink : firstToTenant;
  const sums = await sumEvents(sql, events, wanted, { counted: hitReasons.indexOf("counted"), bit, late: tooLate });
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
      const ofName = counts.values[place - 2];
      if (ofName === undefined) throw new RangeError("a sum of a breakdown that was not asked for");
      (person === 1 ? ofName.people : ofName.rest).add(value, clicks, visitors);
    }
  }
}
