import { createHmac, hkdfSync } from "node:crypto";
import { type BulkInsert, type BulkValue, bulkInsert } from "../../sql/bulk.ts";
import type { GroupNumber, LinkNumber, TenantNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import type { Db } from "../../sql/tenant-db.ts";
import { firstToLink, firstToTenant, isPerson, tooLate } from "../click.ts";
import type { Step } from "./step.ts";
import type { TenantDay } from "./tenant-days.ts";

/**
 * First visits of a day, without cookies. A visitor is a hash, with a key of the tenant's day that is deleted when the day
 * is over; so nobody can tell whether two days had the same visitor, or compute a hash from an address later.
 *
 * Hashes are inserted in the transaction of their clicks. The one whose insert succeeds is first, whatever other
 * processes do at the same time. Memory only saves inserts of hashes that are known to be there.
 */
export interface FirstVisits {
  /** `first` of each click, in their order. */
  firsts(step: Step, clicks: readonly VisitingClick[]): Promise<number[]>;
}

export interface VisitingClick {
  readonly link: { readonly link: LinkNumber; readonly tenant: TenantNumber };
  readonly reason: number;
  /** 0: may not be recognised. */
  readonly visitor: number;
  readonly day: TenantDay;
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

/** About 20 MB. Beyond, a hash is inserted again, which changes nothing. */
const knownMost = 400_000;
const hashesMost = 50_000;

export function createFirstVisits(sql: Sql): FirstVisits {
  /** By the end of their day. */
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

  function hashesOf({ tenant, start }: TenantDay): Map<number, number> {
    const name = `${tenant} ${start}`;
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

  function remember(seen: Iterable<[number, Seen]>, now: number): void {
    for (const until of known.keys()) {
      if (until >= now - keptAfterMs) continue;
      size -= known.get(until)?.size ?? 0;
      known.delete(until);
    }
    for (const [mark, { until }] of seen) {
      if (size >= knownMost) {
        known = new Map();
        size = 0;
      }
      let ofDay = known.get(until);
      if (ofDay === undefined) {
        ofDay = new Set();
        known.set(until, ofDay);
      }
      if (!ofDay.has(mark)) size++;
      ofDay.add(mark);
    }
  }

  return {
    async firsts(step, clicks) {
      const asked = new Map<number, Seen>();
      if (hashed >= hashesMost) {
        hashes.clear();
        hashed = 0;
      }
      let [lastDay, ofDay]: [TenantDay | undefined, Map<number, number>] = [undefined, new Map()];
      const marks = clicks.map(({ link, reason, visitor, day }): readonly [number, number] | undefined => {
        if (!isPerson(reason) || visitor === 0 || day.key === undefined) return undefined;
        if (day !== lastDay) [lastDay, ofDay] = [day, hashesOf(day)];
        const hash = hashOf(ofDay, day.key, visitor);
        const both = [link.link, link.tenant].map((subject) => {
          const mark = markOf(subject, hash);
          if (!known.get(day.until)?.has(mark)) asked.set(mark, { until: day.until, subject, hash });
          return mark;
        });
        return [both[0] ?? 0, both[1] ?? 0];
      });
      const sorted = [...asked.values()].sort((a, b) => a.until - b.until || a.subject - b.subject || a.hash - b.hash);
      const values: BulkValue[] = [];
      for (const { until, subject, hash } of sorted) values.push(until, subject, hash);
      const inserted = await insertVisitors.run(step.trx, values);
      const left = new Set(inserted.map(({ subject, hash }) => markOf(subject, hash)));
      step.afterCommit(() => remember(asked, step.now));
      return marks.map((mark, place) => {
        const click = clicks[place];
        if (mark === undefined) {
          const isLate = click !== undefined && isPerson(click.reason) && click.visitor !== 0;
          return isLate ? tooLate : 0;
        }
        return (left.delete(mark[0]) ? firstToLink : 0) + (left.delete(mark[1]) ? firstToTenant : 0);
      });
    },
  };
}

const keptAfterMs = 3_600_000;

/** Subject and hash in one number. Hashes are random, so another pair has the same one as rarely as another hash. */
function markOf(subject: number, hash: number): number {
  const low = (hash >>> 0) ^ Math.imul(subject, 0x9e3779b1);
  const high = Math.floor(hash / 2 ** 32) ^ (Math.imul(subject, 0x85ebca6b) >>> 11);
  return high * 2 ** 32 + (low >>> 0);
}
