import { type Clock, dayMs } from "../../base/clock.ts";
import { invalid } from "../../base/errors.ts";
import type { TenantId } from "../../base/ids.ts";
import { hitReasons } from "../../redirect/decide.ts";
import type { Sql } from "../../sql/sql.ts";
import { type BreakdownName, breakdownNames, dimensions, none, other } from "../click.ts";
import { addValues, type Counts, clicksOf, peopleOf, type Tally, type ValueCount } from "../rollups/tally.ts";
import { cappedVisitors } from "./capped-visitors.ts";
import { countsOf, daysKeptFrom, type RangeCounts, type Wanted } from "./counts.ts";
import { noCut } from "./gather.ts";
import { type ImportedClicks, importedOf } from "./imported.ts";
import { type Itemised, isPartlyKnown } from "./itemised.ts";
import { comparedSpan, type ReportQuery, type Span, type Traffic } from "./query.ts";
import { createReportCheck } from "./report-check.ts";
import { errorOf } from "./sample.ts";
import { conditionsFor, type ReportedSubject, type ReportSubject, scopeOf } from "./scope.ts";
import { clicksOnDays, type LinksBefore, namedLinks, type TopLink } from "./top-links.ts";
import { eventFilters } from "./value-filter.ts";

/**
 * A report: totals, a series and breakdowns of the clicks of a link, a domain, a tag or a tenant. Without filters it comes from
 * roll-ups, and is exact. With filters it is exact for clicks that are itemised, and says how many are not (counts.ts). Every
 * breakdown adds up to the total.
 */
export interface ClickReport extends Span {
  readonly subject: ReportedSubject;
  readonly totals: ReportTotals;
  /** By reason; `unknown` if only their number is known. */
  readonly reasons: Readonly<Record<string, number>>;
  readonly series: readonly SeriesPoint[];
  readonly breakdowns: Readonly<Partial<Record<BreakdownName, Breakdown>>>;
  readonly previous: PreviousReport | null;
  /**
   * Clicks of which it is known whether they pass the filters, of all clicks of the subject in the range; and clicks of the
   * total that are not in the series. Null without filters.
   */
  readonly itemised: (Itemised & { readonly notInSeries: number }) | null;
  readonly sampled: { readonly rate: number; readonly error: number } | null;
  /** When new visitors were not recognised, because there were too many. */
  readonly visitorsCapped: readonly Span[] | null;
  readonly imported: ImportedClicks | null;
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
  readonly values: readonly BreakdownValue[];
  readonly none: number;
  readonly other: number;
  readonly notItemised: number;
}

export interface BreakdownValue extends ValueCount {
  readonly value: string;
  /** In the breakdown by link. */
  readonly link?: TopLink;
  /** Of a link, if a period is compared. Null: not known, because not all clicks of that period are known by link. */
  readonly previousClicks?: number | null;
}

export type PreviousReport = Span & Pick<ClickReport, "totals" | "series" | "itemised" | "sampled" | "visitorsCapped">;

export async function reportOn(
  sql: Sql,
  clock: Clock,
  tenant: TenantId,
  subject: ReportSubject,
  query: ReportQuery,
): Promise<ClickReport> {
  const check = createReportCheck(clock);
  const breakdown = breakdownNamesOf(subject, query);
  const scope = await scopeOf(sql, tenant, subject);
  const conditions = await conditionsFor(sql, tenant, scope.tenant, eventFilters(query.filters));
  const filtered =
    query.filters.length === 0 ? undefined : { ...scope, conditions: [...scope.conditions, ...conditions] };
  const read = (span: Span, shown: Pick<Wanted, "wanted" | "limit" | "isTotal">) =>
    countsOf(sql, { all: scope, filtered, now: clock.now() }, query, span, { check, ...shown });
  const now = await read(query, { wanted: breakdown });
  const isByLink = breakdown.includes("link");
  // Of a day that the compared period cuts, the roll-ups of the links that are shown have their clicks. A tag or domain may have
  // only some of these.
  const before = query.compare && comparedSpan(query, query.compare);
  const isKept = before !== undefined && before.from >= daysKeptFrom(clock.now()) + dayMs;
  const linksKnow = filtered === undefined && subject.kind === "tenant" && isKept;
  const ofCompared = {
    wanted: isByLink ? (["link"] as const) : [],
    limit: Number.POSITIVE_INFINITY,
    isTotal: !isByLink || linksKnow,
  };
  const compared = before && (await read(before, ofCompared));
  const values: Partial<Record<BreakdownName, Breakdown>> = {};
  for (const name of breakdown) {
    await check();
    values[name] = breakdownOf(now, query, name);
  }
  if (values.link !== undefined) {
    values.link = await namedLinks(sql, tenant, values.link, compared && linksBefore(sql, compared, query));
  }
  const capped = (span: Span) => (query.traffic === "bots" ? null : cappedVisitors(sql, scope, span));
  const toSeries = (points: readonly SeriesPoint[]) => pointsOf(now.starts, points);
  return {
    from: query.from,
    to: query.to,
    subject: scope.subject,
    ...shown(now, query),
    reasons: reasonsOf(now),
    breakdowns: values,
    visitorsCapped: await capped(query),
    previous:
      compared && before ? { ...before, ...shown(compared, query), visitorsCapped: await capped(before) } : null,
    imported: filtered === undefined ? await importedOf(sql, tenant, scope, query, toSeries) : null,
  };
}

