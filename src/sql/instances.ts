import { sql as raw } from "kysely";
import type { Sql } from "./sql.ts";
import type { Db } from "./tenant-db.ts";

/**
 * The servers that use this database, each with a row that it renews. A row not renewed for six seconds is dead. Two
 * servers exclude each other unless both have a Redis to share limits.
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
  /** One attempt. Also removes dead rows. */
  join(): Promise<Joined | Blocked>;
  /** In one round trip: renews our row, and reads the others. */
  beat(): Promise<Others>;
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
}

export const liveMs = 6_000;

export function createInstances(sql: Sql, self: Instance): Instances {
  const oldest = raw<number>`${sql.now} - ${raw.lit(liveMs)}`;
  const own = { ...self, shares: self.shares ? (1 as const) : (0 as const), started_at: sql.now, seen_at: sql.now };
  const renew = (db: Db) =>
    db
      .insertInto("instances")
      .values(own)
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ seen_at: sql.now }));

  return {
    join: () =>
      sql.transaction(async (trx) => {
        // SQLite's transactions are serialized anyway. This mode blocks writers but not readers.
        if (sql.dialect === "postgres") await raw`lock table instances in share row exclusive mode`.execute(trx);
        await trx.deleteFrom("instances").where("seen_at", "<=", oldest).execute();
        const rows = await trx.selectFrom("instances").selectAll().where("id", "<>", self.id).orderBy("id").execute();
        const dead = rows.filter((row) => isDead(row, self));
        for (const { id } of dead) await trx.deleteFrom("instances").where("id", "=", id).execute();
        const others = rows.filter((row) => !dead.includes(row));
        const by = others.find((row) => !(self.shares && row.shares));
        if (by) return { kind: "blocked", by: { ...by, shares: by.shares === 1, seenAt: by.seen_at } };
        await renew(trx).execute();
        return { kind: "joined", others: others.length };
      }),

    beat: () =>
      renew(sql.db)
        .returning((expression) => {
          const others = expression
            .selectFrom("instances as other")
            .select(expression.fn.countAll<number>().as("count"))
            .where("other.id", "<>", self.id)
            .where("other.seen_at", ">", oldest);
          const excluding = self.shares ? others.where("other.shares", "=", 0) : others;
          return [others.$asScalar().$notNull().as("others"), excluding.$asScalar().$notNull().as("excluding")];
        })
        .executeTakeFirstOrThrow(),

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
