/** Tenants with clicks in the database, and a slow exact reckoning of what their roll-ups must be. */

import { manualClock } from "../../src/base/clock.ts";
import type { TenantId } from "../../src/base/ids.ts";
import {
  type Dimension,
  dimensions,
  firstToLink,
  firstToTenant,
  isPerson,
  none,
  other,
  quarterMs,
  quarterOf,
  tooLate,
  utcDay,
} from "../../src/clicks/click.ts";
import { partMs, shelfOf } from "../../src/clicks/event-shelves.ts";
import { naturalDay, naturalStart } from "../../src/clicks/events/days.ts";
import {
  addOverflowValue,
  newOverflowTally,
  type OverflowTally,
  trimOverflow,
} from "../../src/clicks/events/overflow-tally.ts";
import { overflowText } from "../../src/clicks/events/overflow-text.ts";
import { readTally, writeTally, writeTallyText } from "../../src/clicks/rollups/packed.ts";
import { type Grain, grains, leastClicks } from "../../src/clicks/rollups/periods.ts";
import {
  addClick,
  addTally,
  addValue,
  clicksOf,
  newTally,
  peopleOf,
  type Tally,
} from "../../src/clicks/rollups/tally.ts";
import type { GroupNumber, LinkNumber, TenantNumber } from "../../src/sql/schema.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants, ofTenant, type Trx } from "../../src/sql/tenant-db.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";

export interface TestClick {
  readonly link: LinkNumber;
  readonly domain: string;
  readonly tags: readonly string[];
  readonly at: number;
  readonly reason: number;
  readonly first: number;
  readonly facts: Readonly<Record<Dimension, string>>;
  /** False: it is counted in an overflow row. */
  readonly itemised: boolean;
}

export interface ClickTenant {
  readonly id: TenantId;
  readonly number: TenantNumber;
  readonly zone: string;
  readonly clicks: TestClick[];
  /** Of domains and tags, as `domain name` and `tag name`. */
  readonly groups: ReadonlyMap<string, GroupNumber>;
}

export const domains = ["", "go.example"] as const;
export const groupedTags = ["spring", "summer"] as const;

/** A generator of numbers below 1 that is the same on every run. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** So that a purge at any time leaves them alone. */
const neverUnused = 100_000;
let seq = 0;
let links = 1_000;
export const newLink = (): LinkNumber => ++links as LinkNumber;

export async function createClickTenant(sql: Sql, slug: string, zone: string): Promise<ClickTenant> {
  const { id } = await createTenants(sql, manualClock(Date.UTC(2026, 0, 1))).create(slug, slug, byCommand);
  const { number } = await sql.db.selectFrom("tenants").select("number").where("id", "=", id).executeTakeFirstOrThrow();
  const own = ofTenant(sql.db, id);
  const settings = {
    zone,
    facts: 1,
    event_days: null,
    late: 0,
    hours_until: 0,
    days_until: 0,
    months_until: 0,
  } as const;
  await own.insertInto("click_tenants").values(settings).execute();
  await own
    .insertInto("click_groups")
    .values([
      ...domains.map((name) => ({ kind: "domain" as const, name })),
      ...groupedTags.map((name) => ({ kind: "tag" as const, name })),
    ])
    .execute();
  const rows = await own.selectFrom("click_groups").select(["kind", "name", "number"]).execute();
  const groups = new Map(rows.map(({ kind, name, number }) => [`${kind} ${name}`, number]));
  return { id, number, zone, clicks: [], groups };
}

/** The days that were asked for before: each takes some formatting of dates. */
const knownDays = new Map<string, ReturnType<typeof naturalDay>[]>();

function dayIn(zone: string, at: number): ReturnType<typeof naturalDay> {
  const known = knownDays.get(zone) ?? [];
  knownDays.set(zone, known);
  let day = known.find(({ start, until }) => start <= at && at < until);
  if (day === undefined) {
    day = naturalDay(at, zone);
    known.push(day);
  }
  return day;
}

/** Stores clicks as the writer does, except for what it learns about visitors. */
export async function storeClicks(sql: Sql, tenant: ClickTenant, clicks: readonly TestClick[]): Promise<void> {
  await sql.transaction((trx) => storeWithin(trx, tenant, clicks));
  tenant.clicks.push(...clicks);
}

