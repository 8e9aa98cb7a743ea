import { dayMs } from "../../base/clock.ts";
import type { Sql } from "../../sql/sql.ts";
import { isPerson, other } from "../click.ts";
import { daysKeptDays } from "../rollups/periods.ts";
import { addTally, type Counts, clicksOf, countsAt, newTally, type Tally } from "../rollups/tally.ts";
import { clipped, hasWithin, merged, without } from "./cover.ts";
import { areFewerThanSearches, countFewEvents, type EventCount, eventsWithin } from "./events.ts";
import { type CutDays, type Gathered, gather, itemisedTally, namedTally } from "./gather.ts";
import type { Itemised } from "./itemised.ts";
import { sampleOf } from "./known-events.ts";
import { intervalsMost, type ReportQuery, type Span } from "./query.ts";
import { countsIn, fitted, shrunk } from "./sample.ts";
import type { SubjectScope } from "./scope.ts";
import { matchedCounts, matchedValues, type ValueFilter, valueFilterOf } from "./value-filter.ts";
import { startsWithin } from "./zones.ts";

/**
 * The clicks of a range that pass the filters. There are three ways: without filters, everything is in roll-ups. With one filter
 * on one dimension, totals are in roll-ups, and what they do not have (other dimensions, shorter intervals) in events. With other
 * filters, everything is in events.
 */
export interface RangeCounts {
  readonly tally: Tally;
  /** Clicks of which only the class is known. Of a series they are part; of the tally's reasons and values they are not. */
  readonly unknown: Counts;
  readonly starts: readonly number[];
  /** Clicks of which it is known whether they pass, of all clicks of the subject. Null without filters. */
  readonly itemised: Itemised | null;
  /** 1 in 2^level events was read; `counts` is what was scaled up from it. */
  readonly sample: { readonly level: number; readonly counts: Counts };
  /** The part of what is unknown that links know themselves, from the roll-ups of these days. Undefined with filters. */
  readonly cut?: CutDays;
}

export interface RangeScope {
  readonly all: SubjectScope;
  /** Undefined without filters. */
  readonly filtered: SubjectScope | undefined;
  readonly now: number;
}

/** A purge may be ahead of the report's clock. */
const daysMarginMs = 2 * dayMs;

/** Days that begin later have a roll-up, if they have clicks. */
export const daysKeptFrom = (now: number): number => now - daysKeptDays * dayMs + daysMarginMs;

export type Wanted = Pick<EventCount, "wanted" | "check"> & {
  /** How many values of each breakdown are shown. */
  readonly limit?: number;
  /** Whether only totals and the series are. */
  readonly isTotal?: boolean;
};

export async function countsOf(
  sql: Sql,
  { all, filtered, now }: RangeScope,
  { zone, interval, traffic, filters, limit: limitOfQuery }: ReportQuery,
  span: Span,
  { wanted, check, limit = limitOfQuery, isTotal = false }: Wanted,
): Promise<RangeCounts> {
  const starts = startsWithin(zone, interval, span.from, span.to, intervalsMost);
  const daysFrom = daysKeptFrom(now);
  const settings = { starts, check, traffic, limit, daysFrom, now };
  if (filtered === undefined) {
    const { tally, unknown, level, sampled, cut } = await gather(sql, all, span, { ...settings, wanted, isTotal });
    return { tally, unknown, starts, itemised: null, sample: { level, counts: sampled }, cut };
  }
  const filter = valueFilterOf(filters);
  if (filter !== undefined) {
    const found = await gather(sql, all, span, { ...settings, filter, wanted: [filter.dimension] });
    return byValue(sql, { ...searched({ all, filtered, daysFrom, found }), filter }, span, starts, { wanted, check });
  }
  const found = await gather(sql, all, span, { ...settings, wanted: [], isTotal: true });
  return byEvents(sql, searched({ all, filtered, daysFrom, found }), span, starts, { wanted, check });
}

interface Filtered {
  readonly all: SubjectScope;
  readonly filtered: SubjectScope;
  /** Days that begin later have a roll-up, if they have clicks. */
  readonly daysFrom: number;
  /** Without the filters. */
  readonly found: Gathered;
}

/** Events of a link are looked for on the days that may have some. Those of others lie together. */
function searched({ all, filtered, ...rest }: Filtered): Filtered {
  if (all.link === undefined) return { all, filtered, ...rest };
  const { emptyDays } = rest.found;
  return { all: { ...all, emptyDays }, filtered: { ...filtered, emptyDays }, ...rest };
}

const clicksIn = ({ tally, unknown }: Gathered): number => clicksOf(tally) + unknown.people + unknown.rest;

