import type { ExpressionBuilder } from "kysely";
import { dayMs } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import type { Sql } from "../../sql/sql.ts";
import type { SharedSchema } from "../../sql/tenant-db.ts";
import { type BreakdownName, quarterMs, utcDay } from "../click.ts";
import type { FirstOf } from "../rollups/id-counts.ts";
import { nameLink } from "../rollups/link-counts.ts";
import { addStoredValues, readTallyText } from "../rollups/packed.ts";
import { countsByDay, grains } from "../rollups/periods.ts";
import { addTally, type Counts, countsAt, newTally, type Tally } from "../rollups/tally.ts";
import { createValueNames, type ValueNames } from "../rollups/value-names.ts";
import { type CondensedSums, condensedSums } from "./condensed-sums.ts";
import { coverOf, without } from "./cover.ts";
import { type EventCounts, idsIn, tallyOf, tallyWithoutValues } from "./event-counts.ts";
import {
  chooseLevel,
  countEvents,
  type EventCount,
  type EventScope,
  isWithin,
  type Sample,
  searchedDays,
} from "./events.ts";
import { openSum } from "./open-sums.ts";
import type { Span, Traffic } from "./query.ts";
import type { ReportCheck } from "./report-check.ts";
import { longestMs, type NamedRow, periodsOf, readNames, readRows, type StoredPeriod } from "./rollup-rows.ts";
import { countsIn, fitted, scaled } from "./sample.ts";
import { renewed, type SubjectScope } from "./scope.ts";
import { createReportedValues, type ReportedValues } from "./shown-values.ts";
import { matchedCounts, type ValueFilter } from "./value-filter.ts";

/** All clicks of a subject in a range, from roll-ups where there are, and from events and overflow elsewhere. */
export interface Gathered {
  /**
   * The series is as fine as the intervals need, or by day where only months are left. Without a filter, the values are those
   * that are shown, of the class that is.
   */
  readonly tally: Tally;
  /** Clicks without reason and values: their roll-up was cut, and their events are gone. Part of the series only. */
  readonly unknown: Counts;
  /** Above 0: what is not in roll-ups is a sample of 1 in 2^level events. */
  readonly level: number;
  /** How many clicks of the tally are scaled up from the sample. */
  readonly sampled: Counts;
  /** Days that the range cuts, and the clicks of the parts that are in it. Only if their events were not read: then they are unknown. */
  readonly cut: CutDays;
  /** Read from events. */
  readonly gaps: readonly Span[];
  /** What matches the filter in each roll-up and overflow row. */
  readonly matches: readonly MatchedPeriod[];
  /** UTC days that have no clicks. */
  readonly emptyDays: ReadonlySet<number>;
}

export interface CutDays {
  readonly starts: readonly number[];
  readonly parts: readonly Span[];
  readonly counts: Counts;
}

export interface MatchedPeriod extends Span {
  readonly counts: Counts;
}

interface GatherSettings {
  readonly starts: readonly number[];
  /** The breakdowns whose values are needed. */
  readonly wanted: readonly BreakdownName[];
  /** Whose values are needed, and how many are shown, if there is no filter. */
  readonly traffic: Traffic;
  readonly limit: number;
  /** Whether reasons and values do not matter: a roll-up that is cut knows the rest, and its events are not read. */
  readonly isTotal?: boolean;
  /** Days that begin later have a roll-up, if they have clicks. */
  readonly daysFrom: number;
  readonly now: number;
  readonly filter?: ValueFilter;
  readonly check: ReportCheck;
}

const attemptsMost = 3;

export async function gather(sql: Sql, scope: SubjectScope, span: Span, settings: GatherSettings): Promise<Gathered> {
  let current = scope;
  for (let attempt = 1; attempt <= attemptsMost; attempt++) {
    await settings.check();
    const found = await gatherOnce(sql, current, span, settings);
    if (found !== undefined) return found;
    current = await renewed(sql, scope);
  }
  throw new Problem("busy", "These clicks are being counted again. Try again shortly.", { retryAfterSeconds: 5 });
}

