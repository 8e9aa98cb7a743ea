import { Problem } from "../../base/errors.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Dimension, quarterMs, utcDay } from "../click.ts";
import { idsOf, toTally } from "../rollups/id-counts.ts";
import { addPackedValues, readCounts, readTallyText } from "../rollups/packed.ts";
import { grains } from "../rollups/periods.ts";
import { addTally, type Counts, countsAt, newTally, type Tally } from "../rollups/tally.ts";
import { createValueNames, type ValueNames } from "../rollups/value-names.ts";
import { coverOf, type RollupPeriod, without } from "./cover.ts";
import { chooseLevel, countEvents, type EventCount, type EventScope } from "./events.ts";
import type { Span, Traffic } from "./query.ts";
import { countsIn, fitted, scaled } from "./sample.ts";
import type { SubjectScope } from "./scope.ts";
import { matchedCounts, type ValueFilter } from "./value-filter.ts";

/** All clicks of a subject in a range, from roll-ups where there are, and from events and overflow elsewhere. */
export interface Gathered {
  /** The series is by quarter hour, or by day where only months are left. */
  readonly tally: Tally;
  /** Clicks without reason and values: their roll-up was cut, and their events are gone. Part of the series only. */
  readonly unknown: Counts;
  /** Above 0: what is not in roll-ups is a sample of 1 in 2^level events. */
  readonly level: number;
  /** How many clicks of the tally are scaled up from the sample. */
  readonly sampled: Counts;
  /** Read from events. */
  readonly gaps: readonly Span[];
  /** What matches the filter in each roll-up and overflow row. */
  readonly matches: readonly MatchedPeriod[];
}

export interface MatchedPeriod extends Span {
  readonly counts: Counts;
}

interface GatherSettings {
  readonly starts: readonly number[];
  /** The dimensions whose values are needed. */
  readonly wanted: readonly Dimension[];
  /** Whose values are needed, if there is no filter. */
  readonly traffic: Traffic;
  /** Days that begin later have a roll-up, if they have clicks. */
  readonly daysFrom: number;
  readonly filter?: ValueFilter;
  readonly check: () => void;
}

interface StoredPeriod extends RollupPeriod {
  readonly start: number;
}

const attemptsMost = 3;

export async function gather(sql: Sql, scope: SubjectScope, span: Span, settings: GatherSettings): Promise<Gathered> {
  for (let attempt = 1; attempt <= attemptsMost; attempt++) {
    settings.check();
    const found = await gatherOnce(sql, scope, span, settings);
    if (found !== undefined) return found;
  }
  throw new Problem("busy", "These clicks are being counted again. Try again shortly.", { retryAfterSeconds: 5 });
}

/** Undefined if a late click deleted a roll-up while they were read. */
async function gatherOnce(
  sql: Sql,
  scope: SubjectScope,
  span: Span,
  settings: GatherSettings,
): Promise<Gathered | undefined> {
  const { starts, wanted, traffic, daysFrom, filter, check } = settings;
  const periods = scope.number === undefined ? [] : await periodsOf(sql, scope.number, span);
  const hasMonths = periods.some(({ grain }) => grain === grains.month);
  const days = hasMonths ? await daysOf(sql, scope.tenant, span) : [];
  // Without roll-ups of its own, everything about it is in events.
  const condensedUntil = scope.number === undefined ? 0 : scope.condensedUntil;
  const { eventsFrom } = scope;
  const byDay = filter !== undefined;
  const cover = coverOf(span, periods, { starts, days, condensedUntil, eventsFrom, daysFrom, byDay });
  const tally = newTally();
  const matches: MatchedPeriod[] = [];
  const whole = await talliesOfRows(sql, scope, cover.whole, wanted.length > 0);
  if (whole.length < cover.whole.length) return undefined;
  const needed = { dimensions: wanted, people: traffic !== "bots", rest: traffic !== "people" };
  for (const { from, to, tally: one, facts } of whole) {
    check();
    if (filter !== undefined) {
      addPackedValues(one, facts, { dimensions: wanted });
      matches.push({ from, to, counts: matchedCounts(one, filter) });
    }
    addTally(tally, one);
    if (filter === undefined) addPackedValues(tally, facts, needed);
  }
  // Much is open only while roll-ups are far behind, or where a busy day is cut.
  const level = await chooseLevel(sql, scope, cover.gaps);
  const open = await readGaps(sql, scope, without(cover.gaps, cover.ofCut), { ...settings, level });
  const cut = await readGaps(sql, scope, cover.ofCut, { ...settings, level });
  const truth = new Map<number, Counts>();
  const isIn = (spans: readonly Span[], at: number) => spans.some(({ from, to }) => at >= from && at < to);
  const cutDays = await talliesOfRows(sql, scope, cover.cut, false);
  const cutMonths = await talliesOfRows(sql, scope, cover.cutMonths, false);
  if (cutDays.length + cutMonths.length < cover.cut.length + cover.cutMonths.length) return undefined;
  for (const { tally: one } of cutDays)
    for (const [at, counts] of one.series) if (isIn(cover.ofCut, at)) truth.set(at, counts);
  const known = level === 0 ? cut.tally : fitted(cut.tally, sumOf(truth.values()));
  for (const { tally: one } of cutMonths)
    for (const [at, counts] of one.series) if (isIn(cover.ofMonths, at)) truth.set(at, counts);
  const unknown = raise(known, truth);
  addTally(tally, open.tally);
  addTally(tally, known);
  const sampled = level === 0 ? noCounts() : countsIn(open.events);
  return { tally, unknown, level, sampled, gaps: cover.gaps, matches: [...matches, ...open.matches, ...cut.matches] };
}

