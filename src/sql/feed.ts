import { sql as raw, type Selectable } from "kysely";
import type { Feed, FeedPage, RecordedChange } from "../cache/feed.ts";
import type { ChangeTable } from "./schema.ts";
import type { Sql } from "./sql.ts";
import { type Params, statement } from "./statement.ts";
import type { Db } from "./tenant-db.ts";

/**
 * The change feed: which versions were committed, in an order in which none is missed.
 *
 * SQLite commits one writer after the other, so IDs are in commit order. On PostgreSQL they are not: a row with a lower
 * ID may be committed after one with a higher ID was read. There the order is (transaction, ID), and a follower
 * advances only past transactions below the oldest one still running: nothing can appear behind those any more. Changes
 * committed above that line are announced at once anyway, and again until the line has passed them: a transaction left
 * open, even in another database of the same server, must not delay the news.
 */
export interface SqlFeed extends Feed<FeedPosition> {
  /** Whether the first change is older. */
  hasBefore(before: number): Promise<boolean>;
  /**
   * Deletes the changes that are older than `before`, which every follower has seen; returns how many. They are nearly in the
   * order of their times, so it looks from the front, `limit` at a time, until none of those is old. There is no index on the
   * times: it would be one more to write for each imported link. A server whose clock is ahead writes changes
   * that lie in the future, beyond `now`: they say nothing about those behind them.
   */
  prune(times: { readonly before: number; readonly now: number }, limit: number): Promise<number>;
}

/** A follower's position. Opaque outside this file. */
export interface FeedPosition {
  readonly xid: string;
  readonly id: number;
}

export function createFeed(sql: Sql): SqlFeed {
  const { db } = sql;
  const isSqlite = sql.dialect === "sqlite";
  const key = raw.raw(isSqlite ? "id" : "xid, id");
  const front = isSqlite ? { xid: "", id: 0 } : { xid: "0", id: 0 };
  const after = isSqlite ? afterId : afterTransaction;

  async function end(): Promise<FeedPosition> {
    if (isSqlite) {
      const last = db.selectFrom("changes").select(raw<number>`coalesce(max(id), 0)`.as("id"));
      return { xid: "", id: (await last.executeTakeFirst())?.id ?? 0 };
    }
    const line = raw<{ xid: string }>`select pg_snapshot_xmin(pg_current_snapshot())::text as xid`;
    const xid = (await line.execute(db)).rows[0]?.xid;
    if (xid === undefined) throw new Error("PostgreSQL answered no snapshot");
    return { xid, id: 0 };
  }

  async function afterId({ id }: FeedPosition, limit: number): Promise<FeedPage<FeedPosition>> {
    const rows = await selectAfterId.all(db, { id, limit });
    const next = { xid: "", id: rows.at(-1)?.id ?? id };
    return { changes: rows.map(toChange), next, finalUntil: next, finalCount: rows.length };
  }

  async function afterTransaction(cursor: FeedPosition, limit: number): Promise<FeedPage<FeedPosition>> {
    const rows = await selectAfterTransaction.all(db, { ...cursor, limit });
    const position = (row: FeedPosition | undefined) => row && { xid: row.xid, id: row.id };
    const finalCount = rows.findLastIndex((row) => row.isFinal) + 1;
    return {
      changes: rows.map(toChange),
      next: position(rows.at(-1)) ?? cursor,
      finalUntil: position(rows[finalCount - 1]),
      finalCount,
    };
  }

  async function deleteOld(from: FeedPosition, until: FeedPosition, before: number): Promise<number> {
    const place = ({ xid, id }: FeedPosition) => (isSqlite ? raw`(${id})` : raw`(${xid}::xid8, ${id})`);
    const { numAffectedRows } = await raw`delete from changes
      where (${key}) > ${place(from)} and (${key}) <= ${place(until)} and at < ${before}`.execute(db);
    return Number(numAffectedRows);
  }

  /**
   * Those of transactions that this PostgreSQL has not had yet: they came with a dump or a copy of another one. They sort
   * behind all that is written here, so whoever looks from the front never reaches them, and every follower reads them each time.
   */
  async function deleteForeign(before: number): Promise<number> {
    const { numAffectedRows } = await raw`delete from changes
      where xid >= pg_snapshot_xmax(pg_current_snapshot()) and at < ${before}`.execute(db);
    return Number(numAffectedRows);
  }

  return {
    end,
    after,
    toText,
    fromText,

    async hasBefore(before) {
      const { rows } = await raw<{ at: number }>`select at from changes order by ${key} limit 1`.execute(db);
      return rows.some(({ at }) => at < before);
    },

    async prune({ before, now }, limit) {
      let total = isSqlite ? 0 : await deleteForeign(before);
      for (let from = front; ; ) {
        const { changes, next } = await after(from, limit);
        const hasOld = changes.some(({ at }) => at < before);
        if (hasOld) total += await deleteOld(from, next, before);
        if (changes.length < limit || (!hasOld && changes.some(({ at }) => at <= now))) return total;
        from = next;
      }
    },
  };
}

const selectAfterId = statement((db: Db, { id, limit }: Params<{ id: number; limit: number }>) =>
  db
    .selectFrom("changes")
    .select(["id", "kind", "domain", "code", "version", "at"])
    .where("id", ">", id)
    .orderBy("id")
    .limit(limit),
);

const selectAfterTransaction = statement((db: Db, { xid, id, limit }: Params<FeedPosition & { limit: number }>) =>
  db
    .selectFrom("changes")
    .select(["id", "kind", "domain", "code", "version", "at", raw<string>`xid::text`.as("xid")])
    .select(raw<boolean>`xid < pg_snapshot_xmin(pg_current_snapshot())`.as("isFinal"))
    .where(raw<boolean>`(xid, id) > (${xid}::xid8, ${id})`)
    .orderBy(raw`changes.xid`) // not the text of the same name above, in which "10" sorts before "9"
    .orderBy("id")
    .limit(limit),
);

function toChange(row: Pick<Selectable<ChangeTable>, "kind" | "domain" | "code" | "version" | "at">): RecordedChange {
  const { kind, domain, code, version, at } = row;
  if (kind === "links") return { kind, domain, codes: code, version, at };
  if (kind !== "link") return { kind, key: domain, version, at };
  // During an upgrade, a server of a version before 0019 writes a domain like this.
  if (code === "") return { kind: "domain", key: domain, version, at };
  return { kind, domain, code, version, at };
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
