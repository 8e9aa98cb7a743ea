/** Fills a database with a year of clicks (`world.ts`), and measures what they take on disk. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { CompiledQuery, sql as raw } from "kysely";
import { dayMs, systemClock } from "../../src/base/clock.ts";
import type { TenantId } from "../../src/base/ids.ts";
import { quarterMs } from "../../src/clicks/click.ts";
import { partMs } from "../../src/clicks/event-shelves.ts";
import { type PackedTally, writeTally } from "../../src/clicks/rollups/packed.ts";
import { grains, leastClicks, longKeptWeek, partsKeptDays, weeksKeptDays } from "../../src/clicks/rollups/periods.ts";
import { addTally, clicksOf, newTally, peopleOf, type Tally } from "../../src/clicks/rollups/tally.ts";
import { migrate } from "../../src/sql/migrate.ts";
import { createPartitions } from "../../src/sql/partitions.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { openSqlite } from "../../src/sql/sqlite.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand } from "../../test/ground/actors.ts";
import type { Databases } from "../../test/ground/postgres.ts";
import { tempFolder } from "../../test/ground/temp.ts";
import { writeLinks } from "../many-links.ts";
import type { Database } from "../subject.ts";
import { openDatabase } from "../subject.ts";
import { domainNumber, makeEvents, tenantNumber } from "./make-events.ts";
import { createCopies, makeTally } from "./make-rollups.ts";
import { firstId, randomOf, shareBefore, storedValues } from "./spread.ts";
import { postgresStore, type RollupRow, type RowStore, sqliteStore } from "./store.ts";
import {
  eventDays,
  firstDay,
  linkSpread,
  linksOfTenant,
  monthStart,
  now,
  otherTenants,
  partsUntil,
  quarterYearStart,
  shareOfLink,
  tenantClicksOfDay,
  today,
  weekStart,
} from "./world.ts";

export interface Filled {
  readonly database: Database;
  readonly clicks: number;
  readonly sql: Sql;
  readonly tenant: TenantId;
  /** The file or address of the database. */
  readonly where: string;
  readonly events: number;
  readonly bytes: { readonly events: number; readonly rollups: number };
}

/** The links that are reported on: the busiest, and one with a hundredth of its clicks. */
export const reportedLinks = { busiest: 1, quiet: 100 } as const;

/** Roll-ups of the other links: every so many links has them. A report on one link never reads those of another. */
export const rollupsOfEvery = 10;

interface Opened {
  readonly database: Database;
  readonly sql: Sql;
  readonly store: RowStore;
  readonly path: string | undefined;
  readonly where: string;
  readonly tenant: TenantId;
  /** The statement that makes the index of events. */
  readonly index: string;
}

/** Both databases at once: the clicks are drawn once. */
export async function fill(
  clicks: number,
  databases: readonly Database[],
  postgres: Databases,
  tell: (text: string) => void,
): Promise<Filled[]> {
  const opened: Opened[] = [];
  for (const database of databases) opened.push(await prepare(database, postgres));
  const random = randomOf(clicks);
  const empty = fileBytes(opened);
  let events = 0;
  for (let day = today - eventDays; day <= today; day++) {
    tell(`${clicks.toLocaleString("en-US")} clicks: events of day ${day - today + eventDays} of ${eventDays}`);
    events += await makeEvents({ clicks, day, random }, (rows, count) => {
      for (const { store } of opened) store.events(rows, count);
    });
    for (const { store } of opened) await store.flush();
  }
  const partly = fileBytes(opened);
  await writeRollups(
    clicks,
    random,
    (row) => {
      for (const { store } of opened) store.rollup(row);
    },
    async (done) => {
      tell(`${clicks.toLocaleString("en-US")} clicks: roll-ups, ${Math.round(done * 100)} %`);
      for (const { store } of opened) await store.flush();
    },
  );
  const full = fileBytes(opened);
  return await Promise.all(
    opened.map(async ({ database, sql, store, path, where, tenant, index }, place) => {
      await store.close();
      const filled = { database, clicks, tenant, where, events };
      if (path !== undefined) {
        const [none = 0, some = 0, all = 0] = [empty, partly, full].map((bytes) => bytes[place]);
        return { ...filled, sql: openSqlite(path), bytes: { events: some - none, rollups: all - some } };
      }
      await finish(sql, index);
      const bytes = {
        events: await relationBytes(sql, "^clicks_"),
        rollups: await relationBytes(sql, "^click_rollups$"),
      };
      return { ...filled, sql, bytes };
    }),
  );
}

