import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import type { TenantId } from "../../base/ids.ts";
import { hitReasons } from "../../redirect/decide.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { type Dimension, none, other } from "../click.ts";
import { addValues, type Counts, clicksOf, peopleOf, type Tally, type ValueCount } from "../rollups/tally.ts";
import { chooseSample, type EventCount, eventsWithin } from "./events.ts";
import { gather, itemisedTally } from "./gather.ts";
import { comparedSpan, intervalsMost, type ReportQuery, type Span, type Traffic } from "./query.ts";
import { conditionsFor, type ReportSubject, type SubjectScope, scopeOf } from "./scope.ts";
import { startsWithin } from "./zones.ts";

/**
 * A report: totals, a series and breakdowns of the clicks of a link, a domain, a tag or a tenant. Without filters it comes from
 * roll-ups, and is exact. With filters it comes from events: it is exact for clicks that are itemised, and says how many
 * are not. Every breakdown adds up to the total.
 */
export interface ClickReport extends Span {
  readonly totals: ReportTotals;
  /** By reason; `unknown` if only their number is known. */
  readonly reasons: Readonly<Record<string, number>>;
  readonly series: readonly SeriesPoint[];
  readonly breakdowns: Readonly<Partial<Record<Dimension, Breakdown>>>;
  readonly previous: PreviousReport | null;
  /** Clicks that have an event, of all clicks of the subject in the range. Null without filters. */
  readonly itemised: { readonly clicks: number; readonly of: number } | null;
  readonly sampled: { readonly rate: number; readonly error: number } | null;
  readonly imported: { readonly clicks: number; readonly visitors: number } | null;
}

export interface ReportTotals {
  readonly clicks: number;
  /** First visits of a day: over several days, the sum of daily visitors. */
  readonly visitors: number;
  readonly bots: number;
}

export interface SeriesPoint {
  readonly start: number;
  readonly clicks: number;
  readonly visitors: number;
}

export interface Breakdown {
  readonly values: readonly (ValueCount & { readonly value: string })[];
  readonly none: number;
  readonly other: number;
  readonly notItemised: number;
}

export type PreviousReport = Span & Pick<ClickReport, "totals" | "series">;

/** A report that takes longer is ended: the caller would not wait for it. */
const reportMs = 8_000;

export async function reportOn(
  sql: Sql,
  clock: Clock,
  tenant: TenantId,
  subject: ReportSubject,
  query: ReportQuery,
): Promise<ClickReport> {
  const end = clock.elapsed() + reportMs;
  const check = () => {
    if (clock.elapsed() > end) throw tooSlow();
  };
  const scope = await scopeOf(sql, tenant, subject);
  const conditions = await conditionsFor(sql, tenant, scope.tenant, query.filters);
  const filtered =
    query.filters.length === 0 ? undefined : { ...scope, conditions: [...scope.conditions, ...conditions] };
  const read = (span: Span, wanted: readonly Dimension[]) =>
    countsOf(sql, scope, filtered, query, span, { wanted, check });
  const now = await read(query, query.breakdown);
  const before = query.compare && comparedSpan(query, query.compare);
  const compared = before && (await read(before, []));
  return {
    from: query.from,
    to: query.to,
    ...shown(now, query),
    breakdowns: Object.fromEntries(query.breakdown.map((dimension) => [dimension, breakdownOf(now, query, dimension)])),
    previous:
      compared && before
        ? { ...before, totals: totalsOf(compared, query.traffic), series: seriesOf(compared, query) }
        : null,
    itemised: now.itemised,
    sampled: sampledOf(now),
    imported: filtered === undefined ? await importedOf(sql, tenant, scope, subject, query) : null,
  };
}

const tooSlow = () =>
  new Problem("busy", "This report took too long. Choose a shorter range or fewer filters, or try again shortly.", {
    retryAfterSeconds: 30,
  });

interface RangeCounts {
  readonly tally: Tally;
  readonly unknown: Counts;
  readonly starts: readonly number[];
  readonly level: number;
  readonly itemised: ClickReport["itemised"];
}

async function countsOf(
  sql: Sql,
  scope: SubjectScope,
  filtered: SubjectScope | undefined,
  { zone, interval }: ReportQuery,
  span: Span,
  { wanted, check }: Pick<EventCount, "wanted" | "check">,
): Promise<RangeCounts> {
  const starts = startsWithin(zone, interval, span.from, span.to, intervalsMost);
  const all = await gather(sql, scope, span, { starts, wanted: filtered === undefined ? wanted : [], check });
  if (filtered === undefined) return { ...all, starts, itemised: null };
  const sample = await chooseSample(sql, scope, [span]);
  const { level } = sample;
  const events = await eventsWithin(sql, scope, span, sample);
  const tally = await itemisedTally(sql, filtered, [span], { level, wanted, check });
  const of = clicksOf(all.tally) + all.unknown.people + all.unknown.rest;
  const unknown = { people: 0, visitors: 0, rest: 0 };
  // A sample may be somewhat larger than what it was taken from.
  const itemised = { clicks: Math.min(of, events * 2 ** level), of };
  return { tally, unknown, starts, level, itemised };
}