/** Undefined if late clicks came in before roll-ups were listed, or one of these was deleted or replaced before it was read. */
async function gatherOnce(
  sql: Sql,
  scope: SubjectScope,
  span: Span,
  settings: GatherSettings,
): Promise<Gathered | undefined> {
  const { starts, wanted, traffic, limit, isTotal = false, daysFrom, now, filter, check } = settings;
  const periods = scope.number === undefined ? [] : await periodsOf(sql, scope.number, span);
  // A day before `condensedUntil` without a roll-up has no clicks, unless late ones have deleted it since the scope was read.
  if ((await renewed(sql, scope)).late !== scope.late) return undefined;
  const days = periods.some(countsByDay) ? await daysOf(sql, scope.tenant, span) : [];
  // Without roll-ups of its own, everything about it is in events.
  const condensedUntil = scope.number === undefined ? 0 : scope.condensedUntil;
  const { eventsFrom, rollupsFrom } = scope;
  const byDay = filter !== undefined;
  const cover = coverOf(span, periods, { starts, days, condensedUntil, rollupsFrom, eventsFrom, daysFrom, byDay });
  const needed = { dimensions: wanted, people: traffic !== "bots", rest: traffic !== "people" };
  const condensed: Condensed | undefined =
    filter === undefined
      ? await condensedSums(sql, scope, cover.whole, { starts, needed, check })
      : await matchedRows(sql, scope, cover.whole, { filter, wanted, check });
  if (condensed === undefined) return undefined;
  const { tally, matches = [] } = condensed;
  const values = condensed.sums && createReportedValues(sql, condensed.sums, needed);
  const openGaps = without(cover.gaps, cover.ofCut);
  // Events of earlier gaps are deleted when they are too old, so a sum of them would not stay true.
  const present = openGaps.filter(({ from }) => from >= condensedUntil);
  const kept = values && (await openSum(sql, scope, present, { wanted, now, check }));
  const unread = kept === undefined ? openGaps : openGaps.filter(({ from }) => from < condensedUntil);
  // Much is open only while roll-ups are far behind, or where a busy day is cut.
  const sample = await chooseLevel(sql, scope, isTotal ? unread : [...unread, ...cover.ofCut]);
  const { level } = sample;
  const open = await readGaps(sql, scope, { events: unread, overflow: openGaps }, { ...settings, ...sample }, values);
  const cutGaps = isTotal ? [] : cover.ofCut;
  const cut = await readGaps(sql, scope, { events: cutGaps, overflow: cutGaps }, { ...settings, ...sample });
  for (const counts of kept === undefined ? [] : [kept.settled, kept.newer]) {
    values?.addEvents(counts, await namesIn(sql, counts), 1);
    addTally(tally, tallyWithoutValues(counts));
  }
  const truth = new Map<number, Counts>();
  const isIn = (spans: readonly Span[], at: number) => spans.some(({ from, to }) => at >= from && at < to);
  const series = { hasSeries: () => true, values: "none" } as const;
  const cutDays = await readRows(sql, scope, cover.cut, series);
  const cutMonths = await readRows(sql, scope, cover.cutMonths, series);
  if (cutDays.length + cutMonths.length < cover.cut.length + cover.cutMonths.length) return undefined;
  for (const { tally: one } of cutDays)
    for (const [at, counts] of one.series) if (isIn(cover.ofCut, at)) truth.set(at, counts);
  const ofDays = sumOf(truth.values());
  const known = level === 0 ? cut.tally : fitted(cut.tally, ofDays);
  for (const { tally: one } of cutMonths)
    for (const [at, counts] of one.series) if (isIn(cover.ofMonths, at)) truth.set(at, counts);
  const unknown = raise(known, truth);
  addTally(tally, open.tally);
  const sampled = level === 0 ? noCounts() : countsIn(open.events);
  const emptyDays = emptyDaysIn(span, periods, { from: Math.max(daysFrom, rollupsFrom), to: condensedUntil });
  const found = {
    ...{ unknown, level, sampled, gaps: cover.gaps, emptyDays },
    cut: isTotal ? { starts: cover.cut.map(({ start }) => start), parts: cover.ofCut, counts: ofDays } : noCut,
    matches: [...matches, ...open.matches, ...cut.matches],
  };
  if (values === undefined) {
    addTally(tally, known);
    return { ...found, tally };
  }
  values.addTally(known);
  addTally(tally, withoutValues(known));
  const shown = await values.shown(limit, () => readNames(sql, scope, condensed.rows ?? [], check));
  kept?.keep();
  return shown && { ...found, tally: { ...tally, [traffic === "bots" ? "rest" : "people"]: shown } };
}

export const noCut: CutDays = { starts: [], parts: [], counts: { people: 0, visitors: 0, rest: 0 } };

/** Every day with clicks has a roll-up, in the time that has roll-ups. */
export function emptyDaysIn({ from, to }: Span, periods: readonly StoredPeriod[], condensed: Span): Set<number> {
  const days = periods.filter(({ grain }) => grain === grains.day);
  const empty = new Set<number>();
  const [first, end] = [utcDay(Math.max(from, condensed.from) + dayMs - 1), utcDay(Math.min(to, condensed.to))];
  for (let day = first; day < end; day++) empty.add(day);
  for (const one of days) for (let day = utcDay(one.from); day <= utcDay(one.to - 1); day++) empty.delete(day);
  return empty;
}

interface Condensed {
  readonly tally: Tally;
  readonly matches?: MatchedPeriod[];
  readonly sums?: CondensedSums["sums"];
  readonly rows?: readonly NamedRow[];
}

