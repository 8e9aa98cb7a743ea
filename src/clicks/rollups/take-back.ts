import type { LinkNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant, type Trx } from "../../sql/tenant-db.ts";
import { partMs } from "../event-shelves.ts";
import { naturalStart } from "../events/days.ts";
import { type CalendarGrain, grains, latestClickMs, settledMs } from "./periods.ts";
import type { CondensedTenant, Subject } from "./write-rollups.ts";

/**
 * A database whose clock was ahead has condensed periods that have not ended. The clicks that still come are not late by the
 * clock that was set right, so nothing would add them: these roll-ups are deleted, and are made again when the period has ended.
 */
export const isAhead = (
  { partsUntil, daysUntil, weeksUntil, monthsUntil, quarterYearsUntil }: CondensedTenant,
  now: number,
): boolean => Math.max(partsUntil, daysUntil, weeksUntil, monthsUntil, quarterYearsUntil + latestClickMs) > now;

const linksAtOnce = 500;

export async function takeBack(sql: Sql, tenant: CondensedTenant, now: number): Promise<void> {
  const settled = now - settledMs;
  await sql.transaction((trx) => setBack(sql, trx, tenant, settled));
  // A tenant may have many links. If this is interrupted, the roll-ups that are left are replaced when their period ends; until then
  // reports on these links lack new clicks.
  for (let after = 0 as LinkNumber; ; ) {
    const rows = await ofTenant(sql.db, tenant.id)
      .selectFrom("click_links")
      .select("link")
      .where("link", ">", after)
      .orderBy("link")
      .limit(linksAtOnce)
      .execute();
    const links = rows.map(({ link }) => link);
    if (links.length > 0) await deleteOpen(sql.db, links, settled).execute();
    const last = links.at(-1);
    if (last === undefined || links.length < linksAtOnce) return;
    after = last;
  }
}

/** With the lock that late clicks take, and as they do: whoever condenses or reads these roll-ups sees that `late` was raised. */
async function setBack(sql: Sql, trx: Trx, { id, number, zone }: CondensedTenant, settled: number): Promise<void> {
  const own = ofTenant(trx, id);
  const columns = ["late", "hours_until", "days_until", "weeks_until", "months_until", "quarter_years_until"] as const;
  const row = await sql.forUpdate(own.selectFrom("click_tenants").select(columns)).executeTakeFirst();
  if (row === undefined) return;
  const day = await trx
    .selectFrom("click_days")
    .select("start")
    .where("tenant", "=", number)
    .where("until", ">", settled)
    .orderBy("start")
    .limit(1)
    .executeTakeFirst();
  const from = Math.min(day?.start ?? settled, settled);
  const groups = await own.selectFrom("click_groups").select("number").execute();
  const deleted = await deleteOpen(trx, [number, ...groups.map((group) => group.number)], settled)
    .returning(["grain", "start"])
    .execute();
  // Clicks may still come to a quarter year that ended within the last days.
  const open = { week: from, month: from, quarterYear: from - latestClickMs };
  const startsOf = (grain: CalendarGrain) => [
    naturalStart[grain](open[grain], zone),
    ...deleted.filter((row) => row.grain === grains[grain]).map(({ start }) => start),
  ];
  const progress = {
    late: row.late + 1,
    hours_until: Math.min(row.hours_until, settled - (settled % partMs)),
    days_until: Math.min(row.days_until, from),
    weeks_until: Math.min(row.weeks_until, ...startsOf("week")),
    months_until: Math.min(row.months_until, ...startsOf("month")),
    quarter_years_until: Math.min(row.quarter_years_until, ...startsOf("quarterYear")),
  };
  await own.updateTable("click_tenants").set(progress).execute();
}

const deleteOpen = (db: Sql["db"] | Trx, subjects: readonly Subject[], settled: number) =>
  db
    .deleteFrom("click_rollups")
    .where("subject", "in", subjects)
    .where((row) =>
      row.or([
        row("until", ">", settled),
        row.and([row("grain", "=", grains.quarterYear), row("until", ">", settled - latestClickMs)]),
      ]),
    );
