import type { Sql } from "../../sql/sql.ts";
import { type Dimension, utcDay } from "../click.ts";
import { idsOf, toTally } from "../rollups/id-counts.ts";
import { readCounts, readTally, readTallyText } from "../rollups/packed.ts";
import { grains } from "../rollups/periods.ts";
import { addTally, type Counts, countsAt, type FactCounts, newTally, type Tally } from "../rollups/tally.ts";
import { createValueNames } from "../rollups/value-names.ts";
import { coverOf, type RollupPeriod } from "./cover.ts";
import { chooseSample, countEvents, type EventCount, type EventScope } from "./events.ts";
import type { Span } from "./query.ts";
import type { SubjectScope } from "./scope.ts";

/** All clicks of a subject in a range, from roll-ups where there are, and from events and overflow elsewhere. */
export interface Gathered {
  /** The series is by quarter hour, or by day where only months are left. */
  readonly tally: Tally;
  /** Clicks without reason and values: their roll-up was cut, and their events are gone. Part of the series only. */
  readonly unknown: Counts;
  /** Above 0: what is not in roll-ups is a sample of 1 in 2^level events. */
  readonly level: number;
}

interface GatherSettings {
  readonly starts: readonly number[];
  /** The dimensions whose values are needed. */
  readonly wanted: readonly Dimension[];
  readonly check: () => void;
}

interface StoredPeriod extends RollupPeriod {
  readonly start: number;
}

export async function gather(sql: Sql, scope: SubjectScope, span: Span, settings: GatherSettings): Promise<Gathered> {
  const { starts, wanted, check } = settings;
  const periods = scope.number === undefined ? [] : await periodsOf(sql, scope.number, span);
  const hasMonths = periods.some(({ grain }) => grain === grains.month);
  const days = hasMonths ? await daysOf(sql, scope.tenant, span) : [];
  // Without roll-ups of its own, everything about it is in events.
  const condensedUntil = scope.number === undefined ? 0 : scope.condensedUntil;
  const cover = coverOf(span, periods, { starts, days, condensedUntil });
  const tally = newTally();
  for (const one of await talliesOfRows(sql, scope, cover.whole, wanted.length > 0)) {
    check();
    addTally(tally, one);
  }
  const { open, level } = await countOpen(sql, scope, cover.gaps, settings);
  const unknown = { people: 0, visitors: 0, rest: 0 };
  const isGap = (at: number) => cover.gaps.some((gap) => at >= gap.from && at < gap.to);
  for (const row of await talliesOfRows(sql, scope, cover.cut, false)) {
    for (const [at, counts] of row.series) if (isGap(at)) raise(open, unknown, at, counts);
  }
  const isLeft = (at: number) =>
    at >= span.from && at < span.to && !cover.whole.some((row) => at >= row.from && at < row.to);
  for (const row of await talliesOfRows(sql, scope, cover.cutMonths, false)) {
    for (const [at, counts] of row.series) {
      if (isLeft(at) && !cover.cut.some((day) => at >= day.from && at < day.to)) raise(open, unknown, at, counts);
    }
  }
  addTally(tally, open);
  return { tally, unknown, level };
}

/** A roll-up is the truth. Where events have fewer clicks, the others are counted without their values. */
function raise(open: Tally, unknown: Counts, at: number, truth: Counts): void {
  const found = countsAt(open.series, at);
  for (const name of ["people", "visitors", "rest"] as const) {
    const missing = Math.max(0, truth[name] - found[name]);
    found[name] += missing;
    unknown[name] += missing;
  }
}

async function countOpen(sql: Sql, scope: SubjectScope, gaps: readonly Span[], { wanted, check }: GatherSettings) {
  if (gaps.length === 0) return { open: newTally(), level: 0 };
  // Much is open only while roll-ups are far behind.
  const { level } = await chooseSample(sql, scope, gaps);
  const open = await itemisedTally(sql, scope, gaps, { level, wanted, check });
  for (const gap of gaps) {
    check();
    for (const row of await overflowOf(sql, scope, gap)) addTally(open, row);
  }
  return { open, level };
}

/** The events of these ranges with the names of their values. A sample is scaled up. */
export async function itemisedTally(
  sql: Sql,
  scope: EventScope,
  spans: readonly Span[],
  count: EventCount,
): Promise<Tally> {
  const counts = await countEvents(sql, scope, spans, count);
  const names = createValueNames(sql);
  await names.load(idsOf(counts));
  return scaled(toTally(counts, names.of), 2 ** count.level);
}

function scaled(tally: Tally, by: number): Tally {
  if (by === 1) return tally;
  const times = (values: FactCounts): FactCounts =>
    new Map(
      [...values].map(([dimension, ofDimension]) => [
        dimension,
        new Map(
          [...ofDimension].map(([value, { clicks, visitors }]) => [
            value,
            { clicks: clicks * by, visitors: visitors * by },
          ]),
        ),
      ]),
    );
  return {
    reasons: tally.reasons.map((clicks) => clicks * by),
    visitors: tally.visitors * by,
    itemised: tally.itemised * by,
    series: new Map(
      [...tally.series].map(([at, { people, visitors, rest }]) => [
        at,
        { people: people * by, visitors: visitors * by, rest: rest * by },
      ]),
    ),
    people: times(tally.people),
    rest: times(tally.rest),
  };
}

/** The overflow rows of a link, or of the links in a group. */
async function overflowOf(
  { db }: Sql,
  { tenant, link, conditions, whose }: SubjectScope,
  { from, to }: Span,
): Promise<Tally[]> {
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
  return (await query.execute()).map(({ quarter, text }) => readTallyText(text, quarter));
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

async function talliesOfRows(
  { db }: Sql,
  { number }: SubjectScope,
  rows: readonly StoredPeriod[],
  hasValues: boolean,
): Promise<Tally[]> {
  const tallies: Tally[] = [];
  for (const [grain, ofGrain] of Map.groupBy(rows, (row) => row.grain)) {
    for (let at = 0; at < ofGrain.length; at += rowsAtOnce) {
      const found = await db
        .selectFrom("click_rollups")
        .select(["start", "reasons", "visitors", "itemised", "series"])
        .$if(hasValues, (query) => query.select("facts"))
        .where("subject", "=", number as never)
        .where("grain", "=", grain)
        .where(
          "start",
          "in",
          ofGrain.slice(at, at + rowsAtOnce).map(({ start }) => start),
        )
        .execute();
      for (const { start, ...packed } of found) {
        const { facts } = packed;
        tallies.push(
          facts === undefined
            ? { ...newTally(), ...readCounts(packed, start) }
            : readTally({ ...packed, facts }, start),
        );
      }
    }
  }
  return tallies;
}
