import { dayMs } from "../../base/clock.ts";
import type { TenantId } from "../../base/ids.ts";
import type { LinkNumber, TenantNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { type Dimension, other } from "../click.ts";
import { hourMs, localDay, nextStart, startOf, startsWithin, wallClock } from "../reports/zones.ts";
import { readCounts, readTally, storedCounts, storedValues } from "../rollups/packed.ts";
import { grains } from "../rollups/periods.ts";
import { addValues, type FactCounts } from "../rollups/tally.ts";

/**
 * A tenant's week, from the roll-ups of its days. The digest waits until all days of the week are condensed, so it never
 * reads events: the numbers are final, and a week of a busy tenant costs as much as one of a quiet one.
 */
export interface WeekTenant {
  readonly id: TenantId;
  readonly number: TenantNumber;
  readonly zone: string;
}

export interface Week {
  /** `2026-W46`, by ISO 8601. */
  readonly name: string;
  readonly start: number;
  readonly until: number;
}

export interface WeekCounts {
  readonly days: readonly { readonly start: number; readonly clicks: number }[];
  readonly clicks: number;
  readonly visitors: number;
  readonly before: { readonly clicks: number; readonly visitors: number };
  /** Those with the most clicks, of the links that exist. */
  readonly links: readonly { readonly link: LinkNumber; readonly clicks: number }[];
  readonly countries: readonly CountedValue[];
  readonly referrers: readonly CountedValue[];
}

export interface CountedValue {
  readonly value: string;
  readonly clicks: number;
}

/** Monday, 8:00 in the tenant's zone. */
const dueHour = 8;
/** A server that was off on Monday sends it later; on Thursday it is old news. */
const lateDays = 3;
const linksShown = 5;
const valuesShown = 5;
/** Of those that exist: a link that is not among so many with the most clicks ever is not among the first five of a week. */
const linksMost = 20_000;
const linksAtOnce = 500;
/** No day is longer. */
const longestDayMs = 26 * hourMs;

/** The week whose digest is due now, if one is. */
export function dueWeek(zone: string, now: number): Week | undefined {
  const until = startOf(zone, "week", now);
  const sinceMonday = wallClock(zone, now) - localDay(zone, until) * dayMs;
  if (sinceMonday < dueHour * hourMs || sinceMonday >= lateDays * dayMs) return undefined;
  const start = startOf(zone, "week", until - 1);
  return { name: isoWeek(localDay(zone, start)), start, until };
}

/** By the number of its Monday since 1970. A week belongs to the year of its Thursday. */
export function isoWeek(monday: number): string {
  const year = new Date((monday + 3) * dayMs).getUTCFullYear();
  const week = Math.floor((monday + 3 - Date.UTC(year) / dayMs) / 7) + 1;
  return `${year}-W${String(week).padStart(2, "0")}`;
}

/** Undefined if days of the week are not condensed yet, or clicks came in while it was read. */
export async function readWeek(sql: Sql, tenant: WeekTenant, week: Week): Promise<WeekCounts | undefined> {
  const progress = await progressOf(sql, tenant);
  if (progress === undefined || !(await isCondensed(sql, tenant, week.until, progress.days_until))) return undefined;
  const counts = await countWeek(sql, tenant, week, progress.days_until);
  const after = await progressOf(sql, tenant);
  return after?.late === progress.late ? counts : undefined;
}

const progressOf = ({ db }: Sql, { id }: WeekTenant) =>
  ofTenant(db, id).selectFrom("click_tenants").select(["late", "days_until"]).executeTakeFirst();

async function isCondensed({ db }: Sql, { number }: WeekTenant, until: number, daysUntil: number): Promise<boolean> {
  const left = await db
    .selectFrom("click_days")
    .select("start")
    .where("tenant", "=", number)
    .where("start", "<", until)
    .where("until", ">", daysUntil)
    .limit(1)
    .execute();
  return left.length === 0;
}

async function countWeek(sql: Sql, tenant: WeekTenant, week: Week, daysUntil: number): Promise<WeekCounts> {
  const beforeStart = startOf(tenant.zone, "week", week.start - 1);
  const rows = await sql.db
    .selectFrom("click_rollups")
    .select(["start", "until", ...storedCounts, ...storedValues])
    .where("subject", "=", tenant.number)
    .where("grain", "=", grains.day)
    .where("start", ">", beforeStart - longestDayMs)
    .where("start", "<", week.until)
    .where("until", "<=", daysUntil)
    .execute();
  const starts = startsWithin(tenant.zone, "day", week.start, week.until, 7);
  const days = starts.map((start) => ({ start, until: nextStart(tenant.zone, "day", start), clicks: 0 }));
  const [now, before] = [
    { clicks: 0, visitors: 0 },
    { clicks: 0, visitors: 0 },
  ];
  const facts: FactCounts = new Map();
  for (const row of rows) {
    const tally = readTally(row, row.start);
    // By quarters of an hour, and not by rows: after a change of zone, days of the tenant are not days of this week.
    for (const [at, { people, visitors }] of tally.series) {
      const sum = at >= week.start && at < week.until ? now : at >= beforeStart && at < week.start ? before : undefined;
      if (sum === undefined) continue;
      sum.clicks += people;
      sum.visitors += visitors;
      const day = sum === now ? days.find(({ start, until }) => at >= start && at < until) : undefined;
      if (day !== undefined) day.clicks += people;
    }
    const middle = (row.start + row.until) / 2;
    if (middle >= week.start && middle < week.until) addValues(facts, tally.people);
  }
  return {
    days: days.map(({ start, clicks }) => ({ start, clicks })),
    ...now,
    before,
    links: now.clicks === 0 ? [] : await topLinks(sql, tenant, week, daysUntil),
    countries: top(facts, "country"),
    referrers: top(facts, "referrer"),
  };
}

/** The first few, and the others as one, so that they add up. */
function top(facts: FactCounts, dimension: Dimension): CountedValue[] {
  const values = [...(facts.get(dimension) ?? [])].map(([value, { clicks }]) => ({ value, clicks }));
  values.sort(
    (a, b) =>
      Number(a.value === other) - Number(b.value === other) || b.clicks - a.clicks || (a.value < b.value ? -1 : 1),
  );
  const named = values.filter(({ value, clicks }) => value !== other && clicks > 0);
  const shown = named.length + (values.length - named.length) <= valuesShown ? named : named.slice(0, valuesShown - 1);
  const rest = values.reduce((sum, { clicks }) => sum + clicks, 0) - shown.reduce((sum, { clicks }) => sum + clicks, 0);
  return rest > 0 ? [...shown, { value: other, clicks: rest }] : shown;
}

async function topLinks(sql: Sql, tenant: WeekTenant, week: Week, daysUntil: number): Promise<WeekCounts["links"]> {
  const own = ofTenant(sql.db, tenant.id);
  const active = await own
    .selectFrom("click_links as c")
    // A deleted link must take no place: it has no name that could be shown.
    .innerJoin(own.selectFrom("links").select(["number", "domain", "code"]).as("l"), (join) =>
      join.onRef("l.domain", "=", "c.domain").onRef("l.code", "=", "c.code").onRef("l.number", "=", "c.link"),
    )
    .select("c.link")
    .where("c.last_at", ">=", week.start)
    .where("c.clicks", ">", 0)
    .orderBy("c.clicks", "desc")
    .orderBy("c.link")
    .limit(linksMost)
    .execute();
  const sums = new Map<LinkNumber, number>();
  for (let place = 0; place < active.length; place += linksAtOnce) {
    const links = active.slice(place, place + linksAtOnce).map(({ link }) => link);
    const rows = await sql.db
      .selectFrom("click_rollups")
      .select(["subject", "start", "reasons", "series"])
      .where("subject", "in", links)
      .where("grain", "=", grains.day)
      .where("start", ">", week.start - longestDayMs)
      .where("start", "<", week.until)
      .where("until", "<=", daysUntil)
      .execute();
    for (const { subject, start, reasons, series } of rows) {
      for (const [at, { people }] of readCounts({ reasons, series, visitors: 0, itemised: 0 }, start).series) {
        if (at < week.start || at >= week.until) continue;
        sums.set(subject as LinkNumber, (sums.get(subject as LinkNumber) ?? 0) + people);
      }
    }
  }
  return [...sums]
    .map(([link, clicks]) => ({ link, clicks }))
    .filter(({ clicks }) => clicks > 0)
    .toSorted((a, b) => b.clicks - a.clicks || a.link - b.link)
    .slice(0, linksShown);
}
