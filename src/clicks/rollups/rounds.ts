import { dayMs } from "../../base/clock.ts";
import type { TenantId } from "../../base/ids.ts";
import type { Sql } from "../../sql/sql.ts";
import { acrossTenants } from "../../sql/tenant-db.ts";
import { condenseTenant } from "./condense.ts";
import { hoursKeptDays, settledMs } from "./periods.ts";
import { createValueNames } from "./value-names.ts";
import type { CondensedTenant } from "./write-rollups.ts";

/**
 * One run of condensing: all tenants that have something to condense. Some of them are worked on at a time, a chunk of
 * each in turn, so that one with millions of clicks does not hold up the others. Two processes that run at the same time
 * write the same rows.
 */
export interface CondenseOptions {
  /** The database's time. */
  readonly now: number;
  readonly signal?: AbortSignal;
}

export interface Condensed {
  readonly tenants: number;
  readonly events: number;
}

const tenantsAtOnce = 8;
const pageTenants = 200;
const hourMs = 3_600_000;

export async function condense(sql: Sql, { now, signal }: CondenseOptions): Promise<Condensed> {
  const names = createValueNames(sql);
  const waiting = tenantsToCondense(sql, now);
  const working = new Set<AsyncGenerator<number, void>>();
  const errors: unknown[] = [];
  let [tenants, events] = [0, 0];

  /** Whether there was another one. */
  async function begin(): Promise<boolean> {
    const { value: tenant } = await waiting.next();
    if (tenant === undefined) return false;
    tenants++;
    working.add(condenseTenant(sql, tenant, names, now));
    return true;
  }

  let more = true;
  for (;;) {
    while (more && working.size < tenantsAtOnce) more = await begin();
    if (working.size === 0) break;
    for (const turn of working) {
      if (signal?.aborted) return { tenants, events };
      try {
        const { done, value } = await turn.next();
        if (done) working.delete(turn);
        else events += value;
      } catch (error) {
        // The others go on; the job fails in the end.
        working.delete(turn);
        errors.push(error);
        if (errors.length === errorsMost) throw error;
      }
    }
  }
  if (errors.length > 0) throw errors[0];
  return { tenants, events };
}

/** If so many tenants fail, the database does. */
const errorsMost = 5;

/** In the order of their ids. Found in pages: the scan looks at every tenant that ever had clicks. */
async function* tenantsToCondense(sql: Sql, now: number): AsyncGenerator<CondensedTenant, undefined> {
  for (let after = "" as TenantId; ; ) {
    const page = await dueTenants(sql, now, after);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageTenants) return undefined;
    after = last.id;
  }
}

async function dueTenants({ db }: Sql, now: number, after: TenantId): Promise<CondensedTenant[]> {
  const settled = now - settledMs;
  const hoursEnd = settled - (settled % hourMs);
  const rows = await acrossTenants(db)
    .selectFrom("click_tenants as c")
    .innerJoin("tenants as t", "t.id", "c.tenant_id")
    .select(["t.id", "t.number", "c.zone", "c.late", "c.hours_until", "c.days_until", "c.months_until"])
    .where("c.tenant_id", ">", after)
    .where((row) => {
      const days = row.selectFrom("click_days as d").select("d.start").whereRef("d.tenant", "=", "t.number");
      const hours = days
        .whereRef("d.until", ">", "c.hours_until")
        .where("d.until", ">", hoursEnd - hoursKeptDays * dayMs)
        .where("d.start", "<", hoursEnd)
        .where("c.hours_until", "<", hoursEnd);
      const ended = days.whereRef("d.until", ">", "c.days_until").where("d.until", "<=", settled);
      const months = days.whereRef("d.until", ">", "c.months_until").where("d.start", "<", endedMonths(settled));
      return row.or([row.exists(hours), row.exists(ended), row.exists(months)]);
    })
    .orderBy("c.tenant_id")
    .limit(pageTenants)
    .execute();
  return rows.map(({ id, number, zone, late, hours_until, days_until, months_until }) => ({
    ...{ id, number, zone, late },
    ...{ hoursUntil: hours_until, daysUntil: days_until, monthsUntil: months_until },
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
