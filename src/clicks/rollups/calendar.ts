import { dayMs } from "../../base/clock.ts";
import type { LinkNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { naturalStart } from "../events/days.ts";
import { readTally, storedCounts, storedValues } from "./packed.ts";
import { type CalendarGrain, type ClickPeriod, grains, leastClicks, weeksKeptDays } from "./periods.ts";
import { addTally, clicksOf, countsAt, newTally, peopleOf, type Tally } from "./tally.ts";
import { type CondensedTenant, type Progress, replaceRollups, type Subject } from "./write-rollups.ts";

/**
 * Adds up the days of a tenant's ended weeks and months. They are those of the calendar in the tenant's zone, and have whole days: where
 * the zone was changed, a day may lie across the boundary of two, and belongs to the one in which most of it is.
 *
 * A month replaces its days, which are deleted in the end. A week only spares a report the reading of seven rows: it is left out where
 * there is little to spare, and its days are always there.
 */
export async function* condenseCalendar(
  sql: Sql,
  tenant: CondensedTenant,
  grain: CalendarGrain,
  settled: number,
): AsyncGenerator<number, void> {
  const { progressOf, untilOf, oldest } = calendar[grain];
  for (let until = Math.max(untilOf(tenant), oldest(settled)); ; ) {
    const period = await nextPeriod(sql, tenant, grain, until);
    // Its days must have ended and be condensed.
    if (period === undefined || period.until > settled || period.lastUntil > tenant.daysUntil) return;
    if (!period.isDone && !(yield* addDays(sql, tenant, period, progressOf(period.until)))) return;
    until = period.until;
  }
}

interface Calendar {
  untilOf(tenant: CondensedTenant): number;
  progressOf(until: number): Progress;
  /** Periods that ended before this are not wanted. */
  oldest(settled: number): number;
  /** From the start of a period always into the next one. */
  readonly oneAndMoreMs: number;
  /** Links and groups with fewer clicks get no row. */
  readonly least: number;
}

const calendar: Readonly<Record<CalendarGrain, Calendar>> = {
  week: {
    untilOf: ({ weeksUntil }) => weeksUntil,
    progressOf: (until) => ({ weeks_until: until }),
    oldest: (settled) => settled - weeksKeptDays * dayMs,
    oneAndMoreMs: 9 * dayMs,
    least: leastClicks.week,
  },
  month: {
    untilOf: ({ monthsUntil }) => monthsUntil,
    progressOf: (until) => ({ months_until: until }),
    oldest: () => 0,
    oneAndMoreMs: 33 * dayMs,
    least: 1,
  },
};

interface CalendarPeriod extends ClickPeriod {
  readonly grain: CalendarGrain;
  /** Where the last of its days with clicks ends. */
  readonly lastUntil: number;
  readonly isDone: boolean;
}

/** The period of the first day that is not in one yet. It overlaps no other of its kind, even if the zone was changed. */
async function nextPeriod(
  { db }: Sql,
  { number, zone }: CondensedTenant,
  grain: CalendarGrain,
  after: number,
): Promise<CalendarPeriod | undefined> {
  const days = () => db.selectFrom("click_days").select(["start", "until"]).where("tenant", "=", number);
  const first = await days().where("until", ">", after).orderBy("start").limit(1).executeTakeFirst();
  if (first === undefined) return undefined;
  const boundary = async (at: number): Promise<number> => {
    const across = await days().where("start", "<", at).where("until", ">", at).executeTakeFirst();
    if (across === undefined) return at;
    return middleOf(across) < at ? across.until : across.start;
  };
  const natural = naturalStart[grain](middleOf(first), zone);
  const start = await boundary(natural);
  const until = await boundary(naturalStart[grain](natural + calendar[grain].oneAndMoreMs, zone));
  // The row of the tenant itself is written last: where it exists, the period is complete.
  const others = await db
    .selectFrom("click_rollups")
    .select(["start", "until"])
    .where("subject", "=", number)
    .where("grain", "=", grains[grain])
    .where("start", "<", until)
    .where("until", ">", start)
    .execute();
  const done = others.find((other) => other.start <= first.start && other.until >= first.until);
  if (done !== undefined) return { grain, ...done, lastUntil: done.until, isDone: true };
  const before = others.filter((other) => other.until <= first.start).map((other) => other.until);
  const later = others.filter((other) => other.start >= first.until).map((other) => other.start);
  const [from, to] = [Math.max(start, ...before), Math.min(until, ...later)];
  const last = await days().where("start", "<", to).orderBy("start", "desc").limit(1).executeTakeFirst();
  return { grain, start: from, until: to, lastUntil: last?.until ?? to, isDone: false };
}

const middleOf = ({ start, until }: { readonly start: number; readonly until: number }): number => (start + until) / 2;

const linksAtOnce = 50;

async function* addDays(
  sql: Sql,
  tenant: CondensedTenant,
  { grain, start, until }: CalendarPeriod,
  progress: Progress,
): AsyncGenerator<number, boolean> {
  const period = { grain, start, until };
  for (let after = 0 as LinkNumber; ; ) {
    const links = await ofTenant(sql.db, tenant.id)
      .selectFrom("click_links")
      .select("link")
      .where("link", ">", after)
      .orderBy("link")
      .limit(linksAtOnce)
      .execute();
    const subjects = links.map(({ link }) => link);
    const last = subjects.at(-1);
    if (last === undefined) break;
    if (!(yield* addDaysOf(sql, tenant, period, subjects))) return false;
    after = last;
  }
  // A tag that got its roll-ups within the period lacks the days before: it has none, and keeps the days after.
  const groups = await ofTenant(sql.db, tenant.id)
    .selectFrom("click_groups")
    .select("number")
    .where("since", "<=", start)
    .execute();
  const numbers = groups.map(({ number }) => number);
  for (let at = 0; at < numbers.length; at += linksAtOnce) {
    if (!(yield* addDaysOf(sql, tenant, period, numbers.slice(at, at + linksAtOnce)))) return false;
  }
  return yield* addDaysOf(sql, tenant, period, [tenant.number], progress);
}

async function* addDaysOf(
  sql: Sql,
  tenant: CondensedTenant,
  period: Pick<CalendarPeriod, keyof ClickPeriod>,
  subjects: readonly Subject[],
  progress?: Progress,
): AsyncGenerator<number, boolean> {
  const rows = await sql.db
    .selectFrom("click_rollups")
    .select(["subject", "start", ...storedCounts, ...storedValues])
    .where("subject", "in", subjects)
    .where("grain", "=", grains.day)
    .where("start", ">=", period.start)
    .where("start", "<", period.until)
    .execute();
  if (rows.length === 0 && progress === undefined) return true;
  const tallies = new Map<Subject, Tally>();
  for (const { subject, start, ...packed } of rows) {
    const sum = tallies.get(subject) ?? newTally();
    tallies.set(subject, sum);
    addDay(sum, readTally(packed, start), start);
  }
  const { least } = calendar[period.grain];
  for (const [subject, tally] of tallies) if (clicksOf(tally) < least) tallies.delete(subject);
  const isCurrent = await replaceRollups(sql, tenant, { period, tallies, ...(progress && { progress }) });
  yield 0;
  return isCurrent;
}

/** The series of a week or month is by day. */
function addDay(sum: Tally, day: Tally, start: number): void {
  const series = new Map<number, { people: number; visitors: number; rest: number }>();
  const people = peopleOf(day);
  Object.assign(countsAt(series, start), { people, visitors: day.visitors, rest: clicksOf(day) - people });
  addTally(sum, { ...day, series });
}
