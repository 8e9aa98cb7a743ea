import { sql as raw } from "kysely";
import type { Clock } from "../base/clock.ts";
import type { Sql } from "./sql.ts";

/**
 * Work that one process does for all of them: whoever finds it due takes it, and says when it is due next. A process that
 * ends in the middle leaves it to whoever looks after `atMostMs`; so does one that takes longer, and then two are at
 * it: work must bear that. All times are the database's.
 */
export interface Job {
  readonly name: string;
  /** After how long somebody else may begin. */
  readonly atMostMs: number;
  /** When it is due again, from the time it ended at. */
  readonly next: (now: number) => number;
  readonly work: () => Promise<void>;
}

export interface Jobs {
  /** When it is due for the first time; nothing if it has a time already. What was never planned is due at once. */
  plan(name: string, due: number): Promise<void>;
  /** Does it if it is due and nobody is at it; whether it did. If the work fails, so does this, and it is due again soon. */
  run(job: Job): Promise<boolean>;
}

const againMs = 60_000;

export function createJobs(sql: Sql, holder: string, clock: Clock): Jobs {
  const { db } = sql;

  const take = ({ name, atMostMs }: Job) =>
    db
      .insertInto("jobs")
      .values({ name, holder, due_at: raw<number>`${sql.now} + ${atMostMs}` })
      .onConflict((conflict) =>
        conflict
          .column("name")
          .doUpdateSet({ holder, due_at: raw<number>`${sql.now} + ${atMostMs}` })
          .where("jobs.due_at", "<=", sql.now),
      )
      .returning(sql.now.as("now"))
      .executeTakeFirst();

  const give = (name: string, due: number) =>
    db
      .updateTable("jobs")
      .set({ holder: null, due_at: due })
      .where("name", "=", name)
      .where("holder", "=", holder)
      .execute();

  return {
    async plan(name, due) {
      await db
        .insertInto("jobs")
        .values({ name, holder: null, due_at: due })
        .onConflict((conflict) => conflict.column("name").doNothing())
        .execute();
    },

    async run(job) {
      const taken = await take(job);
      if (taken === undefined) return false;
      const started = clock.elapsed();
      const now = () => taken.now + Math.round(clock.elapsed() - started);
      try {
        await job.work();
      } catch (error) {
        await give(job.name, now() + againMs);
        throw error;
      }
      await give(job.name, job.next(now()));
      return true;
    },
  };
}
