import { sql as raw } from "kysely";
import { dayMs } from "../../base/clock.ts";
import type { LinkNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { type CalendarPeriod, type FindPeriod, nextOfDays, nextOfMonths } from "./calendar-periods.ts";
import { readTally, storedCounts, storedValues } from "./packed.ts";
import { type CalendarGrain, type ClickPeriod, grains, leastClicks, weeksKeptDays } from "./periods.ts";
import { addTally, clicksOf, newTally, peopleOf, type Tally } from "./tally.ts";
import { type CondensedTenant, type Progress, replaceRollups, type Subject } from "./write-rollups.ts";

/**
 * Adds up a tenant's ended weeks and months from its days, and its quarter years from its months (`calendar-periods.ts`).
 *
 * A month replaces its days, which are deleted in the end. A week only spares a report the reading of seven rows, and a quarter year that
 * of three: they are left out where there is little to spare, and what they are made of is always there.
 *
 * Returns up to where there are rows.
 */
export async function* condenseCalendar(
  sql: Sql,
  tenant: CondensedTenant,
  grain: CalendarGrain,
  { settled, belowUntil }: CondensedBelow,
): AsyncGenerator<number, number> {
  const { progressOf, untilOf, oldest, next } = calendar[grain];
  for (let until = Math.max(untilOf(tenant), oldest(settled)); ; ) {
    const period = await next(sql, tenant, until);
    if (period === undefined || period.over > settled || period.lastUntil > belowUntil) return until;
    if (!period.isDone && !(yield* addRows(sql, tenant, period, progressOf(period.until)))) return until;
    until = period.until;
  }
}

export interface CondensedBelow {
  /** What ended before this is complete. */
  readonly settled: number;
  /** The rows that a period is made of are condensed up to here. */
  readonly belowUntil: number;
}

interface Calendar {
  readonly next: FindPeriod;
  readonly madeOf: "day" | "month";
  untilOf(tenant: CondensedTenant): number;
  progressOf(until: number): Progress;
  /** Periods that ended before this are not wanted. */
  oldest(settled: number): number;
}

const calendar: Readonly<Record<CalendarGrain, Calendar>> = {
  week: {
    next: nextOfDays("week"),
    madeOf: "day",
    untilOf: ({ weeksUntil }) => weeksUntil,
    progressOf: (until) => ({ weeks_until: until }),
    oldest: (settled) => settled - weeksKeptDays * dayMs,
  },
  month: {
    next: nextOfDays("month"),
    madeOf: "day",
    untilOf: ({ monthsUntil }) => monthsUntil,
    progressOf: (until) => ({ months_until: until }),
    oldest: () => 0,
  },
  quarterYear: {
    next: nextOfMonths,
    madeOf: "month",
    untilOf: ({ quarterYearsUntil }) => quarterYearsUntil,
    progressOf: (until) => ({ quarter_years_until: until }),
    oldest: () => 0,
  },
};

const linksAtOnce = 50;

async function* addRows(
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
    if (!(yield* addRowsOf(sql, tenant, period, subjects))) return false;
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
    if (!(yield* addRowsOf(sql, tenant, period, numbers.slice(at, at + linksAtOnce)))) return false;
  }
  return yield* addRowsOf(sql, tenant, period, [tenant.number], progress);
}

async function* addRowsOf(
  sql: Sql,
  tenant: CondensedTenant,
  period: Pick<CalendarPeriod, keyof ClickPeriod>,
  subjects: readonly Subject[],
  progress?: Progress,
): AsyncGenerator<number, boolean> {
  const { madeOf } = calendar[period.grain];
  const rowsOf = (some: readonly Subject[], { start, until }: Times) =>
    sql.db
      .selectFrom("click_rollups")
      .where("subject", "in", some)
      .where("grain", "=", grains[madeOf])
      .where("start", ">=", start)
      .where("start", "<", until);
  const sizes = await rowsOf(subjects, period)
    .select(["subject", "start", bytesOf])
    .orderBy("subject")
    .orderBy("start")
    .execute();
  const least = leastClicks[period.grain];
  let tallies = new Map<Subject, Tally>();
  const write = async (more?: Progress): Promise<boolean> => {
    const enough = new Map([...tallies].filter(([, tally]) => clicksOf(tally) >= least));
    tallies = new Map();
    return await replaceRollups(sql, tenant, { period, tallies: enough, ...(more && { progress: more }) });
  };
  let read = 0;
  for (const { subjects: some, bytes, isLast, ...times } of readsOf(sizes, period)) {
    const rows = await rowsOf(some, times)
      .select(["subject", "start", ...storedCounts, ...storedValues])
      .execute();
    for (const { subject, start, ...packed } of rows) {
      const sum = tallies.get(subject) ?? newTally();
      tallies.set(subject, sum);
      const tally = readTally(packed, start);
      addTally(sum, madeOf === "day" ? byDay(tally, start) : tally);
    }
    yield 0;
    read += bytes;
    if (!isLast || read < readsOfWrite * bytesAtOnce || progress !== undefined) continue;
    if (!(await write())) return false;
    read = 0;
    yield 0;
  }
  return await write(progress);
}

type Times = Pick<ClickPeriod, "start" | "until">;

interface SizedRow {
  readonly subject: Subject;
  readonly start: number;
  readonly bytes: number;
}

const bytesOf = raw<number>`coalesce(length(packed), length(facts))`.as("bytes");

/** Adding up so much takes about 8 ms. */
const bytesAtOnce = 60_000;
/** A transaction waits for the disk. */
const readsOfWrite = 4;

interface Read extends Times {
  readonly subjects: readonly Subject[];
  /** About. */
  readonly bytes: number;
  /** Whether all rows of these subjects have been read then. */
  readonly isLast: boolean;
}

/** Small subjects together, and large ones in parts of the period. */
function* readsOf(rows: readonly SizedRow[], period: Times): Generator<Read> {
  let [together, bytes]: [Subject[], number] = [[], 0];
  for (const [subject, own] of Map.groupBy(rows, (row) => row.subject)) {
    const size = own.reduce((sum, row) => sum + row.bytes, 0);
    if (size > bytesAtOnce) {
      const starts = [...startsOfParts(own)];
      for (const [place, start] of starts.entries()) {
        const until = starts[place + 1];
        const isLast = until === undefined;
        yield { subjects: [subject], start, until: until ?? period.until, bytes: size / starts.length, isLast };
      }
      continue;
    }
    if (bytes + size > bytesAtOnce) {
      yield { subjects: together, ...timesOf(period), bytes, isLast: true };
      [together, bytes] = [[], 0];
    }
    together.push(subject);
    bytes += size;
  }
  if (together.length > 0) yield { subjects: together, ...timesOf(period), bytes, isLast: true };
}

const timesOf = ({ start, until }: Times): Times => ({ start, until });

/** Of one subject's rows, in order. */
function* startsOfParts(rows: readonly SizedRow[]): Generator<number> {
  let left = -1;
  for (const { start, bytes } of rows) {
    if (bytes > left) {
      yield start;
      left = bytesAtOnce;
    }
    left -= bytes;
  }
}

/** A day of a week or month, whose series is by day. */
function byDay(day: Tally, start: number): Tally {
  const people = peopleOf(day);
  return { ...day, series: new Map([[start, { people, visitors: day.visitors, rest: clicksOf(day) - people }]]) };
}
