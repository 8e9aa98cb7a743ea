import { dayMs } from "../../base/clock.ts";
import type { TenantId } from "../../base/ids.ts";
import type { Sql } from "../../sql/sql.ts";
import { statement } from "../../sql/statement.ts";
import { acrossTenants, type Db } from "../../sql/tenant-db.ts";
import { quarterMs, utcDay } from "../click.ts";
import { shelfOf } from "../event-shelves.ts";
import { latestClickMs, longestDayMs, partsKeptDays, settledMs } from "./periods.ts";
import type { CondensedTenant } from "./write-rollups.ts";

/**
 * The tenants that have something to condense, in the order of their ids. Each is looked at once an hour, and one that may be busy every
 * quarter of an hour: a sixteenth of all events has the level that is asked for. Nobody is due for a week or a quarter year alone: they are made with
 * the next part, day or month.
 */
export interface DueTenants {
  /** The database's time. */
  readonly now: number;
  readonly after: TenantId;
  readonly limit: number;
}

const hourMs = 3_600_000;
const askedLevel = 3;

export async function dueTenants({ db }: Sql, { now, after, limit }: DueTenants): Promise<CondensedTenant[]> {
  const settled = now - settledMs;
  const [hoursEnd, partsEnd] = [settled - (settled % hourMs), settled - (settled % quarterMs)];
  const rows = await acrossTenants(db)
    .selectFrom("click_tenants as c")
    .innerJoin("tenants as t", "t.id", "c.tenant_id")
    .select([
      "t.id",
      "t.number",
      "c.zone",
      "c.late",
      "c.hours_until",
      "c.days_until",
      "c.weeks_until",
      "c.months_until",
      "c.quarter_years_until",
    ])
    .where("c.tenant_id", ">", after)
    .where((row) => {
      /** Its start is known roughly too, so that the key of the table finds it. */
      const daysAfter = (progress: "c.hours_until" | "c.days_until" | "c.months_until") =>
        row
          .selectFrom("click_days as d")
          .select("d.start")
          .whereRef("d.tenant", "=", "t.number")
          .where("d.start", ">", row(progress, "-", longestDayMs))
          .whereRef("d.until", ">", progress);
      const parts = daysAfter("c.hours_until")
        .where("d.until", ">", hoursEnd - partsKeptDays * dayMs)
        .where("d.start", "<", hoursEnd)
        .where("c.hours_until", "<", hoursEnd);
      const busy = row
        .selectFrom("clicks as e")
        .select("e.link")
        .where("e.day", "=", utcDay(partsEnd - 1))
        .whereRef("e.tenant", "=", "t.number")
        .where("e.level", "=", shelfOf(askedLevel, partsEnd - 1))
        .whereRef("e.at", ">=", "c.hours_until")
        .where("e.at", "<", partsEnd);
      const ended = daysAfter("c.days_until").where("d.until", "<=", settled);
      const months = daysAfter("c.months_until").where("d.start", "<", endedMonths(settled));
      const progress = [
        "c.hours_until",
        "c.days_until",
        "c.weeks_until",
        "c.months_until",
        "c.quarter_years_until",
      ] as const;
      const isAhead = progress.map((one) => row(one, ">", one === "c.quarter_years_until" ? now - latestClickMs : now));
      return row.or([row.exists(parts), row.exists(busy), row.exists(ended), row.exists(months), ...isAhead]);
    })
    .orderBy("c.tenant_id")
    .limit(limit)
    .execute();
  return rows.map(({ id, number, zone, late, ...until }) => ({
    ...{ id, number, zone, late },
    ...{ partsUntil: until.hours_until, daysUntil: until.days_until, weeksUntil: until.weeks_until },
    ...{ monthsUntil: until.months_until, quarterYearsUntil: until.quarter_years_until },
  }));
}

/**
 * Days that begin before this are in an ended month, whatever the zone: the first of the month begins 14 hours earlier in
 * Kiritimati. A month whose only day is its last, and begins later, is found a month later.
 */
function endedMonths(settled: number): number {
  const date = new Date(settled);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) - 14 * hourMs;
}

/**
 * Whether there were clicks within about a day: their days have a salt until an hour after their end (`purge-visitors.ts`). For
 * the serving thread, by an index.
 */
export const hadClicksLately = async ({ db }: Sql): Promise<boolean> => (await selectSalt.first(db)) !== undefined;

const selectSalt = statement((db: Db) =>
  db.selectFrom("click_days").select("until").where("salt", "is not", null).limit(1),
);

/** Each is asked for by the key of the table, some microseconds each. */
const askedMost = 200;

/** For the serving thread: with more tenants than a short page, it does not ask. */
export async function mayHaveToCondense(sql: Sql, now: number): Promise<boolean> {
  const next = acrossTenants(sql.db).selectFrom("click_tenants").select("tenant_id").orderBy("tenant_id");
  if ((await next.offset(askedMost).limit(1).executeTakeFirst()) !== undefined) return true;
  return (await dueTenants(sql, { now, after: "" as TenantId, limit: 1 })).length > 0;
}
