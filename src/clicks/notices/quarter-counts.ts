import { sql as raw } from "kysely";
import { hitReasons } from "../../redirect/decide.ts";
import { jsonNumberAt } from "../../sql/json-field.ts";
import type { LinkNumber, TenantNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { quarterMs, utcDay } from "../click.ts";
import { everyLevel, shelvesOf } from "../event-shelves.ts";
import { readCounts, readTallyText } from "../rollups/packed.ts";
import { grains } from "../rollups/periods.ts";
import { peopleOf } from "../rollups/tally.ts";

/** Clicks of people by quarter of an hour: from roll-ups of days, and from events since the last one. */
export interface CountedTenant {
  readonly number: TenantNumber;
  /** Days before that are condensed. A day after it may be half done, so its events count. */
  readonly daysUntil: number;
}

export type Quarters = ReadonlyMap<number, number>;

const counted = hitReasons.indexOf("counted");
/** One in eight clicks has such a level. */
const sampleLevels = everyLevel.slice(3);
const sampledOneIn = 8;
const linksAtOnce = 50;
/** No day is longer. */
const longestDayMs = 26 * 3_600_000;

export async function quartersOf(
  sql: Sql,
  tenant: CountedTenant,
  links: readonly LinkNumber[],
  from: number,
  until: number,
): Promise<Map<LinkNumber, Quarters>> {
  const counts = new Map(links.map((link) => [link, new Map<number, number>()]));
  const add = (link: LinkNumber, quarter: number, clicks: number) => {
    const ofLink = counts.get(link);
    if (ofLink === undefined || clicks === 0 || quarter < from || quarter >= until) return;
    ofLink.set(quarter, (ofLink.get(quarter) ?? 0) + clicks);
  };
  for (let place = 0; place < links.length; place += linksAtOnce) {
    const some = links.slice(place, place + linksAtOnce);
    for (const row of await condensedDays(sql, tenant, some, from, until)) {
      const { series } = readCounts({ ...row, itemised: 0, visitors: 0 }, row.start);
      for (const [quarter, { people }] of series) add(row.subject as LinkNumber, quarter, people);
    }
    const since = Math.max(from, tenant.daysUntil);
    if (since >= until) continue;
    for (const { link, quarter, clicks } of await events(sql, tenant, some, since, until)) add(link, quarter, clicks);
    for (const { link, quarter, tally } of await overflow(sql, tenant, some, since, until)) {
      add(link, quarter, peopleOf(readTallyText(tally, quarter)));
    }
  }
  return counts;
}

const condensedDays = (
  { db }: Sql,
  { daysUntil }: CountedTenant,
  links: readonly LinkNumber[],
  from: number,
  until: number,
) =>
  db
    .selectFrom("click_rollups")
    .select(["subject", "start", "reasons", "series"])
    .where("subject", "in", links)
    .where("grain", "=", grains.day)
    .where("start", ">", from - longestDayMs)
    .where("start", "<", until)
    .where("until", "<=", daysUntil)
    .execute();

/** Of these links, or of all. */
function eventsWithin({ db }: Sql, { number }: CountedTenant, from: number, until: number, levels = everyLevel) {
  const first = utcDay(from);
  const days = Array.from({ length: utcDay(until - 1) - first + 1 }, (_, place) => first + place);
  return db
    .selectFrom("clicks")
    .where("day", "in", days)
    .where("tenant", "=", number)
    .where("level", "in", shelvesOf(levels, { from, to: until }))
    .where("at", ">=", from)
    .where("at", "<", until)
    .where("reason", "=", counted);
}

function events(sql: Sql, tenant: CountedTenant, links: readonly LinkNumber[], from: number, until: number) {
  const quarter = raw<number>`at - at % ${raw.lit(quarterMs)}`;
  return eventsWithin(sql, tenant, from, until)
    .select(["link", quarter.as("quarter"), (row) => row.fn.countAll<number>().as("clicks")])
    .where("link", "in", links)
    .groupBy(["link", quarter])
    .execute();
}

const overflowWithin = ({ db }: Sql, { number }: CountedTenant, from: number, until: number) =>
  db
    .selectFrom("click_overflow")
    .where("day", ">=", utcDay(from))
    .where("day", "<=", utcDay(until - 1))
    .where("tenant", "=", number)
    .where("quarter", ">=", from)
    .where("quarter", "<", until);

const overflow = (sql: Sql, tenant: CountedTenant, links: readonly LinkNumber[], from: number, until: number) =>
  overflowWithin(sql, tenant, from, until).select(["link", "quarter", "tally"]).where("link", "in", links).execute();

/** A tenant with fewer sampled clicks is counted fully: its whole day is some hundred thousand rows. */
const fullBelow = 2_500;
const sampledLeast = 2;

/**
 * The links with the most clicks of people in the range, if they have `least`: events and clicks beyond the cap of events together.
 * Events are sampled if the tenant is busy: a link with 50 is overlooked once in 70 times, one with 100 once in 20,000.
 */
export async function busyLinks(
  sql: Sql,
  tenant: CountedTenant,
  from: number,
  until: number,
  least: number,
  most: number,
): Promise<LinkNumber[]> {
  const { sampled } = await eventsWithin(sql, tenant, from, until, sampleLevels)
    .select((row) => row.fn.countAll<number>().as("sampled"))
    .executeTakeFirstOrThrow();
  const [levels, oneIn, atLeast] =
    sampled < fullBelow ? [everyLevel, 1, least] : [sampleLevels, sampledOneIn, sampledLeast * sampledOneIn];
  const counts = eventsWithin(sql, tenant, from, until, levels)
    .select(["link", raw<number | null>`count(*) * ${raw.lit(oneIn)}`.as("clicks")])
    .groupBy("link")
    .unionAll(overflowWithin(sql, tenant, from, until).select(["link", overflowPeople(sql).as("clicks")]));
  const rows = await sql.db
    .selectFrom(counts.as("counts"))
    .select("link")
    .groupBy("link")
    .having((row) => row.fn.sum("clicks"), ">=", atLeast)
    .orderBy((row) => row.fn.sum("clicks"), "desc")
    .orderBy("link")
    .limit(most)
    .execute();
  return rows.map(({ link }) => link);
}

/** As `StoredOverflow` has them. The older form has none: such rows are gone an hour after an upgrade. */
const overflowPeople = (sql: Sql) => jsonNumberAt(sql, "tally", [0, counted]);
