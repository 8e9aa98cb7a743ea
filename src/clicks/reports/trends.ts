import { Problem } from "../../base/errors.ts";
import type { LinkId, TenantId } from "../../base/ids.ts";
import type { LinkNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { tenantNumberOf } from "../../tenants/tenant-number.ts";
import { quartersOf } from "../notices/quarter-counts.ts";
import { readCounts } from "../rollups/packed.ts";
import { grains } from "../rollups/periods.ts";
import { daysKeptFrom } from "./counts.ts";
import type { Span } from "./query.ts";
import { longestMs } from "./rollup-rows.ts";
import { clickSettings } from "./scope.ts";
import { startsWithin } from "./zones.ts";

/** Clicks of people by day, of several links at once: for the small charts of a list. */
export interface LinkTrends extends Span {
  /** Where each day of the zone begins; the first where the range does. */
  readonly starts: readonly number[];
  readonly links: readonly LinkTrend[];
}

export interface LinkTrend {
  readonly id: LinkId;
  readonly clicks: number;
  /** By day. */
  readonly series: readonly number[];
}

export interface TrendQuery extends Span {
  readonly ids: readonly LinkId[];
  readonly zone: string;
  readonly now: number;
}

/** A small chart has no room for more; a day of a link is one row to read. */
export const trendDaysMost = 100;
const attemptsMost = 3;

/** Links that do not exist are left out. */
export async function trendsOf(sql: Sql, tenant: TenantId, query: TrendQuery): Promise<LinkTrends> {
  const { ids, from, to, zone, now } = query;
  const starts = startsWithin(zone, "day", from, to, trendDaysMost);
  if (ids.length === 0) return { from, to, starts, links: [] };
  const rows = await ofTenant(sql.db, tenant)
    .selectFrom("links")
    .select(["id", "number"])
    .where("id", "in", ids)
    .execute();
  const number = await tenantNumberOf(sql.db, tenant);
  const numbers = rows.map((row) => row.number);
  for (let attempt = 1; attempt <= attemptsMost; attempt++) {
    const { condensedUntil: daysUntil } = await clickSettings(sql, tenant);
    const quarters = await quartersOf(sql, { number, daysUntil }, numbers, from, to);
    const oldDays = from < daysKeptFrom(now) ? await daysOfMonths(sql, numbers, query) : [];
    for (const { link, start, people } of oldDays)
      quarters.set(link, new Map([...(quarters.get(link) ?? []), [start, people]]));
    // A late click may have deleted a roll-up meanwhile.
    if ((await clickSettings(sql, tenant)).condensedUntil < daysUntil) continue;
    const found = new Map(rows.map((row) => [row.id, quarters.get(row.number) ?? new Map<number, number>()]));
    const links = ids.flatMap((id) => {
      const counts = found.get(id);
      return counts === undefined ? [] : [{ id, ...byDay(starts, counts) }];
    });
    return { from, to, starts, links };
  }
  throw new Problem("busy", "These clicks are being counted again. Try again shortly.", { retryAfterSeconds: 5 });
}

/** Days whose own roll-ups are gone: their months know how many clicks each of them had. A day counts where it begins. */
async function daysOfMonths({ db }: Sql, links: readonly LinkNumber[], { from, to }: Span) {
  const rollups = (grain: number, since: number) =>
    db
      .selectFrom("click_rollups")
      .where("subject", "in", links)
      .where("grain", "=", grain)
      .where("start", ">=", since)
      .where("start", "<", to);
  const months = await rollups(grains.month, from - longestMs)
    .select(["subject", "start", "reasons", "series"])
    .execute();
  if (months.length === 0) return [];
  const days = await rollups(grains.day, from).select(["subject", "start"]).execute();
  const kept = new Set(days.map(({ subject, start }) => `${subject} ${start}`));
  return months.flatMap(({ subject, start: begin, reasons, series }) =>
    [...readCounts({ reasons, series, visitors: 0, itemised: 0 }, begin).series]
      .filter(([start]) => start >= from && start < to && !kept.has(`${subject} ${start}`))
      .map(([start, { people }]) => ({ link: subject as LinkNumber, start, people })),
  );
}

function byDay(starts: readonly number[], quarters: ReadonlyMap<number, number>): Omit<LinkTrend, "id"> {
  const series = starts.map(() => 0);
  let clicks = 0;
  for (const [at, count] of quarters) {
    let place = starts.length - 1;
    while (place > 0 && (starts[place] ?? 0) > at) place--;
    series[place] = (series[place] ?? 0) + count;
    clicks += count;
  }
  return { clicks, series };
}