/** The same for clicks that are late: the tenant is locked, and what was condensed with them is taken back. */
export async function storeLate(sql: Sql, tenant: ClickTenant, clicks: readonly TestClick[]): Promise<void> {
  await sql.transaction(async (trx) => {
    const own = ofTenant(trx, tenant.id);
    const columns = ["late", "hours_until", "days_until", "weeks_until", "months_until"] as const;
    const row = await sql.forUpdate(own.selectFrom("click_tenants").select(columns)).executeTakeFirstOrThrow();
    let progress = { ...row, late: row.late + clicks.length };
    await storeWithin(trx, tenant, clicks);
    for (const click of clicks) {
      const day = dayIn(tenant.zone, click.at);
      progress = {
        ...progress,
        hours_until: Math.min(progress.hours_until, quarterOf(click.at)),
        days_until: Math.min(progress.days_until, day.start),
        weeks_until: Math.min(progress.weeks_until, naturalStart.week(click.at, tenant.zone)),
        months_until: Math.min(progress.months_until, naturalStart.month(click.at, tenant.zone)),
      };
      await trx
        .deleteFrom("click_rollups")
        .where("subject", "in", subjectsOf(tenant, click))
        .where("start", "<=", click.at)
        .where("until", ">", click.at)
        .execute();
    }
    await own.updateTable("click_tenants").set(progress).execute();
  });
  tenant.clicks.push(...clicks);
}

const subjectsOf = (tenant: ClickTenant, { link, domain, tags }: TestClick): (LinkNumber | GroupNumber)[] => [
  link,
  tenant.number,
  ...[`domain ${domain}`, ...tags.map((tag) => `tag ${tag}`)].flatMap((name) => tenant.groups.get(name) ?? []),
];

/** Every tenth click was stored before low levels had parts. */
function shelfIn(seq: number, at: number): number {
  const level = Math.min(12, Math.clz32(((seq * 2_654_435_761) >>> 0) | 1));
  return seq % 10 === 0 ? level : shelfOf(level, at);
}