async function byEvents(
  sql: Sql,
  { all, filtered, daysFrom, found }: Filtered,
  span: Span,
  starts: readonly number[],
  { wanted, check }: Wanted,
): Promise<RangeCounts> {
  const of = clicksIn(found);
  const unknown = { people: 0, visitors: 0, rest: 0 };
  if (areFewerThanSearches(all, span, of)) {
    const { passing, events } = await countFewEvents(sql, { all, filtered }, span, wanted);
    const itemised = { clicks: Math.min(of, events), of };
    const tally = await namedTally(sql, passing);
    return { tally, unknown, starts, itemised, sample: { level: 0, counts: countsIn(tally) } };
  }
  const sample = await sampleOf(sql, all, [span], daysFrom);
  const { level } = sample;
  const events = sample.known ?? (await eventsWithin(sql, all, span, sample)) * 2 ** level;
  const tally = await itemisedTally(sql, filtered, [span], { level, wanted, check });
  // A sample may be somewhat larger than what it was taken from.
  const itemised = { clicks: Math.min(of, events), of };
  return { tally, unknown, starts, itemised, sample: { level, counts: countsIn(tally) } };
}

async function byValue(
  sql: Sql,
  { all, filtered, daysFrom, filter, found }: Filtered & { readonly filter: ValueFilter },
  span: Span,
  starts: readonly number[],
  { wanted, check }: Wanted,
): Promise<RangeCounts> {
  const matched = matchedCounts(found.tally, filter);
  const dimensions = wanted.filter((dimension) => dimension !== filter.dimension);
  const split = found.matches.filter((period) => hasWithin(starts, period));
  const condensed = dimensions.length > 0 ? without([span], found.gaps) : merged(split);
  const kept = condensed.flatMap((range) => clipped(range, { from: all.eventsFrom, to: span.to }));
  const inGaps = await itemisedTally(sql, filtered, found.gaps, { level: found.level, wanted: dimensions, check });
  const { level } = kept.length === 0 ? { level: 0 } : await sampleOf(sql, all, kept, daysFrom);
  const inKept = await itemisedTally(sql, filtered, kept, { level, wanted: dimensions, check });
  const events = newTally();
  addTally(events, inGaps);
  addTally(events, inKept);
  const { reasons, people, rest } = fitted(events, matched);
  const ofRest = reasons.reduce((sum, clicks, reason) => (isPerson(reason) ? sum : sum + clicks), 0);
  const tally: Tally = {
    reasons: reasons.map((clicks, reason) => (isPerson(reason) ? matched.people : clicks)),
    visitors: matched.visitors,
    itemised: events.itemised,
    series: seriesOf(found, starts, inGaps, inKept),
    people: new Map([...people, [filter.dimension, matchedValues(found.tally.people, filter)]]),
    rest: new Map([...rest, [filter.dimension, matchedValues(found.tally.rest, filter)]]),
  };
  const unknown = { people: 0, visitors: 0, rest: matched.rest - ofRest };
  const itemised = { clicks: clicksOf(found.tally) - otherIn(found.tally, filter), of: clicksIn(found) };
  const sampled = level > 0 ? events : inGaps;
  const sample = { level: Math.max(level, found.level), counts: countsIn(sampled) };
  return { tally, unknown, starts, itemised, sample };
}

const otherIn = ({ people, rest }: Tally, { dimension }: ValueFilter): number =>
  (people.get(dimension)?.get(other)?.clicks ?? 0) + (rest.get(dimension)?.get(other)?.clicks ?? 0);

/** A roll-up that lies within one interval counts there. The others are read from events, where there are any. */
function seriesOf({ matches }: Gathered, starts: readonly number[], inGaps: Tally, inKept: Tally): Map<number, Counts> {
  const series = new Map<number, Counts>();
  const add = (at: number, { people, visitors, rest }: Counts) => {
    const counts = countsAt(series, at);
    counts.people += people;
    counts.visitors += visitors;
    counts.rest += rest;
  };
  for (const [at, counts] of inGaps.series) add(at, counts);
  for (const { from, to, counts } of matches) {
    if (!hasWithin(starts, { from, to })) {
      add(from, counts);
      continue;
    }
    const events = [...inKept.series].filter(([at]) => at >= from && at < to);
    const some = (name: keyof Counts) =>
      shrunk(
        events.map(([, one]) => one[name]),
        counts[name],
      );
    const [people, visitors, rest] = [some("people"), some("visitors"), some("rest")];
    for (const [i, [at]] of events.entries()) {
      add(at, { people: people[i] ?? 0, visitors: visitors[i] ?? 0, rest: rest[i] ?? 0 });
    }
  }
  return series;
}
