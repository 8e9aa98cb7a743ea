import type { TenantId } from "../../base/ids.ts";
import type { GroupNumber, LinkNumber } from "../../sql/schema.ts";
import { type Params, statement } from "../../sql/statement.ts";
import { type Db, ofTenant, type TenantDb } from "../../sql/tenant-db.ts";
import { longestDayMs } from "../rollups/periods.ts";
import { type DayRange, naturalMonthStart } from "./days.ts";
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

/** By the database's time. Condensing leaves a period alone until 15 minutes after its end. */
export const lateMs = 10 * 60_000;

export const hourGrain = 1;
export const dayGrain = 2;
export const monthGrain = 3;

const hourMs = 3_600_000;
/** No month is longer: rows that begin earlier cannot contain the click. */
const longestMonthMs = 34 * 24 * hourMs;
const listMost = 256;

async function undoForTenant({ trx }: Step, clicks: readonly LateClick[], before: LockedTenant): Promise<void> {
  const until = { hours: before.hours_until, days: before.days_until, months: before.months_until };
  for (const [quarter, ofQuarter] of Map.groupBy(clicks, (click) => click.quarter)) {
    const hour = quarter - (quarter % hourMs);
    const subjects = [...new Set(ofQuarter.flatMap((click) => click.subjects))].sort((a, b) => a - b);
    for (let start = 0; start < subjects.length; start += listMost) {
      const some = { subjects: subjects.slice(start, start + listMost), quarter };
      await deletePeriods.run(trx, { ...some, grain: hourGrain, after: hour - 1 });
      await deletePeriods.run(trx, { ...some, grain: dayGrain, after: quarter - longestDayMs });
      const months = await deletePeriods.all(trx, { ...some, grain: monthGrain, after: quarter - longestMonthMs });
      for (const month of months) until.months = Math.min(until.months, month.start);
    }
    until.hours = Math.min(until.hours, hour);
    for (const { day } of ofQuarter) until.days = Math.min(until.days, day.start);
    until.months = Math.min(until.months, naturalMonthStart(quarter, before.zone));
  }
  const own = ofTenant(trx, before.tenant_id);
  await setProgress.run(own, { hours_until: until.hours, days_until: until.days, months_until: until.months });
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

const setProgress = statement(
  (own: TenantDb, progress: Params<Pick<LockedTenant, "hours_until" | "days_until" | "months_until">>) =>
    own.updateTable("click_tenants").set({
      hours_until: progress.hours_until,
      days_until: progress.days_until,
      months_until: progress.months_until,
    }),
);