const noCounts = (): Counts => ({ people: 0, visitors: 0, rest: 0 });

function sumOf(all: Iterable<Counts>): Counts {
  const sum = noCounts();
  for (const { people, visitors, rest } of all) {
    sum.people += people;
    sum.visitors += visitors;
    sum.rest += rest;
  }
  return sum;
}

/**
 * Roll-ups are the truth about their series. Where events have fewer clicks, the others are counted without their values:
 * returns how many. A sample has too many in some quarter hours, and too few in others.
 */
function raise(known: Tally, truth: ReadonlyMap<number, Counts>): Counts {
  const found = countsIn(known);
  for (const [at, counts] of truth) Object.assign(countsAt(known.series, at), counts);
  const all = sumOf(known.series.values());
  return {
    people: Math.max(0, all.people - found.people),
    visitors: Math.max(0, all.visitors - found.visitors),
    rest: Math.max(0, all.rest - found.rest),
  };
}

async function readGaps(
  sql: Sql,
  scope: SubjectScope,
  gaps: readonly Span[],
  { wanted, filter, level, check }: GatherSettings & { readonly level: number },
): Promise<{ tally: Tally; events: Tally; matches: MatchedPeriod[] }> {
  const matches: MatchedPeriod[] = [];
  const tally = newTally();
  if (gaps.length === 0) return { tally, events: tally, matches };
  const events = await itemisedTally(sql, scope, gaps, { level, wanted, check });
  addTally(tally, events);
  for (const gap of gaps) {
    check();
    for (const { quarter, tally: row } of await overflowOf(sql, scope, gap)) {
      addTally(tally, row);
      if (filter === undefined) continue;
      matches.push({ from: quarter, to: quarter + quarterMs, counts: matchedCounts(row, filter) });
    }
  }
  return { tally, events, matches };
}

/** Of each database, because a report has some thousand values, and the next one mostly the same: about 5 MB. */
const knownNames = new WeakMap<Sql, ValueNames>();
const namesMost = 50_000;

/** The events of these ranges with the names of their values. A sample is scaled up. */
export async function itemisedTally(
  sql: Sql,
  scope: EventScope,
  spans: readonly Span[],
  count: EventCount,
): Promise<Tally> {
  const counts = await countEvents(sql, scope, spans, count);
  let names = knownNames.get(sql);
  if (names === undefined) {
    names = createValueNames(sql, namesMost);
    knownNames.set(sql, names);
  }
  const nameOf = await names.load(idsOf(counts));
  return scaled(toTally(counts, nameOf), 2 ** count.level);
}

/** The overflow rows of a link, or of the links in a group. */
async function overflowOf(
  { db }: Sql,
  { tenant, link, conditions, whose }: SubjectScope,
  { from, to }: Span,
): Promise<{ quarter: number; tally: Tally }[]> {
  const first = utcDay(from);
  const days = Array.from({ length: utcDay(to - 1) - first + 1 }, (_, place) => first + place);
  const column = whose === "link" ? "tally" : "tenant_tally";
  let query = db
    .selectFrom("click_overflow")
    .select(["quarter", `${column} as text`])
    .where("day", "in", days)
    .where("tenant", "=", tenant)
    .where("quarter", ">=", from)
    .where("quarter", "<", to);
  if (link !== undefined) query = query.where("link", "=", link);
  for (const condition of conditions) query = query.where(condition);
  return (await query.execute()).map(({ quarter, text }) => ({ quarter, tally: readTallyText(text, quarter) }));
}

/** A month has at most 32 days; a row that begins before the range may reach into it. */
const longestMs = 33 * 86_400_000;

async function periodsOf({ db }: Sql, subject: number, { from, to }: Span): Promise<StoredPeriod[]> {
  const rows = await db
    .selectFrom("click_rollups")
    .select(["grain", "start", "until"])
    .where("subject", "=", subject as never)
    .where("grain", "in", [grains.hour, grains.day, grains.month])
    .where("start", ">=", from - longestMs)
    .where("start", "<", to)
    .where("until", ">", from)
    .execute();
  return rows.map(({ grain, start, until }) => ({ grain, start, from: start, to: until }));
}

async function daysOf({ db }: Sql, tenant: number, { from, to }: Span): Promise<Span[]> {
  const rows = await db
    .selectFrom("click_days")
    .select(["start", "until"])
    .where("tenant", "=", tenant as never)
    .where("start", ">=", from - longestMs)
    .where("start", "<", to + longestMs)
    .execute();
  return rows.map(({ start, until }) => ({ from: start, to: until }));
}

const rowsAtOnce = 200;

interface RowTally extends Span {
  /** Without values. */
  readonly tally: Tally;
  readonly facts: string;
}

async function talliesOfRows(
  { db }: Sql,
  { number }: SubjectScope,
  rows: readonly StoredPeriod[],
  hasValues: boolean,
): Promise<RowTally[]> {
  const tallies: RowTally[] = [];
  for (const [grain, ofGrain] of Map.groupBy(rows, (row) => row.grain)) {
    for (let at = 0; at < ofGrain.length; at += rowsAtOnce) {
      const found = await db
        .selectFrom("click_rollups")
        .select(["start", "until", "reasons", "visitors", "itemised", "series"])
        .$if(hasValues, (query) => query.select("facts"))
        .where("subject", "=", number as never)
        .where("grain", "=", grain)
        .where(
          "start",
          "in",
          ofGrain.slice(at, at + rowsAtOnce).map(({ start }) => start),
        )
        .execute();
      for (const { start, until, facts = "", ...packed } of found) {
        tallies.push({ from: start, to: until, tally: { ...newTally(), ...readCounts(packed, start) }, facts });
      }
    }
  }
  return tallies;
}
