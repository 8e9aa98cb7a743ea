import { dayMs } from "../../base/clock.ts";
import type { Sql } from "../../sql/sql.ts";
import { naturalStart } from "../events/days.ts";
import { type CalendarGrain, type ClickPeriod, grains, latestClickMs } from "./periods.ts";
import type { CondensedTenant } from "./write-rollups.ts";

/**
 * The weeks, months and quarter years of a tenant. They are those of the calendar in the tenant's zone, and have whole days: where the
 * zone was changed, a day may lie across the boundary of two, and belongs to the one in which most of it is. A quarter year is made of
 * whole months in the same way, so that it never has a part of a month.
 */
export interface CalendarPeriod extends ClickPeriod {
  readonly grain: CalendarGrain;
  /** It is not made before this is settled. */
  readonly over: number;
  /** Where the last of its days with clicks ends. */
  readonly lastUntil: number;
  readonly isDone: boolean;
}

/** The next period with clicks after this time. */
export type FindPeriod = (sql: Sql, tenant: CondensedTenant, after: number) => Promise<CalendarPeriod | undefined>;

/** From the start of a period always into the next one. */
const oneAndMoreMs = { week: 9 * dayMs, month: 33 * dayMs, quarterYear: 95 * dayMs } as const;

/** The period of the first day that is not in one yet. It overlaps no other of its kind, even if the zone was changed. */
export const nextOfDays =
  (grain: "week" | "month"): FindPeriod =>
  async ({ db }, { number, zone }, after) => {
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
    const until = await boundary(naturalStart[grain](natural + oneAndMoreMs[grain], zone));
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
    if (done !== undefined) return { grain, ...done, over: done.until, lastUntil: done.until, isDone: true };
    const before = others.filter((other) => other.until <= first.start).map((other) => other.until);
    const later = others.filter((other) => other.start >= first.until).map((other) => other.start);
    const [from, to] = [Math.max(start, ...before), Math.min(until, ...later)];
    const last = await days().where("start", "<", to).orderBy("start", "desc").limit(1).executeTakeFirst();
    return { grain, start: from, until: to, over: to, lastUntil: last?.until ?? to, isDone: false };
  };

/**
 * The quarter year of the first month that is not in one yet: from its first month with clicks to the end of its last. If they are the
 * same, that month is all there is to read.
 *
 * It is made when no click can come to it any more, so late clicks need not know of quarter years.
 */
export const nextOfMonths: FindPeriod = async ({ db }, { number, zone }, after) => {
  const rows = (grain: "month" | "quarterYear") =>
    db
      .selectFrom("click_rollups")
      .select(["start", "until"])
      .where("subject", "=", number)
      .where("grain", "=", grains[grain])
      .orderBy("start");
  const next = await rows("month").where("until", ">", after).limit(2).execute();
  const first = next.find((month) => middleOf(month) > after);
  if (first === undefined) return undefined;
  const natural = naturalStart.quarterYear(middleOf(first), zone);
  const end = naturalStart.quarterYear(natural + oneAndMoreMs.quarterYear, zone);
  const months = await rows("month").where("start", ">", first.start).where("start", "<", end).execute();
  const last = months.findLast((month) => middleOf(month) < end) ?? first;
  const [start, until] = [first.start, last.until];
  const made = await rows("quarterYear").where("start", "=", start).executeTakeFirst();
  const isAlone = until === first.until;
  const lastDay = await db
    .selectFrom("click_days")
    .select("until")
    .where("tenant", "=", number)
    .where("start", "<", end)
    .orderBy("start", "desc")
    .limit(1)
    .executeTakeFirst();
  const isDone = isAlone || made?.until === until;
  return { grain: "quarterYear", start, until, over: end + latestClickMs, lastUntil: lastDay?.until ?? until, isDone };
};

const middleOf = ({ start, until }: { readonly start: number; readonly until: number }): number => (start + until) / 2;
