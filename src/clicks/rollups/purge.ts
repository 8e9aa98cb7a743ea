import { dayMs } from "../../base/clock.ts";
import type { TenantId } from "../../base/ids.ts";
import { dropPartitions } from "../../sql/partitions.ts";
import type { Sql } from "../../sql/sql.ts";
import { acrossTenants } from "../../sql/tenant-db.ts";
import { storedLimits } from "../../tenants/tenants.ts";
import { utcDay } from "../click.ts";
import { eventsKeptDays, eventsLeastDays } from "./kept-days.ts";
import { keepEvents, oldestDay, type PurgedTenant, purgeDays, purgeEvents } from "./purge-events.ts";
import { purgeRollups } from "./purge-rollups.ts";
import { purgeGoneTenants } from "./purge-tenants.ts";

/**
 * Deletes what is no longer kept: events by the tenant's plan, roll-ups of hours and days, values without events, and the
 * rows of deleted links and tenants. In short statements, so that other writers wait for one of them at most.
 */
export interface PurgedClicks {
  readonly events: number;
  readonly rollups: number;
  readonly values: number;
}

const tenantsAtOnce = 500;
const valuesAtOnce = 500;
const dropsKeptDays = 400;

export async function purgeClicks(sql: Sql, now: number, signal?: AbortSignal): Promise<PurgedClicks> {
  const eventDays = new Map<TenantId, number | null>();
  let oldest = now - eventsLeastDays * dayMs;
  for await (const tenant of tenantsWithClicks(sql)) {
    eventDays.set(tenant.id, tenant.eventDays);
    oldest = Math.min(oldest, await oldestDay(sql, tenant, await keepEvents(sql, tenant, now), now));
  }
  // Whole weeks that no tenant keeps, on PostgreSQL: instead of deleting each of their rows. It fails while a report reads them.
  const [dropped] = await Promise.allSettled([dropPartitions(sql, utcDay(oldest))]);
  let events = await purgeGoneTenants(sql, signal);
  for await (const tenant of tenantsWithClicks(sql)) {
    signal?.throwIfAborted();
    events += await purgeEvents(sql, tenant);
    await purgeDays(sql, tenant, now);
  }
  const rollups = await purgeRollups(sql, { now, eventDaysOf: (tenant) => eventDays.get(tenant) ?? null });
  const values = await purgeValues(sql, utcDay(oldest) - marginDays);
  await sql.db
    .deleteFrom("click_drops")
    .where("day", "<", utcDay(now) - dropsKeptDays)
    .execute();
  if (dropped.status === "rejected") throw dropped.reason;
  return { events, rollups, values };
}

async function* tenantsWithClicks({ db }: Sql): AsyncGenerator<PurgedTenant> {
  for (let after = "" as TenantId; ; ) {
    const rows = await acrossTenants(db)
      .selectFrom("click_tenants as c")
      .innerJoin("tenants as t", "t.id", "c.tenant_id")
      .leftJoin("plans as p", "p.name", "t.plan")
      .select(["t.id", "t.number", "t.plan", "t.limits", "p.limits as planLimits", "c.event_days"])
      .select(["c.days_until", "c.months_until", "c.events_from", "c.deleted_until"])
      .where("c.tenant_id", ">", after)
      .orderBy("c.tenant_id")
      .limit(tenantsAtOnce)
      .execute();
    for (const { id, number, plan, limits, planLimits, ...row } of rows) {
      const { eventDays } = storedLimits({ plan, planLimits, overrides: limits });
      yield {
        ...{ id, number, eventDays: eventsKeptDays(eventDays, row.event_days) },
        ...{ daysUntil: row.days_until, monthsUntil: row.months_until },
        ...{ eventsFrom: row.events_from, deletedUntil: row.deleted_until },
      };
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

/** Values that no event can have: last used before the oldest event of any tenant. */
async function purgeValues({ db }: Sql, before: number): Promise<number> {
  for (let deleted = 0; ; ) {
    const old = await db
      .selectFrom("click_values")
      .select("id")
      .where("seen_day", "<", before)
      .where("id", ">", lastFixedId)
      .limit(valuesAtOnce)
      .execute();
    if (old.length === 0) return deleted;
    const ids = old.map(({ id }) => id);
    await db.deleteFrom("click_values").where("id", "in", ids).where("seen_day", "<", before).execute();
    deleted += ids.length;
  }
}

/** "None" and "other". */
const lastFixedId = 1;
/** A day of a tenant begins up to 14 hours before that of UTC, and a batch that uses a value may still be on its way. */
const marginDays = 3;