async function storeWithin(trx: Trx, tenant: ClickTenant, clicks: readonly TestClick[]): Promise<void> {
  const ids = await valueIds(trx, tenant, clicks);
  const idOf = (dimension: string, value: string) => ids.get(`${dimension} ${value}`) ?? Number.NaN;
  const days = new Map(clicks.map(({ at }) => dayIn(tenant.zone, at)).map((day) => [day.start, day]));
  for (const { start, until } of days.values()) {
    const row = { tenant: tenant.number, start, until, salt: null };
    await trx
      .insertInto("click_days")
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  const placeOf = (click: TestClick) => ({
    day: utcDay(click.at),
    tenant: tenant.number,
    link: click.link,
    domain: tenant.groups.get(`domain ${click.domain}`) as GroupNumber,
    tags: idOf("tags", tagListOf(click)),
  });
  const events = clicks
    .filter(({ itemised }) => itemised)
    .map((click) => ({
      ...placeOf(click),
      level: shelfIn(++seq, click.at),
      at: click.at,
      seq,
      reason: click.reason,
      first: click.first,
      ...(Object.fromEntries(dimensions.map((name) => [name, idOf(name, click.facts[name])])) as Record<
        Dimension,
        number
      >),
    }));
  for (let at = 0; at < events.length; at += 500) {
    await trx
      .insertInto("clicks")
      .values(events.slice(at, at + 500))
      .execute();
  }
  const beyond = Map.groupBy(
    clicks.filter(({ itemised }) => !itemised),
    (click) => JSON.stringify([click.link, quarterOf(click.at), click.domain, click.tags.toSorted()]),
  );
  for (const some of beyond.values()) {
    const [one] = some;
    if (one === undefined) continue;
    const quarter = quarterOf(one.at);
    const text = (bit: number) => writeTallyText(tallyOfClicks(some, bit), quarter);
    const [tally, ofTenant] = [text(firstToLink), text(firstToTenant)];
    const older = { tally, tenant_tally: ofTenant === tally ? "" : ofTenant };
    const newer = { tally: overflowText(overflowOfClicks(some)), tenant_tally: "" };
    const row = { ...placeOf(one), quarter, writer: `writer ${++seq}`, ...(seq % 2 === 0 ? older : newer) };
    await trx.insertInto("click_overflow").values(row).execute();
  }
  const named = [...new Set(clicks.map(({ link }) => link))];
  const rows = named.map((link) => ({
    link,
    domain: "",
    code: `code-${link}`,
    clicks: 0,
    first_at: null,
    last_at: null,
  }));
  if (rows.length > 0) {
    const insert = ofTenant(trx, tenant.id).insertInto("click_links").values(rows);
    await insert.onConflict((conflict) => conflict.column("link").doNothing()).execute();
  }
}

/** As the writer stores it. */
const tagListOf = ({ tags }: TestClick): string => (tags.length === 0 ? none : JSON.stringify(tags.toSorted()));

async function valueIds(trx: Trx, { number }: ClickTenant, clicks: readonly TestClick[]): Promise<Map<string, number>> {
  const wanted = new Map<string, { dimension: string; value: string }>();
  for (const click of clicks) {
    const { facts } = click;
    for (const dimension of dimensions)
      wanted.set(`${dimension} ${facts[dimension]}`, { dimension, value: facts[dimension] });
    const value = tagListOf(click);
    wanted.set(`tags ${value}`, { dimension: "tags", value });
  }
  const rows = [...wanted.values()]
    .filter(({ value }) => value !== none && value !== other)
    .map((row) => ({ ...row, tenant: number, seen_day: neverUnused }));
  for (let at = 0; at < rows.length; at += 500) {
    const some = trx.insertInto("click_values").values(rows.slice(at, at + 500));
    await some.onConflict((conflict) => conflict.doNothing()).execute();
  }
  const stored = await trx
    .selectFrom("click_values")
    .select(["id", "dimension", "value"])
    .where("tenant", "=", number)
    .execute();
  const ids = new Map(stored.map(({ id, dimension, value }) => [`${dimension} ${value}`, id]));
  for (const name of [...dimensions, "tags"]) ids.set(`${name} ${none}`, 0).set(`${name} ${other}`, 1);
  return ids;
}

function tallyOfClicks(clicks: readonly TestClick[], bit: number, isByLink = false): Tally {
  const tally = newTally();
  for (const { link, at, reason, first, facts, itemised } of clicks) {
    const isFirst = isPerson(reason) && first !== tooLate && (first & bit) !== 0;
    addClick(tally, { at, reason, isFirst, facts: dimensions.map((name) => facts[name]) }, itemised);
    if (isByLink) addValue(isPerson(reason) ? tally.people : tally.rest, "link", `${link}`, 1, isFirst ? 1 : 0);
  }
  return tally;
}

function overflowOfClicks(clicks: readonly TestClick[]): OverflowTally {
  const tally = newOverflowTally();
  for (const { reason, first, facts } of clicks) {
    const bitsOf = (bit: number) => (isPerson(reason) && first !== tooLate && (first & bit) !== 0 ? 1 : 0);
    const [visitors, tenantVisitors] = [bitsOf(firstToLink), bitsOf(firstToTenant)];
    tally.reasons[reason] = (tally.reasons[reason] ?? 0) + 1;
    tally.visitors += visitors;
    tally.tenantVisitors += tenantVisitors;
    const values = isPerson(reason) ? tally.people : tally.rest;
    for (const name of dimensions) addOverflowValue(tally, values, name, facts[name], 1, visitors, tenantVisitors);
  }
  trimOverflow(tally);
  return tally;
}

export interface RollupRow {
  readonly subject: number;
  readonly grain: number;
  readonly start: number;
  readonly until: number;
  readonly tally: Tally;
}

/** Reckoned for so many clicks. It takes longer than condensing, and most cases ask several times. */
const reckoned = new WeakMap<ClickTenant, { readonly clicks: number; readonly rows: readonly ReckonedRow[] }>();

/** What the roll-ups of a tenant must be once all its ended periods are condensed. */
export function expectedRollups(tenant: ClickTenant, settled: number): RollupRow[] {
  const clicks = tenant.clicks.length;
  let known = reckoned.get(tenant);
  if (known?.clicks !== clicks) {
    known = { clicks, rows: reckonRollups(tenant) };
    reckoned.set(tenant, known);
  }
  // Quarters of an hour are replaced when their three hours are over.
  const isReplaced = ({ start, until }: RollupRow) =>
    until - start === quarterMs && start - (start % partMs) + partMs <= settled;
  return known.rows.filter((row) => row.over <= settled && !isReplaced(row)).map(({ over: _, ...row }) => row);
}

/** With the time when its period is over: a quarter year may have no clicks in its last month. */
type ReckonedRow = RollupRow & { readonly over: number };

/** Those of all periods, ended or not. */
function reckonRollups(tenant: ClickTenant): ReckonedRow[] {
  const rows: ReckonedRow[] = [];
  const bySubject = new Map<number, TestClick[]>();
  for (const click of tenant.clicks) {
    for (const subject of subjectsOf(tenant, click)) {
      const clicks = bySubject.get(subject);
      if (clicks === undefined) bySubject.set(subject, [click]);
      else clicks.push(click);
    }
  }
  for (const [subject, clicks] of bySubject) {
    const isGroup = subject < 0;
    const bit = isGroup ? firstToTenant : firstToLink;
    const add = (grain: Grain, start: number, until: number, tally: Tally, over = until) => {
      const row = { subject, grain: grains[grain], start, until, over };
      rows.push({ ...row, tally: readTally(writeTally(tally, start), start) });
    };
    for (const [ms, least] of [
      [quarterMs, leastClicks.quarter],
      [partMs, leastClicks.part],
    ] as const) {
      for (const [start, some] of Map.groupBy(clicks, ({ at }) => at - (at % ms))) {
        if (some.length >= least) add("part", start, start + ms, tallyOfClicks(some, bit, isGroup));
      }
    }
    const sums = { week: new Map<number, Tally>(), month: new Map<number, Tally>() };
    for (const [start, some] of Map.groupBy(clicks, ({ at }) => dayIn(tenant.zone, at).start)) {
      const tally = tallyOfClicks(some, bit, isGroup);
      add("day", start, dayIn(tenant.zone, start).until, tally);
      const people = peopleOf(tally);
      const series = new Map([[start, { people, visitors: tally.visitors, rest: clicksOf(tally) - people }]]);
      for (const grain of ["week", "month"] as const) {
        const natural = naturalStart[grain](start + 43_200_000, tenant.zone);
        const sum = sums[grain].get(natural) ?? newTally();
        sums[grain].set(natural, sum);
        addTally(sum, { ...readTally(writeTally(tally, start), start), series });
      }
    }
    for (const [start, tally] of sums.week) {
      const until = naturalStart.week(start + 9 * 86_400_000, tenant.zone);
      if (clicksOf(tally) >= leastClicks.week) add("week", start, until, tally);
    }
    const quarterYears = new Map<number, { tally: Tally } & ReturnType<typeof monthsWithin>>();
    for (const [start, tally] of [...sums.month].toSorted(([a], [b]) => a - b)) {
      const until = naturalStart.month(start + 33 * 86_400_000, tenant.zone);
      add("month", start, until, tally);
      // From the first month with clicks of the tenant to its last.
      const natural = naturalStart.quarterYear(start, tenant.zone);
      const sum = quarterYears.get(natural) ?? { tally: newTally(), ...monthsWithin(tenant, natural) };
      addTally(sum.tally, readTally(writeTally(tally, start), start));
      quarterYears.set(natural, sum);
    }
    for (const { tally, start, until, over } of quarterYears.values()) {
      const isOfMonths = until > naturalStart.month(start + 33 * 86_400_000, tenant.zone);
      if (isOfMonths && clicksOf(tally) >= leastClicks.quarterYear) add("quarterYear", start, until, tally, over);
    }
  }
  return rows.toSorted(inOrder);
}

/** From the first month with clicks in this quarter year to the end of its last. */
function monthsWithin({ clicks, zone }: ClickTenant, natural: number): { start: number; until: number; over: number } {
  const end = naturalStart.quarterYear(natural + 95 * 86_400_000, zone);
  const times = clicks.flatMap(({ at }) => (at >= natural && at < end ? at : []));
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const until = naturalStart.month(naturalStart.month(last, zone) + 33 * 86_400_000, zone);
  return { start: naturalStart.month(first, zone), until, over: end + 3 * 86_400_000 };
}

export async function storedRollups(sql: Sql, tenant: ClickTenant): Promise<RollupRow[]> {
  const own = await ofTenant(sql.db, tenant.id).selectFrom("click_links").select("link").execute();
  const subjects = [...own.map(({ link }) => link), tenant.number, ...tenant.groups.values()];
  const rows = await sql.db.selectFrom("click_rollups").selectAll().where("subject", "in", subjects).execute();
  return rows
    .map(({ subject, grain, start, until, ...packed }) => ({
      subject,
      grain,
      start,
      until,
      tally: readTally(packed, start),
    }))
    .toSorted(inOrder);
}

const inOrder = (a: RollupRow, b: RollupRow) => a.subject - b.subject || a.grain - b.grain || a.start - b.start;

/** Removes what a test of one database leaves behind. */
export async function clearClicks(sql: Sql): Promise<void> {
  for (const table of ["clicks", "click_overflow", "click_days", "click_rollups", "click_visitors"] as const) {
    await acrossTenants(sql.db).deleteFrom(table).execute();
  }
}

export interface ClickChoices {
  readonly from: number;
  readonly until: number;
  readonly links: readonly LinkNumber[];
  readonly count: number;
}

/** Of the UTC day. An hour with overflow is condensed as a busy one, which takes 20 statements. */
const overflowHours = [0, 10, 12, 22];

export function randomClicks(random: () => number, { from, until, links, count }: ClickChoices): TestClick[] {
  const pick = <One>(list: readonly One[]): One => list[Math.floor(random() ** 2 * list.length)] as One;
  return Array.from({ length: count }, () => {
    const reason = random() < 0.7 ? 0 : Math.floor(random() * 7);
    const at = from + Math.floor(random() * (until - from));
    return {
      link: pick(links),
      domain: pick(domains),
      tags: pick([[], ["spring"], ["summer", "spring"], ["untracked"]]),
      at,
      reason,
      first: reason === 0 ? pick([0, 3, 1, 2, tooLate]) : 0,
      facts: Object.fromEntries(
        dimensions.map((name) => [name, pick([none, `${name} 1`, `${name} 2`, other, `${name} 3`])]),
      ) as Record<Dimension, string>,
      itemised: !overflowHours.includes(Math.floor(at / 3_600_000) % 24) || random() < 0.6,
    };
  });
}
