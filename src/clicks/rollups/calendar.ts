import { dayMs } from "../../base/clock.ts";
import type { LinkNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { naturalMonthStart } from "../events/days.ts";
import { readTally, storedCounts, storedValues } from "./packed.ts";
import { type ClickPeriod, grains } from "./periods.ts";
import { addTally, clicksOf, countsAt, newTally, peopleOf, type Tally } from "./tally.ts";
import { type CondensedTenant, type Progress, replaceRollups, type Subject } from "./write-rollups.ts";

/**
 * Adds up the days of a tenant's ended months. A month is one of the calendar in the tenant's zone, and has whole days: where
 * the zone was changed, a day may lie across the boundary, and belongs to the month in which most of it is.
 */
export async function* condenseMonths(
  sql: Sql,
  tenant: CondensedTenant,
  settled: number,
): AsyncGenerator<number, void> {
  for (let { monthsUntil } = tenant; ; ) {
    const month = await nextMonth(sql, { ...tenant, monthsUntil });
    // Its days must have ended and be condensed.
    if (month === undefined || month.until > settled || month.lastUntil > tenant.daysUntil) return;
    const period: ClickPeriod = { grain: "month", start: month.start, until: month.until };
    if (!month.isDone && !(yield* condenseMonth(sql, tenant, period))) return;
    monthsUntil = month.until;
  }
}

interface Month {
  readonly start: number;
  readonly until: number;
  /** Where the last of its days with clicks ends. */
  readonly lastUntil: number;
  readonly isDone: boolean;
}

/** The month of the first day that is not in a month yet. It overlaps no other month, even if the zone was changed. */
async function nextMonth({ db }: Sql, { number, zone, monthsUntil }: CondensedTenant): Promise<Month | undefined> {
  const days = () => db.selectFrom("click_days").select(["start", "until"]).where("tenant", "=", number);
  const first = await days().where("until", ">", monthsUntil).orderBy("start").limit(1).executeTakeFirst();
  if (first === undefined) return undefined;
  const boundary = async (at: number): Promise<number> => {
    const across = await days().where("start", "<", at).where("until", ">", at).executeTakeFirst();
    if (across === undefined) return at;
    return middleOf(across) < at ? across.until : across.start;
  };
  const naturalStart = naturalMonthStart(middleOf(first), zone);
  const start = await boundary(naturalStart);
  const until = await boundary(naturalMonthStart(naturalStart + monthAndMoreMs, zone));
  // The row of the tenant itself is written last: where it exists, the month is complete.
  const months = await db
    .selectFrom("click_rollups")
    .select(["start", "until"])
    .where("subject", "=", number)
    .where("grain", "=", grains.month)
    .where("start", "<", until)
    .where("until", ">", start)
    .execute();
  const done = months.find((month) => month.start <= first.start && month.until >= first.until);
  if (done !== undefined) return { ...done, lastUntil: done.until, isDone: true };
  const before = months.filter((month) => month.until <= first.start).map((month) => month.until);
  const after = months.filter((month) => month.start >= first.until).map((month) => month.start);
  const [from, to] = [Math.max(start, ...before), Math.min(until, ...after)];
  const last = await days().where("start", "<", to).orderBy("start", "desc").limit(1).executeTakeFirst();
  return { start: from, until: to, lastUntil: last?.until ?? to, isDone: false };
}

const middleOf = ({ start, until }: { readonly start: number; readonly until: number }): number => (start + until) / 2;

/** From the start of a month always into the next one. */
const monthAndMoreMs = 33 * dayMs;
const linksAtOnce = 50;

async function* condenseMonth(sql: Sql, tenant: CondensedTenant, period: ClickPeriod): AsyncGenerator<number, boolean> {
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
    if (!(yield* addDays(sql, tenant, period, subjects))) return false;
    after = last;
  }
  // A tag that got its roll-ups within the month lacks the days before: it has no month, and keeps the days after.
  const groups = await ofTenant(sql.db, tenant.id)
    .selectFrom("click_groups")
    .select("number")
    .where("since", "<=", period.start)
    .execute();
  const numbers = groups.map(({ number }) => number);
  for (let at = 0; at < numbers.length; at += linksAtOnce) {
    if (!(yield* addDays(sql, tenant, period, numbers.slice(at, at + linksAtOnce)))) return false;
  }
  return yield* addDays(sql, tenant, period, [tenant.number], { months_until: period.until });
}

async function* addDays(
  sql: Sql,
  tenant: CondensedTenant,
  period: ClickPeriod,
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
  const isCurrent = await replaceRollups(sql, tenant, { period, tallies, ...(progress && { progress }) });
  yield 0;
  return isCurrent;
}

/** The series of a month is by day. */
function addDay(sum: Tally, day: Tally, start: number): void {
  const series = new Map<number, { people: number; visitors: number; rest: number }>();
  const people = peopleOf(day);
  Object.assign(countsAt(series, start), { people, visitors: day.visitors, rest: clicksOf(day) - people });
  addTally(sum, { ...day, series });
}
