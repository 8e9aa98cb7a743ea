import { dayMs } from "../../base/clock.ts";
import type { TenantId } from "../../base/ids.ts";
import type { GroupNumber, LinkNumber } from "../../sql/schema.ts";
import { type Params, statement } from "../../sql/statement.ts";
import { type Db, ofTenant, type TenantDb } from "../../sql/tenant-db.ts";
import { partMs } from "../event-shelves.ts";
import { grains, longestDayMs } from "../rollups/periods.ts";
import { type DayRange, naturalStart } from "./days.ts";
import type { Step } from "./step.ts";
import type { LockedTenant } from "./tenant-days.ts";

/**
 * Late clicks may belong to a period that was condensed without them. Their transaction deletes the roll-ups of these
 * periods and moves the tenant's progress back, so that they are condensed again; until then, reports read events.
 *
 * The tenant's row is locked, and condensing locks the same row: it has either seen these clicks, or sees the deletion.
 */
export async function undoRollups(step: Step, clicks: readonly LateClick[], locked: Locked): Promise<void> {
  const byTenant = Map.groupBy(clicks, ({ tenantId }) => tenantId);
  for (const [tenant, ofTenant] of byTenant) await undoForTenant(step, ofTenant, requireLock(locked, tenant));
}

export interface LateClick {
  readonly tenantId: TenantId;
  readonly quarter: number;
  readonly day: DayRange;
  /** The link, and the groups that it is in. */
  readonly subjects: readonly (LinkNumber | GroupNumber)[];
}

type Locked = ReadonlyMap<TenantId, LockedTenant>;

/** By the database's time. Clicks are written within seconds; condensing waits longer than this and than a transaction (`settledMs`). */
export const lateMs = 60_000;

/** No week or month is longer: rows that begin earlier cannot contain the click. */
const longestMs = { week: 9 * dayMs, month: 34 * dayMs } as const;
const listMost = 256;
/** A quarter year is made when no click can come to it any more. */
const calendarGrains = ["week", "month"] as const;

async function undoForTenant({ trx }: Step, clicks: readonly LateClick[], before: LockedTenant): Promise<void> {
  const until = {
    ...{ hours: before.hours_until, days: before.days_until },
    ...{ week: before.weeks_until, month: before.months_until },
  };
  for (const [quarter, ofQuarter] of Map.groupBy(clicks, (click) => click.quarter)) {
    const subjects = [...new Set(ofQuarter.flatMap((click) => click.subjects))].sort((a, b) => a - b);
    for (let start = 0; start < subjects.length; start += listMost) {
      const some = { subjects: subjects.slice(start, start + listMost), quarter };
      await deletePeriods.run(trx, { ...some, grain: grains.part, after: quarter - partMs });
      await deletePeriods.run(trx, { ...some, grain: grains.day, after: quarter - longestDayMs });
      for (const grain of calendarGrains) {
        const rows = await deletePeriods.all(trx, { ...some, grain: grains[grain], after: quarter - longestMs[grain] });
        for (const { start } of rows) until[grain] = Math.min(until[grain], start);
      }
    }
    until.hours = Math.min(until.hours, quarter);
    for (const { day } of ofQuarter) until.days = Math.min(until.days, day.start);
    for (const grain of calendarGrains)
      until[grain] = Math.min(until[grain], naturalStart[grain](quarter, before.zone));
  }
  const own = ofTenant(trx, before.tenant_id);
  const days = { hours_until: until.hours, days_until: until.days };
  await setProgress.run(own, { ...days, weeks_until: until.week, months_until: until.month });
}

function requireLock(locked: Locked, tenant: TenantId): LockedTenant {
  const row = locked.get(tenant);
  if (row === undefined) throw new Error("a late click of a tenant that is not locked");
  return row;
}

interface Periods {
  readonly subjects: readonly number[];
  readonly grain: number;
  readonly quarter: number;
  readonly after: number;
}

/** All times are multiples of a quarter of an hour: a row that contains the quarter contains its clicks. */
const deletePeriods = statement((db: Db, { subjects, grain, quarter, after }: Params<Periods>) =>
  db
    .deleteFrom("click_rollups")
    .where("subject", "in", subjects as never)
    .where("grain", "=", grain)
    .where("start", ">", after)
    .where("start", "<=", quarter)
    .where("until", ">", quarter)
    .returning("start"),
);

const setProgress = statement((own: TenantDb, progress: Params<Omit<LockedTenant, "tenant_id" | "zone">>) =>
  own.updateTable("click_tenants").set({
    hours_until: progress.hours_until,
    days_until: progress.days_until,
    weeks_until: progress.weeks_until,
    months_until: progress.months_until,
  }),
);
