import type { TenantId } from "../../base/ids.ts";
import type { GroupNumber, LinkNumber, TenantNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { writeTally } from "./packed.ts";
import { type ClickPeriod, grains } from "./periods.ts";
import type { Tally } from "./tally.ts";

/** A tenant that is being condensed, as its row was before its clicks were read. */
export interface CondensedTenant {
  readonly id: TenantId;
  readonly number: TenantNumber;
  readonly zone: string;
  /** Raised by every batch with late clicks. */
  readonly late: number;
  readonly partsUntil: number;
  readonly daysUntil: number;
  readonly weeksUntil: number;
  readonly monthsUntil: number;
  readonly quarterYearsUntil: number;
}

export type Subject = LinkNumber | GroupNumber;

export interface Replacement {
  readonly period: ClickPeriod;
  readonly tallies: ReadonlyMap<Subject, Tally>;
  /** With the last rows of a period: the tenant is condensed up to here. */
  readonly progress?: Progress;
}

export type Progress =
  | { readonly hours_until: number }
  | { readonly days_until: number }
  | { readonly weeks_until: number }
  | { readonly months_until: number }
  | { readonly quarter_years_until: number };

/**
 * Replaces the roll-ups of a period in one transaction. False if late clicks came in since the tenant was read: the
 * tallies may lack them, and nothing is written. Late clicks that come afterwards wait for the same lock, and then delete what
 * is written here.
 */
export async function replaceRollups(sql: Sql, tenant: CondensedTenant, replacement: Replacement): Promise<boolean> {
  const { period, tallies, progress } = replacement;
  if (tallies.size === 0 && progress === undefined) return true;
  const subjects = [...tallies.keys()];
  // Packed before the transaction: the lock is held for the writing alone.
  const rows = [...tallies].map(([subject, tally]) => ({
    subject,
    grain: grains[period.grain],
    start: period.start,
    until: period.until,
    ...writeTally(tally, period.start),
  }));
  return await sql.transaction(async (trx) => {
    const own = ofTenant(trx, tenant.id);
    const row = await sql.forUpdate(own.selectFrom("click_tenants").select("late")).executeTakeFirst();
    if (row?.late !== tenant.late) return false;
    if (rows.length > 0) {
      await trx
        .deleteFrom("click_rollups")
        .where("subject", "in", subjects)
        .where("grain", "=", grains[period.grain])
        .where("start", ">=", period.start)
        .where("start", "<", period.until)
        .execute();
      await trx.insertInto("click_rollups").values(rows).execute();
    }
    if (progress !== undefined) await own.updateTable("click_tenants").set(progress).execute();
    return true;
  });
}