async function prepare(database: Database, postgres: Databases): Promise<Opened> {
  const path = database === "sqlite" ? join(tempFolder("clicks"), "clicks.sqlite") : undefined;
  const where = path ?? (await postgres.createDatabase("clicks"));
  const sql = path === undefined ? openDatabase(where) : openSqlite(path, "normal");
  await migrate(sql);
  const tenants = createTenants(sql, systemClock);
  const ids: TenantId[] = [];
  for (let n = 0; n <= otherTenants; n++) ids.push((await tenants.create(`bench-${n}`, `Bench ${n}`, byCommand)).id);
  const [tenant] = ids;
  if (tenant === undefined) throw new Error("no tenant was made");
  await writeLinks(sql, tenant, 0, linksOfTenant);
  await writeSmallTables(sql, ids);
  if (database === "postgres") {
    for (let day = today - eventDays; day <= today + 14; day += 14) await createPartitions(sql, day);
    // Made again when all rows are there, which is faster.
    const found = await raw<{ index: string }>`select pg_get_indexdef('clicks_in_order'::regclass) as index`.execute(
      sql.db,
    );
    const index = found.rows[0]?.index.replace(" ON ONLY ", " ON ") ?? "";
    await run(sql, "drop index clicks_in_order");
    return { database, sql, store: postgresStore(sql), path, where, tenant, index };
  }
  await sql.close();
  return { database, sql, store: sqliteStore(path ?? ""), path, where, tenant, index: "" };
}

async function writeSmallTables(sql: Sql, ids: readonly TenantId[]): Promise<void> {
  await sql.transaction(async (trx) => {
    for (const [place, id] of ids.entries()) {
      const { rows } = await raw<{ number: number }>`select number from tenants where id = ${id}`.execute(trx);
      if (Number(rows[0]?.number) !== tenantNumber(place))
        throw new Error("the numbers of tenants are not as expected");
      await raw`insert into click_tenants
        (tenant_id, zone, facts, event_days, late, hours_until, days_until, weeks_until, months_until, quarter_years_until, events_from)
        values (${id}, 'UTC', 1, null, 0, ${partsUntil}, ${today * dayMs}, ${weekStart * dayMs}, ${monthStart}, ${quarterYearStart}, ${(today - eventDays) * dayMs})`.execute(
        trx,
      );
      for (let day = firstDay; day <= today; day++) {
        await raw`insert into click_days (tenant, start, until, salt)
          values (${tenantNumber(place)}, ${day * dayMs}, ${(day + 1) * dayMs}, null)`.execute(trx);
      }
    }
    for (const [place, id] of ids.entries()) {
      await raw`insert into click_groups (tenant_id, kind, name) values (${id}, 'domain', '')`.execute(trx);
      const { rows } = await raw<{ number: number }>`select number from click_groups where tenant_id = ${id}`.execute(
        trx,
      );
      if (Number(rows[0]?.number) !== domainNumber(place)) throw new Error("the numbers of groups are not as expected");
    }
    for (let at = 0; at < storedValues.length; at += 500) {
      const rows = storedValues
        .slice(at, at + 500)
        .map(
          ({ dimension, value, isOfTenant }) =>
            raw`(${isOfTenant ? tenantNumber(0) : 0}, ${dimension}, ${value}, ${today})`,
        );
      await raw`insert into click_values (tenant, dimension, value, seen_day) values ${raw.join(rows)}`.execute(trx);
    }
    await raw`insert into click_links (link, tenant_id, domain, code, clicks, first_at, last_at)
      select number, tenant_id, domain, code, 1000, 0, ${now} from links`.execute(trx);
  });
  const { rows } = await raw<{ id: number; value: string }>`select id, value from click_values where id >= ${firstId}
    order by id desc limit 1`.execute(sql.db);
  const last = storedValues.at(-1);
  if (rows[0]?.value !== last?.value || Number(rows[0]?.id) !== firstId + storedValues.length - 1) {
    throw new Error("the ids of values are not as expected");
  }
}

/** Days, weeks and months of all links, and the parts of the last days of those that are reported on. */
async function writeRollups(
  clicks: number,
  random: () => number,
  write: (row: RollupRow) => void,
  flush: (done: number) => Promise<void>,
): Promise<void> {
  const groups = [tenantNumber(0), domainNumber(0)];
  const reported = [
    ...groups.map((subject) => ({ subject, share: 1 })),
    ...Object.values(reportedLinks).map((link) => ({ subject: link, share: shareOfLink(link) })),
  ];
  for (const { subject, share } of reported) writeReported(clicks, subject, share, random, write);
  const days = createCopies(random);
  const ofMonth = createCopies(random, 30);
  const ofQuarterYear = createCopies(random, 90);
  const periods = calendarOfYear();
  for (let link = rollupsOfEvery; link <= linksOfTenant; link += rollupsOfEvery) {
    if (Object.values(reportedLinks).some((one) => one === link)) continue;
    const share = shareOfLink(link);
    const clicksOfDays: number[] = [];
    for (let day = firstDay; day < today; day++) {
      // About as many as a Poisson draw would give: the fraction is a chance.
      const expected = tenantClicksOfDay(clicks, day) * share;
      const some = Math.floor(expected + (random() % 1_000) / 1_000);
      clicksOfDays.push(some);
      if (some > 0) write(rowOf(link, grains.day, day, day + 1, days(some)));
    }
    for (const { grain, least, start, until } of periods) {
      const some = clicksOfDays
        .slice(Math.max(0, start - firstDay), until - firstDay)
        .reduce((sum, one) => sum + one, 0);
      if (some >= least) write(rowOf(link, grain, start, until, (until - start > 31 ? ofQuarterYear : ofMonth)(some)));
    }
    if (link % 500 === 0) await flush(link / linksOfTenant);
  }
  await flush(1);
}

