import { randomBytes } from "node:crypto";
import type { Selectable } from "kysely";
import { BoundedMap } from "../../base/bounded-map.ts";
import type { TenantId } from "../../base/ids.ts";
import { type BulkInsert, type BulkValue, bulkInsert } from "../../sql/bulk.ts";
import type { ClickDayTable, ClickTenantTable, TenantNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import { acrossTenants, type Db, type Trx } from "../../sql/tenant-db.ts";
import { type DayRange, defaultZone, naturalDay } from "./days.ts";
import { dayKey } from "./first-visits.ts";
import type { Step } from "./step.ts";

/**
 * The days of tenants, in their time zones. A day is stored when its first click is: the natural day of the zone, cut so
 * that it overlaps no other; so a change of zone begins at the next boundary.
 *
 * Whoever adds a day, or stores a late click, has the row of the tenant in `click_tenants` locked: two processes cannot
 * add overlapping days, and condensing waits.
 */
export interface TenantDays {
  /**
   * The days of these times, and the locked rows of tenants that have late clicks. `lates`: the number of late clicks of
   * a tenant.
   */
  find(step: Step, times: readonly TenantTime[], lates: ReadonlyMap<TenantNumber, number>): Promise<FoundDays>;
  forget(): void;
}

export interface TenantTime {
  readonly tenant: TenantNumber;
  readonly id: TenantId;
  readonly at: number;
}

export interface TenantDay extends DayRange {
  readonly tenant: TenantNumber;
  /** Undefined: the day is over, so it is too late to recognise a visitor. */
  readonly key: Uint8Array | undefined;
}

export interface FoundDays {
  dayOf(tenant: TenantNumber, at: number): TenantDay;
  readonly locked: ReadonlyMap<TenantId, LockedTenant>;
}

export type LockedTenant = Selectable<
  Pick<ClickTenantTable, "tenant_id" | "zone" | "hours_until" | "days_until" | "weeks_until" | "months_until">
>;

/**
 * Visitors are recognised until so long after the end of a day, for the clicks of its last seconds. Salts and hashes are
 * kept longer (`visitorsKeptMs`), so that no running transaction loses them.
 */
export const recognisedMs = 15 * 60_000;

const saltBytes = 32;
const tenantsMost = 50_000;
/** Days of a tenant in memory: clicks of today, of yesterday, and late ones. */
const daysMost = 4;
const listMost = 500;

export function createTenantDays(sql: Sql, secret: Uint8Array): TenantDays {
  const memo = new BoundedMap<TenantNumber, readonly KeyedDay[]>(tenantsMost);
  const lockTenants: BulkInsert<ReturnType<typeof acrossTenants>, LockedTenant> = bulkInsert(sql.dialect, {
    into: "click_tenants",
    columns: {
      ...{ tenant_id: "text", zone: "text", facts: "integer", late: "bigint" },
      ...{ hours_until: "bigint", days_until: "bigint", weeks_until: "bigint", months_until: "bigint" },
    },
    tail: `on conflict (tenant_id) do update set late = click_tenants.late + excluded.late
      returning tenant_id, zone, hours_until, days_until, weeks_until, months_until`,
  });

  /** In the order of ids, so that two processes cannot deadlock. */
  async function lock(trx: Trx, tenants: ReadonlyMap<TenantId, number>): Promise<Map<TenantId, LockedTenant>> {
    const values: BulkValue[] = [];
    for (const [id, late] of [...tenants].sort(([a], [b]) => (a < b ? -1 : 1))) {
      values.push(id, defaultZone, 1, late, 0, 0, 0, 0);
    }
    const rows = await lockTenants.run(acrossTenants(trx), values);
    return new Map(rows.map((row) => [row.tenant_id, row]));
  }

  async function load(trx: Trx, tenants: readonly TenantNumber[], after: number): Promise<Map<TenantNumber, Row[]>> {
    const found = new Map<TenantNumber, Row[]>();
    for (let start = 0; start < tenants.length; start += listMost) {
      const rows = await selectDays.all(trx, { tenants: tenants.slice(start, start + listMost), after });
      for (const row of rows) found.set(row.tenant, [...(found.get(row.tenant) ?? []), row]);
    }
    return found;
  }

  function keyed({ tenant, start, until, salt }: Row): KeyedDay {
    return { tenant, start, until, key: salt === null ? undefined : dayKey(secret, salt) };
  }

  /** Adds the day of `at`, or gives it a salt if a restored backup has taken it. */
  async function add(trx: Trx, rows: Row[], { tenant, at }: TenantTime, zone: string, now: number): Promise<void> {
    const before = rows.find((row) => contains(row, at));
    const range = before ?? cut(naturalDay(at, zone), rows, at);
    const salt = now < range.until + recognisedMs ? randomBytes(saltBytes).toString("hex") : null;
    const row = { tenant, start: range.start, until: range.until, salt };
    if (before === undefined) await insertDay.run(trx, row);
    else await setSalt.run(trx, { tenant, start: row.start, salt });
    rows.splice(before === undefined ? rows.length : rows.indexOf(before), before === undefined ? 0 : 1, row);
  }

  return {
    async find(step, times, lates) {
      const { trx, now } = step;
      const isUsable = (day: DayRange & { readonly hasSalt: boolean }) => day.hasSalt || now >= day.until;
      const days = new Map<TenantNumber, readonly KeyedDay[]>();
      const findIn = (list: readonly KeyedDay[] | undefined, at: number) =>
        list?.find((day) => contains(day, at) && isUsable({ ...day, hasSalt: day.key !== undefined }));
      const missing = times.filter(({ tenant, at }) => findIn(memo.get(tenant), at) === undefined);
      const toLock = new Map<TenantId, number>();
      for (const { id, tenant } of times) {
        const late = lates.get(tenant);
        if (late !== undefined) toLock.set(id, late);
      }

      const after = missing.reduce((least, { at }) => Math.min(least, at), now) - neighbourMs;
      let rows = await load(trx, [...new Set(missing.map(({ tenant }) => tenant))], after);
      const isStored = ({ tenant, at }: TenantTime) =>
        rows.get(tenant)?.some((row) => contains(row, at) && isUsable({ ...row, hasSalt: row.salt !== null }));
      const toAdd = missing.filter((time) => !isStored(time));
      for (const { id } of toAdd) if (!toLock.has(id)) toLock.set(id, 0);
      const locked = await lock(trx, toLock);
      if (toAdd.length > 0) {
        // Another process may have added them while this one waited for the lock.
        rows = new Map([...rows, ...(await load(trx, [...new Set(toAdd.map(({ tenant }) => tenant))], after))]);
        for (const time of toAdd) {
          if (isStored(time)) continue;
          const ofTenant = rows.get(time.tenant) ?? [];
          rows.set(time.tenant, ofTenant);
          await add(trx, ofTenant, time, locked.get(time.id)?.zone ?? defaultZone, now);
        }
      }
      for (const { tenant } of missing) {
        if (!days.has(tenant)) days.set(tenant, (rows.get(tenant) ?? []).map(keyed));
      }
      step.afterCommit(() => {
        for (const [tenant, list] of days) memo.set(tenant, latest([...list, ...(memo.get(tenant) ?? [])]));
      });
      const last = new Map<TenantNumber, TenantDay>();
      return {
        locked,
        dayOf(tenant, at) {
          const before = last.get(tenant);
          if (before !== undefined && contains(before, at)) return before;
          const found = findIn(memo.get(tenant), at) ?? findIn(days.get(tenant), at);
          if (found === undefined) throw new Error("a click has no day");
          const day = now < found.until + recognisedMs ? found : { ...found, key: undefined };
          last.set(tenant, day);
          return day;
        },
      };
    },
    forget: () => memo.clear(),
  };
}

type Row = Omit<ClickDayTable, "visitors_full_at">;
type KeyedDay = TenantDay;

/** Days are shorter: with these, the neighbours of a new day are known. */
const neighbourMs = 50 * 3_600_000;

const contains = ({ start, until }: DayRange, at: number): boolean => start <= at && at < until;

function cut({ start, until }: DayRange, others: readonly DayRange[], at: number): DayRange {
  const before = others.filter((other) => other.until <= at).map((other) => other.until);
  const after = others.filter((other) => other.start > at).map((other) => other.start);
  return { start: Math.max(start, ...before), until: Math.min(until, ...after) };
}

function latest(days: readonly KeyedDay[]): readonly KeyedDay[] {
  const byStart = new Map(days.toReversed().map((day) => [day.start, day]));
  return [...byStart.values()].sort((a, b) => b.start - a.start).slice(0, daysMost);
}

const selectDays = statement(
  (db: Db, { tenants, after }: Params<{ tenants: readonly TenantNumber[]; after: number }>) =>
    db
      .selectFrom("click_days")
      .select(["tenant", "start", "until", "salt"])
      .where("tenant", "in", tenants)
      .where("until", ">", after),
);

const insertDay = statement((db: Db, { tenant, start, until, salt }: Params<Row>) =>
  db.insertInto("click_days").values({ tenant, start, until, salt }),
);

const setSalt = statement((db: Db, { tenant, start, salt }: Params<Omit<Row, "until">>) =>
  db.updateTable("click_days").set({ salt }).where("tenant", "=", tenant).where("start", "=", start),
);
