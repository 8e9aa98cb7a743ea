import { dayMs } from "../../base/clock.ts";
import type { TenantId } from "../../base/ids.ts";
import type { LinkNumber, TenantNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { utcDay } from "../click.ts";
import { allShelves } from "../event-shelves.ts";
import { daysKeptDays } from "./periods.ts";

/** A tenant as its old events are deleted. */
export interface PurgedTenant {
  readonly id: TenantId;
  readonly number: TenantNumber;
  /** By its plan and its own setting, and never less than `eventsLeastDays`; null keeps events for good. */
  readonly eventDays: number | null;
  readonly daysUntil: number;
  readonly monthsUntil: number;
  /** All events from here on are there. */
  readonly eventsFrom: number;
  /** Older events are deleted. */
  readonly deletedUntil: number;
}

/** A few milliseconds on SQLite. */
const eventsAtOnce = 5_000;
const overflowAtOnce = 200;

/**
 * Where the events that are kept begin: before that, all days are condensed. It is stored before any of the others are deleted, because
 * reports take the number of events from roll-ups (`known-events.ts`) as long as all of them are there.
 */
export async function keepEvents(sql: Sql, tenant: PurgedTenant, now: number): Promise<number> {
  const from = await eventsKeptFrom(sql, tenant, now);
  // Late clicks may have set back the progress meanwhile, but not by so much.
  if (from > tenant.eventsFrom && (await daysBefore(sql, tenant, from)).length > 0) {
    await ofTenant(sql.db, tenant.id).updateTable("click_tenants").set({ events_from: from }).execute();
  }
  return from;
}

/** The tenant's days that may have events to delete. */
const daysBefore = ({ db }: Sql, { number, deletedUntil }: PurgedTenant, from: number) =>
  db
    .selectFrom("click_days")
    .select(["start", "until"])
    .where("tenant", "=", number)
    .where("until", ">", deletedUntil)
    .where("start", "<", from)
    .orderBy("start")
    .execute();

async function eventsKeptFrom({ db }: Sql, tenant: PurgedTenant, now: number): Promise<number> {
  const { number, eventDays, daysUntil, eventsFrom } = tenant;
  if (eventDays === null) return eventsFrom;
  const open = await db
    .selectFrom("click_days")
    .select("start")
    .where("tenant", "=", number)
    .where("until", ">", daysUntil)
    .orderBy("start")
    .limit(1)
    .executeTakeFirst();
  const from = Math.min(now - eventDays * dayMs, open?.start ?? now);
  return Math.max(eventsFrom, utcDay(from) * dayMs);
}

/** Deletes the events and overflow rows of days that are older than the tenant keeps them (`keepEvents`). */
export async function purgeEvents(sql: Sql, tenant: PurgedTenant): Promise<number> {
  const from = tenant.eventsFrom;
  const days = await daysBefore(sql, tenant, from);
  if (days.length === 0) return 0;
  let deleted = 0;
  for (const day of daysInUtc(days).filter((one) => one * dayMs < from)) {
    deleted += await deleteDay(sql, tenant.number, day);
  }
  await ofTenant(sql.db, tenant.id).updateTable("click_tenants").set({ deleted_until: from }).execute();
  return deleted;
}

/** The days of UTC that a tenant's days lie in. */
export function daysInUtc(days: readonly { readonly start: number; readonly until: number }[]): number[] {
  const all = days.flatMap(({ start, until }) => [utcDay(start), utcDay((start + until) / 2), utcDay(until - 1)]);
  return [...new Set(all)].toSorted((a, b) => a - b);
}

/** The events and overflow rows of a tenant on a day of UTC. */
export async function deleteDay({ db }: Sql, tenant: TenantNumber, day: number): Promise<number> {
  let deleted = 0;
  const shelves = await db
    .selectFrom("clicks")
    .select("level")
    .distinct()
    .where("day", "=", day)
    .where("tenant", "=", tenant)
    .where("level", "in", allShelves)
    .execute();
  for (const { level } of shelves) {
    const rows = () =>
      db.selectFrom("clicks").where("day", "=", day).where("tenant", "=", tenant).where("level", "=", level);
    for (;;) {
      const last = await rows()
        .select(["link", "at"])
        .orderBy("link")
        .orderBy("at")
        .offset(eventsAtOnce - 1)
        .limit(1)
        .executeTakeFirst();
      const all = db
        .deleteFrom("clicks")
        .where("day", "=", day)
        .where("tenant", "=", tenant)
        .where("level", "=", level);
      const { numDeletedRows } = await (last === undefined
        ? all
        : all.where((row) =>
            row.or([row("link", "<", last.link), row.and([row("link", "=", last.link), row("at", "<=", last.at)])]),
          )
      ).executeTakeFirst();
      deleted += Number(numDeletedRows);
      if (last === undefined) break;
    }
  }
  for (;;) {
    const last = await db
      .selectFrom("click_overflow")
      .select("link")
      .where("day", "=", day)
      .where("tenant", "=", tenant)
      .orderBy("link")
      .offset(overflowAtOnce - 1)
      .limit(1)
      .executeTakeFirst();
    await db
      .deleteFrom("click_overflow")
      .where("day", "=", day)
      .where("tenant", "=", tenant)
      .where("link", "<=", last?.link ?? (Number.MAX_SAFE_INTEGER as LinkNumber))
      .execute();
    if (last === undefined) return deleted;
  }
}

/** Days that no roll-up and no event needs any more. */
export async function purgeDays({ db }: Sql, tenant: PurgedTenant, now: number): Promise<void> {
  const until = Math.min(now - daysKeptDays * dayMs, tenant.monthsUntil, tenant.deletedUntil);
  await db.deleteFrom("click_days").where("tenant", "=", tenant.number).where("until", "<", until).execute();
}

/** Where the tenant's first day with events from here on begins; now if there is none. */
export async function oldestDay(sql: Sql, tenant: PurgedTenant, from: number, now: number): Promise<number> {
  const day = sql.db
    .selectFrom("click_days")
    .select("start")
    .where("tenant", "=", tenant.number)
    .where("until", ">", from);
  return (await day.orderBy("start").limit(1).executeTakeFirst())?.start ?? now;
}
