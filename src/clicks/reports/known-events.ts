import type { Sql } from "../../sql/sql.ts";
import { everyLevel, levelMost } from "../event-shelves.ts";
import { clipped, coverOf } from "./cover.ts";
import { chooseSample, countUpTo, eventsReadMost, type Sample } from "./events.ts";
import type { Span } from "./query.ts";
import { itemisedIn, periodsOf } from "./rollup-rows.ts";
import type { SubjectScope } from "./scope.ts";

/**
 * How many events a report with filters has to read. Counting them takes half as long as adding them up. But a roll-up has the number of
 * events that it was made from, and all events from `eventsFrom` on are there. So only events that no roll-up has are counted.
 */
export interface KnownSample extends Sample {
  /** The subject's events before filters, not only those of the sample; undefined if they had to be counted. */
  readonly known?: number;
}

/** The largest sample of these ranges that is not too large. `daysFrom`: days that begin later have a roll-up, if they have clicks. */
export async function sampleOf(
  sql: Sql,
  scope: SubjectScope,
  spans: readonly Span[],
  daysFrom: number,
): Promise<KnownSample> {
  const known = await knownEvents(sql, scope, spans, daysFrom);
  if (known === undefined) return await chooseSample(sql, scope, spans);
  const level = everyLevel.find((one) => fits(known / 2 ** one, one)) ?? levelMost;
  return { level, events: known / 2 ** level, known };
}

/** Whether a sample of about this many events fits. Four standard deviations are left for chance, so it almost always does. */
const fits = (events: number, level: number): boolean =>
  events + (level === 0 ? 0 : 4 * Math.sqrt(events)) <= eventsReadMost;

/** Undefined if roll-ups do not tell: of tags and domains, whose sample is one of the tenant, and where roll-ups are far behind. */
async function knownEvents(
  sql: Sql,
  scope: SubjectScope,
  spans: readonly Span[],
  daysFrom: number,
): Promise<number | undefined> {
  const { number, conditions, condensedUntil, rollupsFrom, eventsFrom } = scope;
  if (number === undefined || conditions.length > 0) return undefined;
  const settings = { starts: [], days: [], condensedUntil, rollupsFrom, eventsFrom, daysFrom, byDay: false };
  let known = 0;
  for (const span of spans.flatMap((one) => clipped(one, { from: eventsFrom, to: one.to }))) {
    const { whole, gaps } = coverOf(span, await periodsOf(sql, number, span), settings);
    const condensed = await itemisedIn(sql, scope, whole);
    const open = await countUpTo(sql, scope, gaps, everyLevel, eventsReadMost);
    if (condensed === undefined || open > eventsReadMost) return undefined;
    known += condensed + open;
  }
  return known;
}