/** Roll-ups with the values of the filtered dimension. The series comes from what matches. */
async function matchedRows(
  sql: Sql,
  scope: SubjectScope,
  periods: readonly StoredPeriod[],
  { filter, wanted, check }: { readonly filter: ValueFilter } & Pick<GatherSettings, "wanted" | "check">,
): Promise<Condensed | undefined> {
  const tally = newTally();
  const matches: MatchedPeriod[] = [];
  const rows = await readRows(sql, scope, periods, { hasSeries: () => false, values: "all" });
  if (rows.length < periods.length) return undefined;
  for (const row of rows) {
    await check();
    addStoredValues(row.tally, row, { dimensions: wanted });
    matches.push({ from: row.from, to: row.to, counts: matchedCounts(row.tally, filter) });
    addTally(tally, row.tally);
  }
  return { tally, matches };
}

const withoutValues = (tally: Tally): Tally => ({ ...tally, people: new Map(), rest: new Map() });

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

/** `values`: what the values are added to, instead of to the tally. */
async function readGaps(
  sql: Sql,
  scope: SubjectScope,
  gaps: { readonly events: readonly Span[]; readonly overflow: readonly Span[] },
  { wanted, filter, level, events: expected, check }: GatherSettings & Sample,
  values?: ReportedValues,
): Promise<{ tally: Tally; events: Tally; matches: MatchedPeriod[] }> {
  const matches: MatchedPeriod[] = [];
  const tally = newTally();
  if (gaps.overflow.length === 0) return { tally, events: tally, matches };
  const count = { level, events: expected, wanted, check };
  const events = await itemisedTally(sql, scope, gaps.events, count, values);
  addTally(tally, events);
  await check();
  for (const { quarter, tally: row } of await overflowOf(sql, scope, gaps.overflow, wanted)) {
    values?.addTally(row);
    addTally(tally, values === undefined ? row : withoutValues(row));
    if (filter === undefined) continue;
    matches.push({ from: quarter, to: quarter + quarterMs, counts: matchedCounts(row, filter) });
  }
  return { tally, events, matches };
}

/** Of each database, because a report has some thousand values, and the next one mostly the same: about 5 MB. */
const knownNames = new WeakMap<Sql, ValueNames>();
const namesMost = 50_000;

/** The events of these ranges with the names of their values, which are added to `values` if it is given. A sample is scaled up. */
export async function itemisedTally(
  sql: Sql,
  scope: EventScope,
  spans: readonly Span[],
  count: EventCount,
  values?: ReportedValues,
): Promise<Tally> {
  const counts = await countEvents(sql, scope, spans, count);
  const nameOf = await namesIn(sql, counts);
  values?.addEvents(counts, nameOf, 2 ** count.level);
  return scaled(values === undefined ? tallyOf(counts, nameOf) : tallyWithoutValues(counts), 2 ** count.level);
}

export const namedTally = async (sql: Sql, counts: EventCounts): Promise<Tally> =>
  tallyOf(counts, await namesIn(sql, counts));

async function namesIn(sql: Sql, counts: EventCounts): Promise<ValueNames["of"]> {
  let names = knownNames.get(sql);
  if (names === undefined) {
    names = createValueNames(sql, namesMost);
    knownNames.set(sql, names);
  }
  return await names.load(idsIn(counts));
}

/** The overflow rows of a link, or of the links in a group. */
async function overflowOf(
  { db }: Sql,
  { tenant, link, conditions, whose, lived }: SubjectScope,
  gaps: readonly Span[],
  wanted: readonly BreakdownName[],
): Promise<{ quarter: number; tally: Tally }[]> {
  const days = [...new Set(gaps.flatMap((gap) => searchedDays(gap, { lived })))];
  let query = db
    .selectFrom("click_overflow")
    .select(["link", "quarter", (row) => tallyColumn(row, whose).as("text")])
    .where("day", "in", days)
    .where("tenant", "=", tenant)
    .where(isWithin("quarter", gaps));
  if (link !== undefined) query = query.where("link", "=", link);
  for (const condition of conditions) query = query.where(condition);
  const rows = await query.execute();
  return rows.map((row) => {
    const tally = readTallyText(row.text, row.quarter, whose);
    if (wanted.includes("link")) nameLink(tally, row.link);
    return { quarter: row.quarter, tally };
  });
}

/** As `overflowTally`, in SQL: what is not needed is not read. */
const tallyColumn = (row: ExpressionBuilder<SharedSchema, "click_overflow">, whose: FirstOf) =>
  whose === "link"
    ? row.ref("tally")
    : row.case().when("tenant_tally", "=", "").then(row.ref("tally")).else(row.ref("tenant_tally")).end();

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
