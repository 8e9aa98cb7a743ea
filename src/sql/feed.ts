import { sql as raw, type Transaction } from "kysely";
import type { Schema } from "./schema.ts";
import type { Sql } from "./sql.ts";

/**
 * The change feed: which versions were committed, in an order in which none is missed.
 *
 * SQLite commits one writer after the other, so ids are in the order of commits. On PostgreSQL they are not: a row with
 * a lower id may be committed after one with a higher id was read. There the order is (transaction, id), and only
 * transactions below the oldest one still running are read: nothing can appear behind them any more.
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

export interface Feed {
  /** The present end: what is committed later comes after it. */
  end(): Promise<FeedPosition>;
  after(position: FeedPosition, limit: number): Promise<{ changes: readonly Change[]; position: FeedPosition }>;
  /** Forgets what every follower has long seen. */
  prune(before: number): Promise<void>;
}

export async function recordChange(trx: Transaction<Schema>, changes: readonly Change[], at: number): Promise<void> {
  await trx
    .insertInto("changes")
    .values(changes.map(({ domain, code, version }) => ({ domain, code, version, at })))
    .execute();
}

export function createFeed(sql: Sql): Feed {
  const { db } = sql;
  const prune = async (before: number) => {
    await db.deleteFrom("changes").where("at", "<", before).execute();
  };

  if (sql.dialect === "sqlite") {
    return {
      prune,
      async end() {
        const row = await db
          .selectFrom("changes")
          .select(raw<number>`coalesce(max(id), 0)`.as("id"))
          .executeTakeFirst();
        return { xid: "", id: row?.id ?? 0 };
      },
      async after(position, limit) {
        const changes = await db
          .selectFrom("changes")
          .select(["id", "domain", "code", "version"])
          .where("id", ">", position.id)
          .orderBy("id")
          .limit(limit)
          .execute();
        return { changes, position: { xid: "", id: changes.at(-1)?.id ?? position.id } };
      },
    };
  }

  return {
    prune,
    async end() {
      const { rows } = await raw<{ xid: string }>`select pg_snapshot_xmin(pg_current_snapshot())::text as xid`.execute(
        db,
      );
      const xid = rows[0]?.xid;
      if (xid === undefined) throw new Error("PostgreSQL answered no snapshot");
      return { xid, id: 0 };
    },
    async after(position, limit) {
      const changes = await db
        .selectFrom("changes")
        .select(["id", "domain", "code", "version", raw<string>`xid::text`.as("xid")])
        .where(raw<boolean>`(xid, id) > (${position.xid}::xid8, ${position.id})`)
        .where(raw<boolean>`xid < pg_snapshot_xmin(pg_current_snapshot())`)
        .orderBy(raw`xid`)
        .orderBy("id")
        .limit(limit)
        .execute();
      const last = changes.at(-1);
      return { changes, position: last ? { xid: last.xid, id: last.id } : position };
    },
  };
}
