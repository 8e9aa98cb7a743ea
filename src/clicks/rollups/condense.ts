import { dayMs } from "../../base/clock.ts";
import type { GroupNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { none, quarterMs } from "../click.ts";
import { everyLevel, partMs, shelvesOf } from "../event-shelves.ts";
import { readTagList } from "../events/tag-list.ts";
import { condenseCalendar } from "./calendar.ts";
import {
  activeLinks,
  type CountedRange,
  countPage,
  type GroupSums,
  pagesOfLinks,
  type SubjectCounts,
  talliesOf,
} from "./count.ts";
import { type ClickPeriod, leastClicks, partsKeptDays, settledMs } from "./periods.ts";
import { isAhead, takeBack } from "./take-back.ts";
import { clicksOf, type Tally } from "./tally.ts";
import type { ValueNames } from "./value-names.ts";
import { type CondensedTenant, type Progress, replaceRollups, type Subject } from "./write-rollups.ts";

/**
 * Condenses a tenant's clicks: ended parts of a day of busy links and groups, then its days, then its weeks, months and quarter years. A period is
 * replaced as a whole from what lies below it: parts and days from events and overflow, weeks and months from days, quarter years from months.
 *
 * It goes in chunks: each reads and counts some links without a lock, and writes their rows in one short transaction. The
 * sums of groups are kept in memory and written last, with the tenant's progress. A process that is killed in between has
 * written rows of complete links, and the next one begins the period again and replaces them by the same rows.
 *
 * A chunk whose transaction finds that late clicks came in since the start (`late` was raised) writes nothing and ends the
 * tenant's round. The next round begins again from its progress, which the late clicks have set back if they had to.
 *
 * Each value that the generator yields is the number of events of a chunk. Its caller lets tenants take turns.
 */
export async function* condenseTenant(
  sql: Sql,
  tenant: CondensedTenant,
  names: ValueNames,
  now: number,
): AsyncGenerator<number, void> {
  const settled = now - settledMs;
  if (isAhead(tenant, now)) {
    await takeBack(sql, tenant, now);
    return;
  }
  if (!(yield* condenseParts(sql, tenant, names, settled))) return;
  const days = await endedDays(sql, tenant, settled);
  let daysUntil = tenant.daysUntil;
  for (const { start, until } of days) {
    const period: ClickPeriod = { grain: "day", start, until };
    if (!(yield* condensePeriod(sql, tenant, names, period, { least: 1, progress: { days_until: until } }))) return;
    daysUntil = until;
  }
  yield* condenseCalendar(sql, tenant, "week", { settled, belowUntil: daysUntil });
  const monthsUntil = yield* condenseCalendar(sql, tenant, "month", { settled, belowUntil: daysUntil });
  yield* condenseCalendar(sql, tenant, "quarterYear", { settled, belowUntil: monthsUntil });
}

/** A run that catches up after a long time does not hold all days of a tenant. */
const daysAtOnce = 100;

const endedDays = ({ db }: Sql, { number, daysUntil }: CondensedTenant, settled: number) =>
  db
    .selectFrom("click_days")
    .select(["start", "until"])
    .where("tenant", "=", number)
    .where("until", ">", daysUntil)
    .where("until", "<=", settled)
    .orderBy("start")
    .limit(daysAtOnce)
    .execute();

/**
 * The quarters of an hour since the last three hours that are over, and these as a whole: what a report reads from events is at most the
 * last twenty minutes of a busy link or group, and it has at most eleven rows of quarters.
 */
async function* condenseParts(
  sql: Sql,
  tenant: CondensedTenant,
  names: ValueNames,
  settled: number,
): AsyncGenerator<number, boolean> {
  const end = settled - (settled % quarterMs);
  const begin = Math.max(tenant.partsUntil, end - partsKeptDays * dayMs);
  const days = await sql.db
    .selectFrom("click_days")
    .select(["start", "until"])
    .where("tenant", "=", tenant.number)
    .where("until", ">", begin)
    .where("start", "<", end)
    .orderBy("start")
    .execute();
  const last = days.at(-1);
  if (last === undefined || begin >= end) return true;
  for (const [start, until] of partsWithin(days, begin, end)) {
    const period: ClickPeriod = { grain: "part", start, until };
    const least = until - start === partMs ? leastClicks.part : leastClicks.quarter;
    if (!(await isBusy(sql, { tenant: tenant.number, from: start, until }, least))) continue;
    if (!(yield* condensePeriod(sql, tenant, names, period, { least, progress: { hours_until: until } }))) return false;
  }
  const hours_until = Math.min(end, Math.ceil(last.until / quarterMs) * quarterMs);
  return replaceRollups(sql, tenant, { period: emptyPeriod, tallies: new Map(), progress: { hours_until } });
}

const emptyPeriod: ClickPeriod = { grain: "part", start: 0, until: 0 };

/** The parts of a day that touch one of these days: starts and ends, in order. Those that began before `begin` are replaced as a whole. */
function partsWithin(
  days: readonly { start: number; until: number }[],
  begin: number,
  end: number,
): Map<number, number> {
  const parts = new Map<number, number>();
  for (const { start, until } of days) {
    for (let at = Math.max(begin, start); at < Math.min(until, end); ) {
      const part = at - (at % partMs);
      const isOver = part + partMs <= end;
      const from = isOver ? part : at - (at % quarterMs);
      at = isOver ? part + partMs : from + quarterMs;
      parts.set(from, at);
    }
  }
  return parts;
}

/** Whether the tenant itself has enough clicks for a roll-up: if not, no link has. */
async function isBusy({ db }: Sql, { tenant, from, until }: CountedRange, least: number): Promise<boolean> {
  const day = Math.floor(from / dayMs);
  const overflow = await db
    .selectFrom("click_overflow")
    .select("link")
    .where("day", "=", day)
    .where("tenant", "=", tenant)
    .where("quarter", ">=", from)
    .where("quarter", "<", until)
    .limit(1)
    .execute();
  if (overflow.length > 0) return true;
  const some = db
    .selectFrom("clicks")
    .select("link")
    .where("day", "=", day)
    .where("tenant", "=", tenant)
    .where("level", "in", shelvesOf(everyLevel, { from, to: until }))
    .where("at", ">=", from)
    .where("at", "<", until)
    .limit(least);
  const { clicks } = await db
    .selectFrom(some.as("some"))
    .select((row) => row.fn.countAll<number>().as("clicks"))
    .executeTakeFirstOrThrow();
  return clicks === least;
}

interface PeriodSettings {
  /** Links and groups with fewer clicks get no row. */
  readonly least: number;
  readonly progress: Progress;
}

/** A busy one takes 10 to 20 ms to pack. */
const groupsAtOnce = 4;

/** False if late clicks came in. */
async function* condensePeriod(
  sql: Sql,
  tenant: CondensedTenant,
  names: ValueNames,
  period: ClickPeriod,
  { least, progress }: PeriodSettings,
): AsyncGenerator<number, boolean> {
  const range: CountedRange = { tenant: tenant.number, from: period.start, until: period.until };
  const groups = await groupSums(sql, tenant, names);
  const write = (tallies: ReadonlyMap<Subject, Tally>, progress?: Progress) =>
    replaceRollups(sql, tenant, { period, tallies: busyOnes(tallies, least), ...(progress && { progress }) });
  for (let after = 0; ; ) {
    const { links, isEnd } = await activeLinks(sql, range, after);
    for (const page of pagesOfLinks(links)) {
      const counted = await countPage(sql, range, page, groups);
      if (!(await write(await talliesOf(counted.links, names)))) return false;
      yield counted.events;
    }
    const last = links.at(-1);
    if (last === undefined || isEnd) break;
    after = last.link;
  }
  const sums = [...groups.sums];
  for (let at = 0; at < sums.length; at += groupsAtOnce) {
    if (!(await write(await talliesOf(new Map(sums.slice(at, at + groupsAtOnce)), names)))) return false;
    yield 0;
  }
  return write(new Map(), progress);
}

const busyOnes = (tallies: ReadonlyMap<Subject, Tally>, least: number): Map<Subject, Tally> =>
  new Map([...tallies].filter(([, tally]) => clicksOf(tally) >= least));

async function groupSums({ db }: Sql, tenant: CondensedTenant, names: ValueNames): Promise<GroupSums> {
  const rows = await ofTenant(db, tenant.id)
    .selectFrom("click_groups")
    .select(["name", "number"])
    .where("kind", "=", "tag")
    .execute();
  const ofName = new Map(rows.map(({ name, number }) => [name, number]));
  const known = new Map<number, readonly GroupNumber[]>();
  return {
    sums: new Map<GroupNumber, SubjectCounts>(),
    async prepare(tags) {
      const missing = [...tags].filter((id) => !known.has(id));
      await names.load(missing);
      for (const id of missing) known.set(id, groupsNamed(names.of(id), ofName));
    },
    ofTags: (tags) => known.get(tags) ?? [],
  };
}

const groupsNamed = (list: string | undefined, ofName: ReadonlyMap<string, GroupNumber>): GroupNumber[] =>
  [...new Set(readTagList(list ?? none))].flatMap((tag) => ofName.get(tag) ?? []);