const shown = (counts: RangeCounts, query: ReportQuery) => ({
  totals: totalsOf(counts, query.traffic),
  reasons: reasonsOf(counts),
  series: seriesOf(counts, query),
});

function totalsOf({ tally, unknown }: RangeCounts, traffic: Traffic): ReportTotals {
  const people = peopleOf(tally) + unknown.people;
  const bots = clicksOf(tally) - peopleOf(tally) + unknown.rest;
  const clicks = { people, bots, all: people + bots }[traffic];
  return { clicks, visitors: traffic === "bots" ? 0 : tally.visitors + unknown.visitors, bots };
}

function reasonsOf({ tally, unknown }: RangeCounts): Record<string, number> {
  const reasons: Record<string, number> = Object.fromEntries(
    hitReasons.map((reason, place) => [reason, tally.reasons[place] ?? 0]),
  );
  reasons.counted = (reasons.counted ?? 0) + unknown.people;
  return unknown.rest > 0 ? { ...reasons, unknown: unknown.rest } : reasons;
}

function seriesOf({ tally, starts }: RangeCounts, { traffic }: ReportQuery): SeriesPoint[] {
  const points = starts.map((start) => ({ start, clicks: 0, visitors: 0 }));
  for (const [at, { people, visitors, rest }] of tally.series) {
    const point = points[placeOf(starts, at)];
    if (point === undefined) continue;
    point.clicks += { people, bots: rest, all: people + rest }[traffic];
    if (traffic !== "bots") point.visitors += visitors;
  }
  return points;
}

/** The last interval that begins at this time or before. */
function placeOf(starts: readonly number[], at: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

function breakdownOf(counts: RangeCounts, { traffic, limit }: ReportQuery, dimension: Dimension): Breakdown {
  const { people, rest } = counts.tally;
  const sum = new Map();
  if (traffic !== "bots") addValues(sum, only(people, dimension));
  if (traffic !== "people") addValues(sum, only(rest, dimension));
  const values: ReadonlyMap<string, ValueCount> = sum.get(dimension) ?? new Map();
  const named = [...values]
    .filter(([value]) => value !== none && value !== other)
    .map(([value, { clicks, visitors }]) => ({ value, clicks, visitors: traffic === "bots" ? 0 : visitors }))
    .toSorted((a, b) => b.clicks - a.clicks || (a.value < b.value ? -1 : 1));
  const top = named.slice(0, limit);
  const clicksIn = (some: readonly ValueCount[]) => some.reduce((total, { clicks }) => total + clicks, 0);
  const known = clicksIn([...values.values()]);
  return {
    values: top,
    none: values.get(none)?.clicks ?? 0,
    other: (values.get(other)?.clicks ?? 0) + clicksIn(named.slice(limit)),
    notItemised: totalsOf(counts, traffic).clicks - known,
  };
}

function only(values: Tally["people"], dimension: Dimension): Tally["people"] {
  const ofDimension = values.get(dimension);
  return ofDimension === undefined ? new Map() : new Map([[dimension, ofDimension]]);
}

/** 95 of 100 samples of this size are within this distance of the truth, as a share of the total. */
function sampledOf({ tally, level }: RangeCounts): ClickReport["sampled"] {
  if (level === 0) return null;
  const rate = 2 ** -level;
  const seen = clicksOf(tally) * rate;
  return { rate, error: seen === 0 ? 1 : Math.min(1, 1.96 * Math.sqrt((1 - rate) / seen)) };
}

/** Days from another shortener. They are never part of the totals. */
async function importedOf(
  { db }: Sql,
  tenant: TenantId,
  { link }: SubjectScope,
  subject: ReportSubject,
  { from, to }: Span,
): Promise<ClickReport["imported"]> {
  if (subject.kind === "domain" || subject.kind === "tag") return null;
  let query = ofTenant(db, tenant)
    .selectFrom("click_history")
    .select((row) => [
      row.fn.sum<number | null>("clicks").as("clicks"),
      row.fn.sum<number | null>("visitors").as("visitors"),
    ])
    .where("start", ">=", from)
    .where("start", "<", to);
  if (link !== undefined) query = query.where("link", "=", link);
  const row = await query.executeTakeFirst();
  return row?.clicks ? { clicks: Number(row.clicks), visitors: Number(row.visitors ?? 0) } : null;
}
