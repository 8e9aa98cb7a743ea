import { sql as raw } from "kysely";
import type { Sql } from "./sql.ts";
import { type Params, statement } from "./statement.ts";
import type { Db } from "./tenant-db.ts";

/**
 * The servers that use this database, each with a row that it renews. One not renewed for six seconds no longer counts.
 * One not renewed for a minute is removed, and with it the server's claims on jobs (`sql/jobs.ts`). Two servers exclude
 * each other unless both have a Redis to share limits.
 *
 * A joining server checks the others and adds itself in one transaction, one server at a time: of two that start at the
 * same moment, the second finds the first. All times are the database's.
 */
export interface Instance {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** Whether it has a Redis. */
  readonly shares: boolean;
}

export interface Instances {
  /** One attempt. */
  join(): Promise<Joined | Blocked>;
  /** In one round trip: renews our row, and reads the others. */
  beat(): Promise<Others>;
  /** Removes the rows that were not renewed for a minute. */
  removeSilent(): Promise<void>;
  leave(): Promise<void>;
}

export interface Joined {
  readonly kind: "joined";
  readonly others: number;
}

/** By another server, or by its abandoned row: it is certainly alive only when `seenAt` moves. */
export interface Blocked {
  readonly kind: "blocked";
  readonly by: Instance & { readonly seenAt: number };
}

export interface Others {
  readonly others: number;
  /** How many of them exclude us. */
  readonly excluding: number;
  /** Rows that were not renewed for a minute. */
  readonly silent: number;
  /** When our row was renewed. */
  readonly seenAt: number;
}

export const liveMs = 6_000;
export const silentMs = 60_000;

export function createInstances(sql: Sql, self: Instance): Instances {
  const oldest = raw<number>`${sql.now} - ${raw.lit(liveMs)}`;
  const silentSince = raw<number>`${sql.now} - ${raw.lit(silentMs)}`;
  const own = { ...self, shares: self.shares ? (1 as const) : (0 as const) };
  const renewing = (db: Db, row: typeof own | Params<typeof own>) =>
    db
      .insertInto("instances")
      .values({ ...row, started_at: sql.now, seen_at: sql.now })
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ seen_at: sql.now }));

  /** Every two seconds. */
  const renewAndRead = statement((db: Db, row: Params<typeof own>) =>
    renewing(db, row).returning((expression) => {
      const others = expression
        .selectFrom("instances as other")
        .select(expression.fn.countAll<number>().as("count"))
        .where("other.id", "<>", row.id)
        .where("other.seen_at", ">", oldest);
      const excluding = self.shares ? others.where("other.shares", "=", 0) : others;
      const silent = expression
        .selectFrom("instances as other")
        .select(expression.fn.countAll<number>().as("count"))
        .where("other.seen_at", "<=", silentSince);
      return [
        others.$asScalar().$notNull().as("others"),
        excluding.$asScalar().$notNull().as("excluding"),
        silent.$asScalar().$notNull().as("silent"),
        "seen_at as seenAt",
      ];
    }),
  );

  return {
    join: () =>
      sql.transaction(async (trx) => {
        // SQLite's transactions are serialized anyway. This mode blocks writers but not readers.
        if (sql.dialect === "postgres") await raw`lock table instances in share row exclusive mode`.execute(trx);
        const rows = await trx
          .selectFrom("instances")
          .selectAll()
          .where("id", "<>", self.id)
          .where("seen_at", ">", oldest)
          .orderBy("id")
          .execute();
        const dead = rows.filter((row) => isDead(row, self));
        // Not removed: containers with the host's name may have the same process id, and one that lives beats again.
        for (const { id } of dead)
          await trx.updateTable("instances").set({ seen_at: oldest }).where("id", "=", id).execute();
        const others = rows.filter((row) => !dead.includes(row));
        const by = others.find((row) => !(self.shares && row.shares));
        if (by) return { kind: "blocked", by: { ...by, shares: by.shares === 1, seenAt: by.seen_at } };
        await renewing(trx, own).execute();
        return { kind: "joined", others: others.length };
      }),

    beat: () => renewAndRead.one(sql.db, own),

    async removeSilent() {
      await sql.db.deleteFrom("instances").where("seen_at", "<=", silentSince).execute();
    },

    async leave() {
      await sql.db.deleteFrom("instances").where("id", "=", self.id).execute();
    },
  };
}

/** About our own machine we know more than the row says: a killed predecessor must not be waited for. */
function isDead(row: { readonly host: string; readonly pid: number }, self: Instance): boolean {
  return row.host === self.host && (row.pid === self.pid || !isRunning(row.pid));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH"); // a process of another user is alive too
  }
}
