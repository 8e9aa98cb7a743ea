import { createHmac, hkdfSync } from "node:crypto";
import { type BulkFind, type BulkInsert, type BulkValue, bulkFind, bulkInsert } from "../../sql/bulk.ts";
import type { GroupNumber, LinkNumber, TenantNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import type { Db } from "../../sql/tenant-db.ts";
import { type ClickBatch, firstToLink, firstToTenant, isPerson, quarterOf, tooLate } from "../click.ts";
import type { BatchPart } from "./parts.ts";
import type { Step } from "./step.ts";
import type { TenantDay } from "./tenant-days.ts";

/**
 * First visits of a day, without cookies. A visitor is a hash, with a key of the tenant's day that is deleted when the day
 * is over; so nobody can tell whether two days had the same visitor, or compute a hash from an address later.
 *
 * Hashes are inserted in the transaction of their clicks. The one whose insert succeeds is first, whatever other
 * processes do at the same time. Memory only saves inserts of hashes that are known to be there.
 *
 * A batch is written link by link and in several transactions, but a tenant's new visitor belongs to the click that happened first: only the
 * first click of a visitor in a batch inserts the hash of the tenant.
 *
 * Strangers choose how many visitors there are: an address of IPv6 costs nothing. So a process adds a bounded number of
 * hashes to a tenant's day. Beyond, it only looks them up: visitors who were seen before are still recognised, and of others it is
 * unknown whether they are new (`full`).
 */
export interface FirstVisits {
  firsts(step: Step, part: Pick<BatchPart, "batch" | "places">, visits: readonly DayVisits[]): Promise<FoundFirsts>;
}

/** Clicks of a link on a day: places of the part, from `from` to before `to`. */
export interface DayVisits {
  readonly link: { readonly link: LinkNumber; readonly tenant: TenantNumber };
  readonly day: TenantDay;
  readonly from: number;
  readonly to: number;
}

export interface FoundFirsts {
  /** Of each click of the part, as stored: bits, or `tooLate` if it is unknown. */
  readonly first: Uint8Array;
  /** Unknown because they came too late. */
  readonly tooLate: number;
  /** Unknown because there is no room for more visitors. */
  readonly unrecognised: number;
  /** The days that have no room. */
  readonly fullDays: readonly TenantDay[];
}

/** The secret of a tenant's day. */
export const dayKey = (secret: Uint8Array, salt: string): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", secret, Buffer.from(salt, "hex"), "visitors of a tenant's day", 32));

/** 53 bits: as many as a number holds exactly. */
export function visitorHash(key: Uint8Array, visitor: number): number {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(visitor);
  const digest = createHmac("sha256", key).update(bytes).digest();
  return digest.readUIntBE(0, 6) * 32 + ((digest[6] ?? 0) >> 3);
}

type Subject = LinkNumber | GroupNumber;
interface Seen {
  readonly until: number;
  readonly subject: Subject;
  readonly hash: number;
}

/** Of a tenant's day, in each process: a visitor takes one, and one for each link. 50 MB on SQLite, 260 MB on PostgreSQL. */
export const visitorRowsMost = 2_000_000;
/** About 20 MB. Beyond, a hash is inserted again, which changes nothing. */
const knownMost = 400_000;
const hashesMost = 50_000;

export function createFirstVisits(sql: Sql, rowsMost = visitorRowsMost): FirstVisits {
  const added = new Map<string, { readonly until: number; rows: number }>();
  /** Marks of visitors, by the end of their day. */
  let known = new Map<number, Set<number>>();
  let size = 0;
  /** By tenant and day, and by visitor. */
  const hashes = new Map<string, Map<number, number>>();
  let hashed = 0;
  const insertVisitors: BulkInsert<Db, { subject: Subject; hash: number }> = bulkInsert(sql.dialect, {
    into: "click_visitors",
    columns: { until: "bigint", subject: "bigint", hash: "bigint" },
    tail: "on conflict do nothing returning subject, hash",
  });
  const findVisitors: BulkFind<Db, Seen> = bulkFind(sql.dialect, {
    from: "click_visitors",
    key: { until: "bigint", subject: "bigint", hash: "bigint" },
    select: ["until", "subject", "hash"],
  });

  const isFull = (day: TenantDay): boolean => (added.get(nameOf(day))?.rows ?? 0) >= rowsMost;

  function countRow(day: TenantDay): void {
    const name = nameOf(day);
    const before = added.get(name);
    if (before === undefined) added.set(name, { until: day.until, rows: 1 });
    else before.rows++;
  }

  function hashesOf(day: TenantDay): Map<number, number> {
    const name = nameOf(day);
    let ofDay = hashes.get(name);
    if (ofDay === undefined) {
      ofDay = new Map();
      hashes.set(name, ofDay);
    }
    return ofDay;
  }

  function hashOf(ofDay: Map<number, number>, key: Uint8Array, visitor: number): number {
    let hash = ofDay.get(visitor);
    if (hash === undefined) {
      hash = visitorHash(key, visitor);
      ofDay.set(visitor, hash);
      hashed++;
    }
    return hash;
  }

  function remember(seen: Iterable<SeenOnDay>, now: number): void {
    for (const until of known.keys()) {
      if (until >= now - keptAfterMs) continue;
      size -= known.get(until)?.size ?? 0;
      known.delete(until);
    }
    for (const [name, { until }] of added) if (until < now - keptAfterMs) added.delete(name);
    for (const { as, until } of seen) {
      if (size >= knownMost) {
        known = new Map();
        size = 0;
      }
      let ofDay = known.get(until);
      if (ofDay === undefined) {
        ofDay = new Set();
        known.set(until, ofDay);
      }
      if (!ofDay.has(as)) size++;
      ofDay.add(as);
    }
  }

  /** Clicks of visitors who are not known to have been there: their places, and two marks for each. */
  function unknownVisits(
    part: Pick<BatchPart, "batch" | "places">,
    visits: readonly DayVisits[],
    found: Unknown,
  ): void {
    const { batch } = part;
    const { reason, visitor } = batch;
    let [lastDay, ofDay, full]: [TenantDay | undefined, Map<number, number>, boolean] = [undefined, new Map(), false];
    for (const { link, day, from, to } of visits) {
      const { key, until } = day;
      if (day !== lastDay) [lastDay, ofDay, full] = [day, hashesOf(day), isFull(day)];
      const before = known.get(until);
      for (let n = from; n < to; n++) {
        const place = part.places[n] ?? 0;
        const who = visitor[place] ?? 0;
        if (who === 0 || !isPerson(reason[place] ?? 0)) continue;
        if (key === undefined) {
          found.tooLate.push(n);
          continue;
        }
        // A visitor is written to a link and to its tenant with the same batch: known to the link is known to both.
        const asLink = markOf(link.link, who);
        if (before?.has(asLink) === true) continue;
        const asTenant = markOf(link.tenant, who);
        const hash = hashOf(ofDay, key, who);
        const ofLink = markOf(link.link, hash);
        const rows = full ? found.lookedUp : found.asked;
        rows.set(ofLink, { until, subject: link.link, hash, day, as: asLink });
        let ofTenant = noMark;
        if (before?.has(asTenant) !== true && isFirstOf(batch, asTenant, place)) {
          ofTenant = markOf(link.tenant, hash);
          rows.set(ofTenant, { until, subject: link.tenant, hash, day, as: asTenant });
        }
        found.places.push(n);
        found.marks.push(ofLink, ofTenant);
      }
    }
  }

  return {
    async firsts(step, part, visits) {
      if (hashed >= hashesMost) {
        hashes.clear();
        hashed = 0;
      }
      const unknown: Unknown = { places: [], marks: [], tooLate: [], asked: new Map(), lookedUp: new Map() };
      unknownVisits(part, visits, unknown);
      const { asked, lookedUp } = unknown;
      const inserted = await insertVisitors.run(step.trx, inOrder(asked));
      const found = await findVisitors.all(step.trx, inOrder(lookedUp));
      const left = new Set(inserted.map(({ subject, hash }) => markOf(subject, hash)));
      step.onceStored(() => {
        for (const { subject, hash } of inserted) {
          const row = asked.get(markOf(subject, hash));
          if (row !== undefined) countRow(row.day);
        }
      });
      const seen = [...asked.values()];
      for (const { subject, hash } of found) {
        const mark = markOf(subject, hash);
        const row = lookedUp.get(mark);
        if (row !== undefined) seen.push(row);
        lookedUp.delete(mark);
      }
      step.afterCommit(() => remember(seen, step.now));

      const first = new Uint8Array(part.places.length);
      for (const n of unknown.tooLate) first[n] = tooLate;
      let unrecognised = 0;
      const fullDays = new Set<TenantDay>();
      for (const [i, n] of unknown.places.entries()) {
        const [ofLink = 0, ofTenant = 0] = [unknown.marks[2 * i], unknown.marks[2 * i + 1]];
        const missing = lookedUp.get(ofLink) ?? lookedUp.get(ofTenant);
        if (missing !== undefined) {
          first[n] = tooLate;
          unrecognised++;
          fullDays.add(missing.day);
        } else first[n] = (left.delete(ofLink) ? firstToLink : 0) + (left.delete(ofTenant) ? firstToTenant : 0);
      }
      return { first, tooLate: unknown.tooLate.length, unrecognised, fullDays: [...fullDays] };
    },
  };
}

interface Unknown {
  readonly places: number[];
  readonly marks: number[];
  readonly tooLate: number[];
  /** Rows to insert, and rows to look up because there is no room for more, by their marks. */
  readonly asked: Map<number, SeenOnDay>;
  readonly lookedUp: Map<number, SeenOnDay>;
}

interface SeenOnDay extends Seen {
  readonly day: TenantDay;
  /** What is remembered of it: the mark of the visitor instead of the hash, so that a known one is found without it. */
  readonly as: number;
}

const noMark = -1;

/** By quarter hour, because no day begins within one, and by the mark of tenant and visitor: the place of the first click. */
type FirstPlaces = ReadonlyMap<number, ReadonlyMap<number, number>>;
const firstPlaces = new WeakMap<ClickBatch, FirstPlaces>();

/** Whether this is the visitor's first click on any link of the tenant in the batch. */
function isFirstOf(batch: ClickBatch, asTenant: number, place: number): boolean {
  let found = firstPlaces.get(batch);
  if (found === undefined) {
    found = findFirstPlaces(batch);
    firstPlaces.set(batch, found);
  }
  return found.get(quarterOf(batch.at[place] ?? 0))?.get(asTenant) === place;
}

/** Clicks are in the order in which they happened. */
function findFirstPlaces({ links, link, at, reason, visitor }: ClickBatch): FirstPlaces {
  const found = new Map<number, Map<number, number>>();
  let [lastQuarter, ofQuarter] = [Number.NaN, new Map<number, number>()];
  for (let place = 0; place < at.length; place++) {
    const who = visitor[place] ?? 0;
    const tenant = links[link[place] ?? 0]?.tenant;
    if (who === 0 || tenant === undefined || !isPerson(reason[place] ?? 0)) continue;
    const quarter = quarterOf(at[place] ?? 0);
    if (quarter !== lastQuarter) {
      lastQuarter = quarter;
      ofQuarter = found.get(quarter) ?? new Map();
      found.set(quarter, ofQuarter);
    }
    const mark = markOf(tenant, who);
    if (!ofQuarter.has(mark)) ofQuarter.set(mark, place);
  }
  return found;
}

const nameOf = ({ tenant, start }: TenantDay): string => `${tenant} ${start}`;

/** In the order of keys, so that processes wait for each other and never deadlock. */
function inOrder(rows: ReadonlyMap<number, Seen>): BulkValue[] {
  const sorted = [...rows.values()].sort((a, b) => a.until - b.until || a.subject - b.subject || a.hash - b.hash);
  return sorted.flatMap(({ until, subject, hash }) => [until, subject, hash]);
}

const keptAfterMs = 3_600_000;

/** Subject and hash, or visitor, in one number. They are random, so another pair has the same one as rarely as another hash. */
function markOf(subject: number, hash: number): number {
  const low = (hash >>> 0) ^ Math.imul(subject, 0x9e3779b1);
  const high = Math.floor(hash / 2 ** 32) ^ (Math.imul(subject, 0x85ebca6b) >>> 11);
  return high * 2 ** 32 + (low >>> 0);
}
