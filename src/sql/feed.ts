import { sql as raw } from "kysely";
import type { Sql } from "./sql.ts";
import type { Trx } from "./tenant-db.ts";

/**
 * The change feed: which versions were committed, in an order in which none is missed.
 *
 * SQLite commits one writer after the other, so ids are in the order of commits. On PostgreSQL they are not: a row with
 * a lower id may be committed after one with a higher id was read. There the order is (transaction, id), and a follower
 * moves on only past transactions below the oldest one still running: nothing can appear behind those any more. What is
 * committed above that line is told at once all the same, and told again until the line has passed it: a transaction
 * somebody left open, even in another database of the same server, must not hold back the news.
 */
export interface Change {
  readonly domain: string;
  readonly code: string;
  readonly version: number;
}

/** Where a follower stands. Opaque outside of this file. */
export interface FeedPosition {
  readonly xid: string;
  readonly id: number;
}

export interface RecordedChange extends Change {
  /** When, by the clock of whoever made it. */
  readonly at: number;
}

export interface FeedPage {
  readonly changes: readonly RecordedChange[];
  /** The end of this page. */
  readonly next: FeedPosition;
  /** Up to here nothing can be missing any more; nothing if that is before this page. */
  readonly settled: FeedPosition | undefined;
  /** How many of the changes that is. */
  readonly settledCount: number;
}

export interface Feed {
  /** The present end: what is committed later comes after it. */
  end(): Promise<FeedPosition>;
  after(cursor: FeedPosition, limit: number): Promise<FeedPage>;
  /** Text that sorts as positions do. */
  toText(position: FeedPosition): string;
  fromText(text: string): FeedPosition;
  /** Forgets up to `limit` changes that every follower has long seen; answers how many. */
  prune(before: number, limit: number): Promise<number>;
}

export async function recordChange(trx: Trx, changes: readonly Change[], at: number): Promise<void> {
  await trx
    .insertInto("changes")
    .values(changes.map(({ domain, code, version }) => ({ domain, code, version, at })))
    .execute();
}

export function createFeed(sql: Sql): Feed {
  const { db } = sql;
  const prune = async (before: number, limit: number) => {
    const old = db.selectFrom("changes").select("id").where("at", "<", before).orderBy("at").limit(limit);
    const { numDeletedRows } = await db.deleteFrom("changes").where("id", "in", old).executeTakeFirst();
    return Number(numDeletedRows);
  };

  if (sql.dialect === "sqlite") {
    return {
      prune,
      toText,
      fromText,
      async end() {
        const row = await db
          .selectFrom("changes")
          .select(raw<number>`coalesce(max(id), 0)`.as("id"))
          .executeTakeFirst();
        return { xid: "", id: row?.id ?? 0 };
      },
      async after(cursor, limit) {
        const changes = await db
          .selectFrom("changes")
          .select(["id", "domain", "code", "version", "at"])
          .where("id", ">", cursor.id)
          .orderBy("id")
          .limit(limit)
          .execute();
        const next = { xid: "", id: changes.at(-1)?.id ?? cursor.id };
        return { changes, next, settled: next, settledCount: changes.length };
      },
    };
  }

  return {
    prune,
    toText,
    fromText,
    async end() {
      const { rows } = await raw<{ xid: string }>`select pg_snapshot_xmin(pg_current_snapshot())::text as xid`.execute(
        db,
      );
      const xid = rows[0]?.xid;
      if (xid === undefined) throw new Error("PostgreSQL answered no snapshot");
      return { xid, id: 0 };
    },
    async after(cursor, limit) {
      const changes = await db
        .selectFrom("changes")
        .select(["id", "domain", "code", "version", "at", raw<string>`xid::text`.as("xid")])
        .select(raw<boolean>`xid < pg_snapshot_xmin(pg_current_snapshot())`.as("settled"))
        .where(raw<boolean>`(xid, id) > (${cursor.xid}::xid8, ${cursor.id})`)
        .orderBy(raw`changes.xid`) // not the text of the same name above: "10" comes before "9"
        .orderBy("id")
        .limit(limit)
        .execute();
      const position = (row: { xid: string; id: number } | undefined) => row && { xid: row.xid, id: row.id };
      const settledCount = changes.findLastIndex((change) => change.settled) + 1;
      return {
        changes,
        next: position(changes.at(-1)) ?? cursor,
        settled: position(changes[settledCount - 1]),
        settledCount,
      };
    },
  };
}

const xidDigits = 20;
const idDigits = 16;

const toText = ({ xid, id }: FeedPosition): string =>
  `${xid.padStart(xidDigits, "0")}.${String(id).padStart(idDigits, "0")}`;

function fromText(text: string): FeedPosition {
  const [xid = "", id = ""] = text.split(".");
  if (!/^\d+$/.test(xid) || !/^\d+$/.test(id)) throw new Error(`"${text}" is no place in the feed`);
  return { xid: xid.replace(/^0+(?=\d)/, ""), id: Number(id) };
}
