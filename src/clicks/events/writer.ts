import { randomInt } from "node:crypto";
import { sql as raw } from "kysely";
import { type Clock, systemClock } from "../../base/clock.ts";
import type { TenantId } from "../../base/ids.ts";
import { type BulkType, bulkInsert } from "../../sql/bulk.ts";
import { setSequence } from "../../sql/recorders.ts";
import type { ClickDropTable, FactColumn, GroupNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import type { Db, Trx } from "../../sql/tenant-db.ts";
import {
  type ClickBatch,
  type ClickedLink,
  dimensions,
  isPerson,
  quarterMs,
  quarterOf,
  tooLate,
  utcDay,
} from "../click.ts";
import { tallyPlaces } from "./batch-tally.ts";
import { createCaps } from "./caps.ts";
import { createFirstVisits } from "./first-visits.ts";
import { createClickGroups, type GroupName } from "./groups.ts";
import { type LateClick, lateMs, undoRollups } from "./late.ts";
import { type AddedClicks, createLinkTotals } from "./link-totals.ts";
import { createOverflow } from "./overflow.ts";
import { type BatchPart, type PendingClick, partsMost, partsOf } from "./parts.ts";
import type { Step } from "./step.ts";
import { createTenantDays } from "./tenant-days.ts";
import { createClickTenants } from "./tenants.ts";
import { createClickValues, storedText, tagList } from "./values.ts";

/**
 * Stores batches of clicks. A click becomes an event; beyond the cap, a part of an overflow row.
 *
 * **Once.** A batch has a number, and so has every part of it. The number is stored with the clicks, in one transaction:
 * a batch that is sent again, because its answer was lost, changes nothing. After a failure nothing in memory is
 * believed: ids, days and overflow rows are read again.
 *
 * **Order.** Processes write to the same rows: new values, tenants' days, visitors, totals of links. All do so in the same
 * steps, and in each step in the order of keys, so that they wait for each other and never deadlock.
 *
 * **Time** is the database's. A click with a time that cannot be is put to the database's time. A late one undoes the
 * roll-ups that it belongs to.
 */
export interface ClickWriter {
  /** `sequence` grows with every batch. A batch is sent again with its number, and before any newer one. */
  write(sequence: number, batch: ClickBatch): Promise<Written>;
}

export interface Written {
  readonly events: number;
  /** Clicks without an event. */
  readonly overflow: number;
  readonly late: number;
  /** Came after the end of their day, so it is unknown whether the visitor was new. */
  readonly tooLate: number;
  /** Their time was wrong. */
  readonly corrected: number;
  readonly dropped: number;
  /** Visits of people who excluded themselves. */
  readonly excluded: number;
  /** Links with their first counted click ever: the first so many of a batch. */
  readonly firstClicks: readonly ClickedLink[];
}

export interface ClickWriterSettings {
  readonly sql: Sql;
  /** The same on all servers: visitors are recognised by all of them. */
  readonly secret: Uint8Array;
  /** Of this process, and of no other before it. */
  readonly writerId: string;
  readonly clock?: Clock;
  /** Clicks in one transaction. */
  readonly clicksMost?: number;
  /** Between two transactions. */
  readonly pause?: () => Promise<void>;
  /** Instead of the database's, for tests. */
  readonly databaseTime?: () => number;
}

export const firstClicksMost = 1_000;

/** SQLite has one writer, and others wait for it: 10 to 20 ms. PostgreSQL: about a second. */
const clicksMostOf = { sqlite: 250, postgres: 20_000 } as const;

const aheadMs = 15 * 60_000;
const behindMs = 48 * 3_600_000;
/** Longer, and condensing might not wait for it. */
const transactionMs = 60_000;
const levelMost = 12;

export const noneWritten: Written = {
  ...{ events: 0, overflow: 0, late: 0, tooLate: 0, corrected: 0, dropped: 0, excluded: 0 },
  firstClicks: [],
};

export function createClickWriter(settings: ClickWriterSettings): ClickWriter {
  const { sql, secret, writerId, clock = systemClock, pause, databaseTime } = settings;
  const clicksMost = settings.clicksMost ?? clicksMostOf[sql.dialect];
  const recorder = `clicks.${writerId}`;
  const caps = createCaps();
  const tenants = createClickTenants();
  const values = createClickValues(sql);
  const groups = createClickGroups(sql);
  const days = createTenantDays(sql, secret);
  const visitors = createFirstVisits(sql);
  const overflow = createOverflow(sql, writerId);
  const totals = createLinkTotals(sql);
  const insertEvents = bulkInsert(sql.dialect, { into: "clicks", columns: eventColumns });
  let seq = randomInt(2 ** 31);
  /** The last attempt at a part whose fate is unknown. */
  let unsure:
    | { readonly number: number; readonly written: Written; readonly count: readonly (() => void)[] }
    | undefined;

  /** The parts of this batch that are known to be stored, if it fails and is sent again. */
  let before: { readonly sequence: number; readonly parts: Written[] } = { sequence: 0, parts: [] };

  const selectTime = statement((_: Db) => raw<{ now: number }>`select ${sql.now} as now`);

  async function timeOf(trx: Trx): Promise<number> {
    if (databaseTime !== undefined) return databaseTime();
    return sql.dialect === "sqlite" ? clock.now() : (await selectTime.one(trx)).now;
  }

  async function writePart(number: number, part: BatchPart): Promise<Written> {
    const started = clock.elapsed();
    const remember: (() => void)[] = [];
    const count: (() => void)[] = [];
    let attempt: Written | undefined;
    try {
      const written = await sql.transaction(async (trx) => {
        const now = await timeOf(trx);
        const isNew = await setSequence.first(trx, { id: recorder, sequence: number, seen_at: now });
        if (isNew === undefined) return undefined;
        attempt = await store(
          { trx, now, afterCommit: (work) => remember.push(work), onceStored: (work) => count.push(work) },
          part,
        );
        if (clock.elapsed() - started > transactionMs) throw new Error("writing clicks took too long; will retry");
        return attempt;
      });
      if (written !== undefined) {
        for (const work of [...remember, ...count]) work();
        unsure = undefined;
        return written;
      }
      const before = unsure?.number === number ? unsure : undefined;
      unsure = undefined;
      for (const work of before?.count ?? []) work();
      return before?.written ?? noneWritten;
    } catch (error) {
      for (const part of [tenants, values, groups, days, overflow]) part.forget();
      if (attempt !== undefined) unsure = { number, written: attempt, count };
      throw error;
    }
  }

  async function store(step: Step, part: BatchPart): Promise<Written> {
    const { trx, now } = step;
    const isPossible = (at: number) => at >= now - behindMs && at <= now + aheadMs;
    const timed = part.clicks.map((click) => (isPossible(click.at) ? click : { ...click, at: now }));
    const bareTimed = part.bare.map((one) => (isPossible(one.quarter) ? one : { ...one, quarter: quarterOf(now) }));
    const corrected = part.clicks.filter(({ at }) => !isPossible(at)).length;

    const ids = await tenants.find(step, tenantsOf(timed, bareTimed));
    const clicks = timed.filter(({ link }) => ids.has(link.tenant));
    const bare = bareTimed.filter(({ link }) => ids.has(link.tenant));
    const idOf = ({ tenant }: ClickedLink): TenantId => required(ids.get(tenant), "tenant");
    const bareClicks = sumOf(bare.map(({ reasons }) => sumOf(reasons)));
    const gone = timed.length - clicks.length + sumOf(bareTimed.map(({ reasons }) => sumOf(reasons))) - bareClicks;
    const { events, beyond } = caps.split(step, clicks);

    const tagLists = new Map<ClickedLink, string>();
    for (const { link } of [...clicks, ...bare]) if (!tagLists.has(link)) tagLists.set(link, tagList(link.tags));
    const tagsOf = (link: ClickedLink): string => tagLists.get(link) ?? "";
    const found = await values.find(
      step,
      [
        ...events.map(({ link, place }) => ({ link, place, tags: tagsOf(link) })),
        ...[...tagLists].map(([link, tags]) => ({ link, place: undefined, tags })),
      ],
      part.batch,
    );
    const isLate = (at: number) => at < now - lateMs;
    const lates = new Map<ClickedLink["tenant"], number>();
    const raise = ({ tenant }: ClickedLink, by: number) => lates.set(tenant, (lates.get(tenant) ?? 0) + by);
    for (const { link, at } of clicks) if (isLate(at)) raise(link, 1);
    // The clicks of a quarter are as late as its end, because no period ends before it.
    for (const { link, quarter, reasons } of bare) if (isLate(quarter + quarterMs - 1)) raise(link, sumOf(reasons));
    const groupOf = await groups.find(step, groupNames([...tagLists.keys()], idOf), lates.size > 0);
    const domainOf = (link: ClickedLink): GroupNumber => required(groupOf(domainName(link, idOf(link))), "group");

    const { dayOf, locked } = await days.find(step, timesOf(clicks, bare, idOf), lates);
    const late = (link: ClickedLink, at: number): LateClick => ({
      tenantId: idOf(link),
      quarter: quarterOf(at),
      day: dayOf(link.tenant, at),
      subjects: [
        link.link,
        link.tenant,
        domainOf(link),
        ...tagNames(link, idOf(link)).flatMap((tag) => groupOf(tag) ?? []),
      ],
    });
    const lateClicks = [
      ...clicks.filter(({ at }) => isLate(at)).map(({ link, at }) => late(link, at)),
      ...bare.filter(({ quarter }) => isLate(quarter + quarterMs - 1)).map(({ link, quarter }) => late(link, quarter)),
    ];
    if (lateClicks.length > 0) await undoRollups(step, lateClicks, locked);

    const firsts = await visitors.firsts(
      step,
      clicks.map(({ link, at, reason, visitor }) => ({ link, reason, visitor, day: dayOf(link.tenant, at) })),
    );
    const firstOf = new Map(clicks.map(({ place }, index) => [place, firsts[index] ?? 0]));

    const rows = events.map(({ place, link, at, reason }): EventRow => {
      seq = (seq + 1) % 2 ** 31;
      const key = [utcDay(at), link.tenant, randomLevel(), link.link, Math.floor(at), seq] as const;
      const first = firstOf.get(place) ?? 0;
      const more = [domainOf(link), found.tags(link.tenant, tagsOf(link)), reason, first];
      return [...key, ...more, ...found.facts(link.tenant, place)];
    });
    await insertEvents.run(trx, rows.sort(byKey).flat());

    const whereOf = (link: ClickedLink) => ({
      ...{ tenant: link.tenant, link: link.link, domain: domainOf(link) },
      tags: found.tags(link.tenant, tagsOf(link)),
    });
    if (beyond.length + bare.length > 0) {
      await overflow.add(
        step,
        byQuarter(beyond).map(({ link, quarter, clicks }) => {
          const places = clicks.map(({ place, reason }) => ({ place, reason, first: firstOf.get(place) ?? 0 }));
          return { ...whereOf(link), quarter, ...tallyPlaces(part.batch, quarter, places) };
        }),
        bare.map(({ link, quarter, reasons }) => ({ ...whereOf(link), quarter, reasons })),
      );
    }
    const firstClicks = await totals.add(step, addedClicks(clicks, bare, idOf));
    const dropped = part.dropped + gone;
    const { excluded } = part;
    if (dropped + excluded > 0) await addDropped.run(trx, { day: utcDay(now), writer: writerId, dropped, excluded });
    return {
      events: events.length,
      overflow: beyond.length + bareClicks,
      late: sumOf([...lates.values()]),
      tooLate: firsts.filter((first) => first === tooLate).length,
      corrected,
      dropped,
      excluded,
      firstClicks: firstClicks.slice(0, firstClicksMost),
    };
  }

  return {
    async write(sequence, batch) {
      if (before.sequence !== sequence) before = { sequence, parts: [] };
      const { parts } = before;
      for (const [place, part] of partsOf(batch, clicksMost).entries()) {
        if (parts[place] !== undefined) continue;
        if (place > 0) await pause?.();
        parts[place] = await writePart(sequence * partsMost + place, part);
      }
      before = { sequence: 0, parts: [] };
      return parts.reduce(together, noneWritten);
    },
  };
}

type EventRow = readonly number[];

const integers = <Name extends string>(names: readonly Name[]): Record<Name, BulkType> =>
  Object.fromEntries(names.map((name) => [name, "integer"])) as Record<Name, BulkType>;

const eventColumns = {
  ...({ day: "integer", tenant: "integer", level: "smallint", link: "bigint", at: "bigint", seq: "bigint" } as const),
  ...integers(["domain", "tags", "reason", "first"]),
  ...integers<FactColumn>(dimensions),
};

/** `day, tenant, level, link, at`: the order of the table on SQLite, and of the index on PostgreSQL. */
function byKey(a: EventRow, b: EventRow): number {
  for (let column = 0; column < 5; column++) {
    const difference = (a[column] ?? 0) - (b[column] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** 0 for half of all clicks, 1 for a quarter, and so on. */
const randomLevel = (): number => Math.min(levelMost, Math.clz32(Math.random() * 2 ** 32));

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

function required<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new Error(`a click has no ${what}`);
  return value;
}

const tenantsOf = (...lists: readonly (readonly { readonly link: ClickedLink }[])[]) =>
  lists.flatMap((list) => list.map(({ link }) => link.tenant));

const domainName = ({ domain }: ClickedLink, tenant_id: TenantId): GroupName => ({
  ...{ tenant_id, kind: "domain", name: domain },
});

const tagNames = ({ tags }: ClickedLink, tenant_id: TenantId): GroupName[] =>
  tags.map((tag) => ({ tenant_id, kind: "tag", name: storedText(tag) }));

function* groupNames(links: readonly ClickedLink[], idOf: (link: ClickedLink) => TenantId): Generator<GroupName> {
  for (const link of links) {
    yield domainName(link, idOf(link));
    yield* tagNames(link, idOf(link));
  }
}

/** One for each tenant and quarter: no day ends within a quarter. */
function timesOf(clicks: readonly PendingClick[], bare: BatchPart["bare"], idOf: (link: ClickedLink) => TenantId) {
  const times = new Map<string, { tenant: ClickedLink["tenant"]; id: TenantId; at: number }>();
  let [lastTenant, lastQuarter] = [0, 0];
  for (const { link, at } of [...clicks, ...bare.map(({ link, quarter }) => ({ link, at: quarter }))]) {
    if (link.tenant === lastTenant && quarterOf(at) === lastQuarter) continue;
    [lastTenant, lastQuarter] = [link.tenant, quarterOf(at)];
    const name = `${link.tenant} ${quarterOf(at)}`;
    if (!times.has(name)) times.set(name, { tenant: link.tenant, id: idOf(link), at });
  }
  return [...times.values()];
}

interface ClicksOfQuarter {
  readonly link: ClickedLink;
  readonly quarter: number;
  readonly clicks: PendingClick[];
}

function byQuarter(clicks: readonly PendingClick[]): ClicksOfQuarter[] {
  const all: ClicksOfQuarter[] = [];
  const ofLink = new Map<ClickedLink, Map<number, ClicksOfQuarter>>();
  for (const click of clicks) {
    const { link } = click;
    const quarter = quarterOf(click.at);
    let quarters = ofLink.get(link);
    if (quarters === undefined) {
      quarters = new Map();
      ofLink.set(link, quarters);
    }
    const known = quarters.get(quarter);
    if (known !== undefined) {
      known.clicks.push(click);
      continue;
    }
    const added = { link, quarter, clicks: [click] };
    quarters.set(quarter, added);
    all.push(added);
  }
  return all;
}

function addedClicks(
  clicks: readonly PendingClick[],
  bare: BatchPart["bare"],
  idOf: (link: ClickedLink) => TenantId,
): Iterable<AddedClicks> {
  const added = new Map<number, { -readonly [Name in keyof AddedClicks]: AddedClicks[Name] }>();
  function add(link: ClickedLink, clicks: number, at: number): void {
    let sum = added.get(link.link);
    if (sum === undefined) {
      sum = { link, tenantId: idOf(link), clicks: 0, firstAt: null, lastAt: null };
      added.set(link.link, sum);
    }
    if (clicks === 0) return;
    sum.clicks += clicks;
    sum.firstAt = Math.min(sum.firstAt ?? at, at);
    sum.lastAt = Math.max(sum.lastAt ?? at, at);
  }
  for (const { link, at, reason } of clicks) add(link, isPerson(reason) ? 1 : 0, Math.floor(at));
  for (const { link, quarter, reasons } of bare) {
    const people = sumOf(reasons.filter((_, reason) => isPerson(reason)));
    add(link, people, quarter);
  }
  return added.values();
}

const together = (a: Written, b: Written): Written => ({
  events: a.events + b.events,
  overflow: a.overflow + b.overflow,
  late: a.late + b.late,
  tooLate: a.tooLate + b.tooLate,
  corrected: a.corrected + b.corrected,
  dropped: a.dropped + b.dropped,
  excluded: a.excluded + b.excluded,
  firstClicks: [...a.firstClicks, ...b.firstClicks].slice(0, firstClicksMost),
});

const addDropped = statement((db: Db, { day, writer, dropped, excluded }: Params<ClickDropTable>) =>
  db
    .insertInto("click_drops")
    .values({ day, writer, dropped, excluded })
    .onConflict((conflict) =>
      conflict.columns(["day", "writer"]).doUpdateSet((expression) => ({
        dropped: expression("click_drops.dropped", "+", expression.ref("excluded.dropped")),
        excluded: expression("click_drops.excluded", "+", expression.ref("excluded.excluded")),
      })),
    ),
);
