import { dayMs } from "../../base/clock.ts";
import type { LinkNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { other } from "../click.ts";
import { addStoredValues, storedValues } from "../rollups/packed.ts";
import { grains } from "../rollups/periods.ts";
import { newTally } from "../rollups/tally.ts";
import type { NoticeSources, NoticeTenant } from "./find-notices.ts";
import { namesOf } from "./link-names.ts";
import { dropDayLeast, dropDays, dropWindowMs, median } from "./unusual.ts";

/**
 * The links in which a drop is looked for: those with the most clicks on a usual day of the week before. That does not depend on
 * what a link has now, so one that has just stopped keeps its place.
 *
 * The roll-up of a tenant's day has its 300 most clicked links, so this reads seven rows, however many links and clicks there
 * are. A link that is not among them on half of the days is left out. While no day of the week is condensed, there are no links:
 * ranking them by events or totals instead would add work when the server is behind already.
 *
 * The usual is the median of the days: a link with one great day is not steady, and must not take the place of one that is.
 */
export async function steadyLinks(
  { sql, baseUrl }: NoticeSources,
  tenant: NoticeTenant,
  until: number,
  most: number,
): Promise<LinkNumber[]> {
  const days = await clicksByDay(sql, tenant, until - dropWindowMs - dropDays * dayMs);
  const usual = [...new Set(days.flatMap((day) => [...day.keys()]))]
    .map((link) => ({ link, clicks: median(days.map((day) => day.get(link) ?? 0)) }))
    .filter(({ clicks }) => clicks >= usualLeast)
    .toSorted((a, b) => b.clicks - a.clicks || a.link - b.link)
    .map(({ link }) => link);
  // Of a link that was deleted or disabled, no drop is told.
  const names = await namesOf(sql, tenant.id, usual, baseUrl, until);
  return usual.filter((link) => names.has(link)).slice(0, most);
}

/** Half of what the judge requires: its days begin at another hour than the tenant's. */
const usualLeast = dropDayLeast / 2;

async function clicksByDay({ db }: Sql, { number, daysUntil }: NoticeTenant, from: number) {
  const rows = await db
    .selectFrom("click_rollups")
    .select(storedValues)
    .where("subject", "=", number)
    .where("grain", "=", grains.day)
    .where("start", ">=", from)
    .where("until", "<=", daysUntil)
    .execute();
  return rows.map((row) => {
    const { people, rest } = newTally();
    addStoredValues({ people, rest }, row, { dimensions: ["link"], rest: false });
    const links = [...(people.get("link") ?? [])].filter(([value]) => value !== other);
    return new Map(links.map(([value, { clicks }]) => [Number(value) as LinkNumber, clicks]));
  });
}
