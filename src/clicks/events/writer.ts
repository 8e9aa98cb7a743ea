import { randomInt } from "node:crypto";
import { sql as raw } from "kysely";
import { type Clock, systemClock } from "../../base/clock.ts";
import type { TenantId } from "../../base/ids.ts";
import { bulkInsert } from "../../sql/bulk.ts";
import { setSequence } from "../../sql/recorders.ts";
import type { ClickDropTable } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import type { Db, Trx } from "../../sql/tenant-db.ts";
import { type ClickBatch, type ClickedLink, isPerson, quarterMs, quarterOf, utcDay } from "../click.ts";
import { clicksBeyond, tallyClicks } from "./batch-tally.ts";
import { type CapPlan, createCaps } from "./caps.ts";
import { eventColumns, eventRows, wantedValues } from "./event-rows.ts";
import { createFirstVisits } from "./first-visits.ts";
import { createFullDays } from "./full-days.ts";
import { createClickGroups, type GroupName } from "./groups.ts";
import { type LateClick, lateMs, undoRollups } from "./late.ts";
import { type AddedClicks, createLinkTotals } from "./link-totals.ts";
import { createOverflow, type OverflowPlace } from "./overflow.ts";
import type { OverflowTally } from "./overflow-tally.ts";
import { type BatchPart, type LinkClicks, type PendingBare, partsMost, partsOf } from "./parts.ts";
import { byQuarter, isPossible, type QuarterClicks, timesOf } from "./quarter-clicks.ts";
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
 * **Time** is the database's: a server whose clock differs has its clicks moved by the difference. A click with a time that cannot be is
 * put to the database's time. A late one undoes the roll-ups that it belongs to.
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
  /** So many visitors were seen that day that it is unknown whether these were new. */
  readonly unrecognised: number;
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
  /** Of all links together. Without a limit if not given. */
  readonly eventsPerSecond?: number;
  /** Before each transaction: on SQLite, others get their turn, also between the batches of a busy server. */
  readonly pause?: () => Promise<void>;
  /** Hashes of visitors that this process adds to a tenant's day. */
  readonly visitorRowsMost?: number;
  /** Instead of the database's, for tests. */
  readonly databaseTime?: () => number;
}

export const firstClicksMost = 1_000;

/** SQLite has one writer, and others wait for it: 10 to 20 ms. PostgreSQL: about a second. */
const clicksMostOf = { sqlite: 500, postgres: 8_000 } as const;

interface DatabaseTime {
  readonly now: number;
  /** Of our own clock. */
  readonly aheadMs: number;
}

/** Smaller differences are left alone. */
const aheadLeastMs = 1_000;

/** Zero if the database's time lies between our times of the question and of the answer: an answer may take long. */
function aheadOf(now: number, asked: number, answered: number): number {
  const aheadMs = Math.round(now > answered ? now - answered : Math.min(0, now - asked));
  return Math.abs(aheadMs) < aheadLeastMs ? 0 : aheadMs;
}

/** Longer, and condensing might not wait for it. */
const transactionMs = 60_000;

export const noneWritten: Written = {
  ...{ events: 0, overflow: 0, late: 0, tooLate: 0, unrecognised: 0, corrected: 0, dropped: 0, excluded: 0 },
  firstClicks: [],
};