function writeReported(
  clicks: number,
  subject: number,
  share: number,
  random: () => number,
  write: (row: RollupRow) => void,
): void {
  const links = subject < 0 ? linkSpread : undefined;
  const periods = calendarOfYear().map((period) => ({ ...period, sum: newTally() }));
  for (let day = firstDay; day < today; day++) {
    const start = day * dayMs;
    const some = Math.round(tenantClicksOfDay(clicks, day) * share);
    if (some === 0) continue;
    const tally = makeTally(some, { start, links }, random);
    write(rowOf(subject, grains.day, day, day + 1, writeTally(tally, start)));
    for (const period of periods) {
      if (period.start > day || period.until <= day) continue;
      addTally(period.sum, { ...tally, series: new Map([[start, totalOf(tally)]]) });
    }
  }
  for (const { grain, least, start, until, sum } of periods) {
    if (clicksOf(sum) >= least) write(rowOf(subject, grain, start, until, writeTally(sum, start * dayMs)));
  }
  for (let start = (today - partsKeptDays) * dayMs; start < partsUntil; ) {
    const isOver = start + partMs <= partsUntil;
    const until = start + (isOver ? partMs : quarterMs);
    const day = Math.floor(start / dayMs);
    const [first, last] = [(start - day * dayMs) / quarterMs, (until - day * dayMs) / quarterMs];
    const part = shareBefore(last) - shareBefore(first);
    const some = Math.round(tenantClicksOfDay(clicks, day) * share * part);
    if (some >= (isOver ? leastClicks.part : leastClicks.quarter)) {
      const tally = makeTally(some, { start, first, last, links }, random);
      write(rowOf(subject, grains.part, 0, 0, writeTally(tally, start)).with(2, start).with(3, until));
    }
    start = until;
  }
}

const totalOf = (tally: Tally) => {
  const people = peopleOf(tally);
  return { people, visitors: tally.visitors, rest: clicksOf(tally) - people };
};

const rowOf = (
  subject: number,
  grain: number,
  from: number,
  to: number,
  { reasons, visitors, itemised, series, facts, packed, names, people_bytes }: PackedTally,
): RollupRow => [
  ...[subject, grain, from * dayMs, to * dayMs, reasons, visitors, itemised, series],
  ...[facts, packed ?? "", names ?? "", people_bytes],
];

interface CalendarPeriod {
  readonly grain: number;
  /** Fewer clicks get no row. */
  readonly least: number;
  /** Days. */
  readonly start: number;
  readonly until: number;
}

/** The months and quarter years that lie in the year as a whole, and the rest of the first one; and its weeks. */
function calendarOfYear(): CalendarPeriod[] {
  const periods: CalendarPeriod[] = [];
  const date = new Date(firstDay * dayMs);
  let quarterStart: number | undefined;
  for (let n = 0; n <= 12; n++) {
    const [start, until] = [0, 1].map(
      (more) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + n + more, 1) / dayMs,
    );
    if (start === undefined || until === undefined || until * dayMs > monthStart) continue;
    periods.push({ grain: grains.month, least: leastClicks.month, start, until });
    quarterStart ??= start;
    if (new Date(until * dayMs).getUTCMonth() % 3 !== 0) continue;
    periods.push({ grain: grains.quarterYear, least: leastClicks.quarterYear, start: quarterStart, until });
    quarterStart = undefined;
  }
  for (let until = weekStart; until > firstDay; until -= 7) {
    const least = until > today - weeksKeptDays ? leastClicks.week : longKeptWeek;
    periods.push({ grain: grains.week, least, start: until - 7, until });
  }
  return periods;
}

async function finish(sql: Sql, index: string): Promise<void> {
  await run(sql, "set maintenance_work_mem = '1GB'");
  await run(sql, index);
  await run(sql, "vacuum (analyze)");
}

const fileBytes = (opened: readonly Opened[]): number[] =>
  opened.map(({ path }) => (path === undefined ? 0 : statSync(path).size));

/** With their indexes. */
async function relationBytes(sql: Sql, names: string): Promise<number> {
  const { rows } = await raw<{ bytes: number }>`select sum(pg_total_relation_size(oid)) as bytes from pg_class
    where relkind = 'r' and relname ~ ${names}`.execute(sql.db);
  return Number(rows[0]?.bytes);
}

const run = (sql: Sql, text: string) => sql.db.executeQuery(CompiledQuery.raw(text));