/** A link's own report has no breakdown by link. */
function breakdownNamesOf({ kind }: ReportSubject, { breakdown }: ReportQuery): readonly BreakdownName[] {
  if (kind !== "link") return breakdown ?? breakdownNames;
  if (breakdown?.includes("link") === true) {
    throw invalid("breakdown", "unknown_dimension", `Must be a list of: ${dimensions.join(", ")}.`);
  }
  return breakdown ?? dimensions;
}

function shown(counts: RangeCounts, query: ReportQuery) {
  const totals = totalsOf(counts, query.traffic);
  const series = seriesOf(counts, query);
  const inSeries = series.reduce((sum, { clicks }) => sum + clicks, 0);
  const itemised = counts.itemised && { ...counts.itemised, notInSeries: Math.max(0, totals.clicks - inSeries) };
  return { totals, series, itemised, sampled: sampledOf(counts, query.traffic) };
}

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

const seriesOf = ({ tally, starts }: RangeCounts, { traffic }: ReportQuery): SeriesPoint[] =>
  pointsOf(
    starts,
    [...tally.series].map(([start, { people, visitors, rest }]) => ({
      start,
      clicks: { people, bots: rest, all: people + rest }[traffic],
      visitors: traffic === "bots" ? 0 : visitors,
    })),
  );

/** Adds these to the intervals that contain them. */
function pointsOf(starts: readonly number[], added: readonly SeriesPoint[]): SeriesPoint[] {
  const points = starts.map((start) => ({ start, clicks: 0, visitors: 0 }));
  for (const { start, clicks, visitors } of added) {
    const point = points[placeOf(starts, start)];
    if (point === undefined) continue;
    point.clicks += clicks;
    point.visitors += visitors;
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

function breakdownOf(counts: RangeCounts, { traffic, limit }: ReportQuery, dimension: BreakdownName): Breakdown {
  const values = valuesOf(counts.tally, traffic, dimension);
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

/** The clicks of links in the compared period. */
function linksBefore(sql: Sql, compared: RangeCounts, query: ReportQuery): LinksBefore {
  const { cut = noCut } = compared;
  const { values, other, notItemised } = breakdownOf(compared, { ...query, limit: Number.POSITIVE_INFINITY }, "link");
  return {
    clicks: new Map(values.map(({ value, clicks }) => [value, clicks])),
    isComplete: !isPartlyKnown(compared.itemised) && other + notItemised <= clicksOfTraffic(cut.counts, query.traffic),
    ofCut: (links) => clicksOnDays(sql, links, cut, (counts) => clicksOfTraffic(counts, query.traffic)),
  };
}

const clicksOfTraffic = ({ people, rest }: Counts, traffic: Traffic): number =>
  ({ people, bots: rest, all: people + rest })[traffic];

function valuesOf(
  { people, rest }: Tally,
  traffic: Traffic,
  dimension: BreakdownName,
): ReadonlyMap<string, ValueCount> {
  const [ofPeople = new Map(), ofRest = new Map()] = [people.get(dimension), rest.get(dimension)];
  if (traffic !== "all") return traffic === "people" ? ofPeople : ofRest;
  const sum = new Map();
  for (const values of [ofPeople, ofRest]) addValues(sum, new Map([[dimension, values]]));
  return sum.get(dimension) ?? new Map();
}

function sampledOf(counts: RangeCounts, traffic: Traffic): ClickReport["sampled"] {
  const { level, counts: sampled } = counts.sample;
  if (level === 0) return null;
  const { people, rest } = sampled;
  const ofTraffic = { people, bots: rest, all: people + rest }[traffic];
  return { rate: 2 ** -level, error: errorOf(level, ofTraffic, totalsOf(counts, traffic).clicks) };
}