export function createClickWriter(settings: ClickWriterSettings): ClickWriter {
  const { sql, secret, writerId, clock = systemClock, pause, databaseTime } = settings;
  const clicksMost = settings.clicksMost ?? clicksMostOf[sql.dialect];
  const recorder = `clicks.${writerId}`;
  const caps = createCaps({ eventsPerSecond: settings.eventsPerSecond, elapsed: clock.elapsed });
  const tenants = createClickTenants();
  const values = createClickValues(sql);
  const groups = createClickGroups(sql);
  const days = createTenantDays(sql, secret);
  const visitors = createFirstVisits(sql, settings.visitorRowsMost);
  const fullDays = createFullDays();
  const overflow = createOverflow(sql, writerId);
  const totals = createLinkTotals(sql);
  const insertEvents = bulkInsert(sql.dialect, { into: "clicks", columns: eventColumns });
  let seq = randomInt(2 ** 31);
  const nextSeq = () => {
    seq = (seq + 1) % 2 ** 31;
    return seq;
  };
  /** The last attempt at a part whose fate is unknown. */
  let unsure:
    | { readonly number: number; readonly written: Written; readonly count: readonly (() => void)[] }
    | undefined;

  /** The parts of this batch that are known to be stored, if it fails and is sent again. */
  let before: { readonly sequence: number; readonly parts: Written[]; readonly plan: CapPlan } = {
    ...{ sequence: 0, parts: [], plan: undefined },
  };

  const selectTime = statement((_: Db) => raw<{ now: number }>`select ${sql.now} as now`);

  async function timeOf(trx: Trx): Promise<DatabaseTime> {
    if (databaseTime !== undefined) return { now: databaseTime(), aheadMs: 0 };
    if (sql.dialect === "sqlite") return { now: clock.now(), aheadMs: 0 };
    const asked = clock.now();
    const { now } = await selectTime.one(trx);
    return { now, aheadMs: aheadOf(now, asked, clock.now()) };
  }

  async function writePart(number: number, part: BatchPart, plan: CapPlan): Promise<Written> {
    const started = clock.elapsed();
    const remember: (() => void)[] = [];
    const count: (() => void)[] = [];
    let attempt: Written | undefined;
    try {
      const written = await sql.transaction(async (trx) => {
        const { now, aheadMs } = await timeOf(trx);
        const isNew = await setSequence.first(trx, { id: recorder, sequence: number, seen_at: now });
        if (isNew === undefined) return undefined;
        attempt = await store(
          { trx, now, afterCommit: (work) => remember.push(work), onceStored: (work) => count.push(work) },
          part,
          aheadMs,
          plan,
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

  async function store(step: Step, part: BatchPart, aheadMs: number, plan: CapPlan): Promise<Written> {
    const { trx, now } = step;
    const { batch } = part;
    const { at, corrected } = timesOf(part, now, aheadMs);
    const bareTimed = part.bare.map((one) => {
      // The end of the quarter, so that no count becomes late by being moved.
      const end = one.quarter + quarterMs - 1 + aheadMs;
      const quarter = aheadMs === 0 ? one.quarter : quarterOf(Math.min(end, now));
      return { ...one, quarter: isPossible(quarter, now) ? quarter : quarterOf(now) };
    });

    const ids = await tenants.find(step, tenantsOf(part.links, bareTimed));
    const isThere = ({ link }: { readonly link: ClickedLink }) => ids.has(link.tenant);
    const links = part.links.filter(isThere);
    const bare = bareTimed.filter(isThere);
    const idOf = ({ tenant }: ClickedLink): TenantId => required(ids.get(tenant), "tenant");
    const clicked = sumOf(links.map(lengthOf));
    const bareClicks = sumOf(bare.map(clicksOfBare));
    const gone = part.places.length - clicked + sumOf(bareTimed.map(clicksOfBare)) - bareClicks;
    const clicks = byQuarter(part, links, at);
    const { isEvent, events } = caps.split(step, part, clicks, plan);

    const tagLists = new Map<ClickedLink, string>();
    for (const { link } of [...links, ...bare]) if (!tagLists.has(link)) tagLists.set(link, tagList(link.tags));
    const tagsOf = (link: ClickedLink): string => tagLists.get(link) ?? "";
    const found = await values.find(
      step,
      [
        ...wantedValues(part, links, isEvent, tagsOf),
        ...[...tagLists].map(([link, tags]) => ({ link, place: undefined, tags })),
      ],
      batch,
    );
    const lates = new Map<ClickedLink["tenant"], number>();
    const lateIn = ({ quarter, from, to }: QuarterClicks) => countBefore(at, quarter, from, to, now - lateMs);
    // The clicks of a quarter are as late as its end, because no period ends before it.
    const isLateBare = ({ quarter }: PendingBare) => quarter + quarterMs - 1 < now - lateMs;
    const raise = ({ tenant }: ClickedLink, by: number) => {
      if (by > 0) lates.set(tenant, (lates.get(tenant) ?? 0) + by);
    };
    for (const some of clicks) raise(some.link, lateIn(some));
    for (const one of bare) raise(one.link, isLateBare(one) ? clicksOfBare(one) : 0);
    const groupOf = await groups.find(step, groupNames(tagLists.keys(), idOf), lates.size > 0);
    const domainOf = onceForDomain((link) => required(groupOf(domainName(link, idOf(link))), "group"));

    const { dayOf, locked } = await days.find(step, tenantTimes([...clicks, ...bare], idOf), lates);
    const lateClicks = [...clicks.filter((some) => lateIn(some) > 0), ...bare.filter(isLateBare)].map(
      ({ link, quarter }): LateClick => ({
        tenantId: idOf(link),
        quarter,
        day: dayOf(link.tenant, quarter),
        subjects: [
          link.link,
          link.tenant,
          domainOf(link),
          ...tagNames(link, idOf(link)).flatMap((tag) => groupOf(tag) ?? []),
        ],
      }),
    );
    if (lateClicks.length > 0) await undoRollups(step, lateClicks, locked);

    const firsts = await visitors.firsts(
      step,
      part,
      clicks.map(({ link, quarter, from, to }) => ({ link, day: dayOf(link.tenant, quarter), from, to })),
    );
    if (firsts.fullDays.length > 0) await fullDays.note(step, firsts.fullDays);
    const { first } = firsts;
    const wheres = new Map<ClickedLink, OverflowPlace>();
    for (const [link, list] of tagLists) {
      const { tenant, link: number } = link;
      wheres.set(link, { tenant, link: number, domain: domainOf(link), tags: found.tags(tenant, list) });
    }
    const whereOf = (link: ClickedLink): OverflowPlace => required(wheres.get(link), "place");
    await insertEvents.run(
      trx,
      eventRows(part, links, { at, isEvent, first, reason: batch.reason }, whereOf, found, nextSeq),
    );

    const beyond = clicked - events;
    if (beyond + bare.length > 0) {
      const withoutEvent = clicksBeyond(part, clicks, isEvent, first);
      await overflow.add(step, [
        ...withoutEvent.ranges.map((range) => ({
          ...{ where: whereOf(range.link), quarter: range.quarter },
          addTo: (tally: OverflowTally) => tallyClicks(withoutEvent, range, tally),
        })),
        ...bare.map(({ link, quarter, reasons }) => ({
          ...{ where: whereOf(link), quarter },
          addTo: (tally: OverflowTally) => addBare(tally, reasons),
        })),
      ]);
    }
    const firstClicks = await totals.add(step, addedClicks(part, clicks, at, bare, idOf));
    const dropped = part.dropped + gone;
    const { excluded } = part;
    if (dropped + excluded > 0) await addDropped.run(trx, { day: utcDay(now), writer: writerId, dropped, excluded });
    return {
      events,
      overflow: beyond + bareClicks,
      late: sumOf([...lates.values()]),
      tooLate: firsts.tooLate,
      unrecognised: firsts.unrecognised,
      corrected,
      dropped,
      excluded,
      firstClicks: firstClicks.slice(0, firstClicksMost),
    };
  }

  return {
    async write(sequence, batch) {
      if (before.sequence !== sequence) before = { sequence, parts: [], plan: caps.plan(batch) };
      const { parts, plan } = before;
      for (const [place, part] of partsOf(batch, clicksMost).entries()) {
        if (parts[place] !== undefined) continue;
        await pause?.();
        parts[place] = await writePart(sequence * partsMost + place, part, plan);
      }
      before = { sequence: 0, parts: [], plan: undefined };
      return parts.reduce(together, noneWritten);
    },
  };
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);
const clicksOfBare = ({ reasons }: PendingBare): number => sumOf(reasons);
const lengthOf = ({ from, to }: LinkClicks): number => to - from;

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

const isSameDomain = (a: ClickedLink, b: ClickedLink): boolean => a.tenant === b.tenant && a.domain === b.domain;

function* groupNames(links: Iterable<ClickedLink>, idOf: (link: ClickedLink) => TenantId): Generator<GroupName> {
  let last: ClickedLink | undefined;
  for (const link of links) {
    if (last === undefined || !isSameDomain(last, link)) yield domainName(link, idOf(link));
    yield* tagNames(link, idOf(link));
    last = link;
  }
}

/** Links come tenant by tenant, and most of a tenant have one domain: it is not looked up for each. */
function onceForDomain<Value>(find: (link: ClickedLink) => Value): (link: ClickedLink) => Value {
  let last: { readonly link: ClickedLink; readonly value: Value } | undefined;
  return (link) => {
    if (last === undefined || !isSameDomain(last.link, link)) last = { link, value: find(link) };
    return last.value;
  };
}

/** One for each tenant and quarter: no day ends within a quarter. */
function tenantTimes(
  all: readonly { readonly link: ClickedLink; readonly quarter: number }[],
  idOf: (link: ClickedLink) => TenantId,
) {
  const times = new Map<string, { tenant: ClickedLink["tenant"]; id: TenantId; at: number }>();
  let [lastTenant, lastQuarter] = [0, 0];
  for (const { link, quarter } of all) {
    if (link.tenant === lastTenant && quarter === lastQuarter) continue;
    [lastTenant, lastQuarter] = [link.tenant, quarter];
    const name = `${link.tenant} ${quarter}`;
    if (!times.has(name)) times.set(name, { tenant: link.tenant, id: idOf(link), at: quarter });
  }
  return [...times.values()];
}

/** How many came before `end`, of the clicks of a quarter. */
function countBefore(at: Float64Array, quarter: number, from: number, to: number, end: number): number {
  if (quarter >= end) return 0;
  let count = 0;
  for (let n = from; n < to; n++) if ((at[n] ?? 0) < end) count++;
  return count;
}

/** Facts that were dropped are unknown: they count as "none", so that every breakdown still adds up to the total. */
function addBare(tally: OverflowTally, reasons: readonly number[]): void {
  for (const [reason, clicks] of reasons.entries()) tally.reasons[reason] = (tally.reasons[reason] ?? 0) + clicks;
}

function addedClicks(
  part: BatchPart,
  clicks: readonly QuarterClicks[],
  at: Float64Array,
  bare: readonly PendingBare[],
  idOf: (link: ClickedLink) => TenantId,
): Iterable<AddedClicks> {
  const added = new Map<number, AddedClicks>();
  function add(link: ClickedLink, clicks: number, firstAt: number, lastAt: number): void {
    let sum = added.get(link.link);
    if (sum === undefined) {
      sum = { link, tenantId: idOf(link), clicks: 0, firstAt: null, lastAt: null };
      added.set(link.link, sum);
    }
    if (clicks === 0) return;
    sum.clicks += clicks;
    sum.firstAt = Math.min(sum.firstAt ?? firstAt, firstAt);
    sum.lastAt = Math.max(sum.lastAt ?? lastAt, lastAt);
  }
  for (const { link, from, to, people } of clicks) {
    let [first, last] = [Number.POSITIVE_INFINITY, 0];
    for (let n = from; n < to && people > 0; n++) {
      if (!isPerson(part.batch.reason[part.places[n] ?? 0] ?? 0)) continue;
      first = Math.min(first, at[n] ?? 0);
      last = Math.max(last, at[n] ?? 0);
    }
    add(link, people, Math.floor(first), Math.floor(last));
  }
  for (const { link, quarter, reasons } of bare) {
    const people = sumOf(reasons.filter((_, reason) => isPerson(reason)));
    add(link, people, quarter, quarter);
  }
  return added.values();
}

const together = (a: Written, b: Written): Written => ({
  events: a.events + b.events,
  overflow: a.overflow + b.overflow,
  late: a.late + b.late,
  tooLate: a.tooLate + b.tooLate,
  unrecognised: a.unrecognised + b.unrecognised,
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
