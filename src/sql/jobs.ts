import { type RawBuilder, sql as raw } from "kysely";
import type { Clock } from "../base/clock.ts";
import { Late } from "../base/deadline.ts";
import { messageOf } from "../base/errors.ts";
import type { ClaimedJob, JobClaims, JobLook } from "../base/jobs.ts";
import { printable } from "../base/printable.ts";
import type { Sql } from "./sql.ts";

/**
 * Claims on jobs that one process runs for all. The row says when a job is due, who is running it, and how its last run
 * ended. A process that is killed leaves its claim, which runs out a little after the job's deadline; the next process
 * to look then takes over and counts it as a failure. The same happens to one that takes too long, and then two are
 * running it: the work must tolerate that. All times are the database's.
 */
const graceMs = 10_000; // a run that ends at its deadline still gives its claim back
const retryMs = 60_000;
const errorMost = 200;

export function createJobClaims(sql: Sql, holder: string, clock: Clock): JobClaims {
  const { db } = sql;
  const later = (ms: number): RawBuilder<number> => raw<number>`${sql.now} + ${ms}`;

  const read = (name: string) =>
    db
      .selectFrom("jobs")
      .select(["due_at", "holder", "succeeded_at", "failures", sql.now.as("now")])
      .where("name", "=", name)
      .executeTakeFirst();

  async function planned({ name, firstAt }: ClaimedJob) {
    await db
      .insertInto("jobs")
      .values({ name, holder: null, due_at: firstAt })
      .onConflict((conflict) => conflict.column("name").doNothing())
      .execute();
    const row = await read(name);
    if (row === undefined) throw new Error(`the row of the job ${name} is gone`);
    return row;
  }

  const claim = ({ name, deadlineMs, early }: ClaimedJob) =>
    db
      .updateTable("jobs")
      .set((is) => {
        const leftBehind = is("holder", "is not", null);
        return {
          holder,
          due_at: later(deadlineMs + graceMs),
          started_at: sql.now,
          failures: is
            .case()
            .when(leftBehind)
            .then(is("failures", "+", 1))
            .else(is.ref("failures"))
            .end(),
          error: is.case().when(leftBehind).then(unfinished).else(is.ref("error")).end(),
        };
      })
      .where("name", "=", name)
      .where((is) =>
        is.or([
          is("due_at", "<=", sql.now),
          // One run at a time, so it is not running: the database was unavailable when the claim was to be given back, or
          // the process was killed and has started again.
          is("holder", "=", holder),
          ...(early ? [is("holder", "is", null)] : []),
        ]),
      )
      .returning(sql.now.as("now"))
      .executeTakeFirst();

  /** Does nothing once another process has taken over. */
  const release = (name: string, row: { due_at: number; ended_at?: number }, error?: string) =>
    db
      .updateTable("jobs")
      .set((is) => ({
        ...row,
        holder: null,
        ...(row.ended_at !== undefined &&
          (error === undefined
            ? { succeeded_at: row.ended_at, error: null, failures: 0 }
            : { error, failures: is("failures", "+", 1) })),
      }))
      .where("name", "=", name)
      .where("holder", "=", holder)
      .execute();

  async function work(job: ClaimedJob, signal: AbortSignal, claimedAt: number): Promise<JobLook> {
    const started = clock.elapsed();
    const now = () => claimedAt + Math.round(clock.elapsed() - started);
    // An aborted run has not failed: it is due at once, for another process or the next start. Work that ignores the
    // signal may outlive the process, so the claim does not wait for its end.
    let givenUp: Promise<unknown> | undefined;
    const giveUp = () => {
      const isStopped = signal.aborted && !(signal.reason instanceof Late);
      if (isStopped) givenUp ??= release(job.name, { due_at: now() }).catch(() => {});
    };
    signal.addEventListener("abort", giveUp);
    try {
      giveUp();
      await job.work(signal);
    } catch (error) {
      await (givenUp ?? release(job.name, { due_at: now() + retryMs, ended_at: now() }, errorText(error)));
      throw error;
    }
    if (signal.reason instanceof Late) {
      // It did its work, so it is not repeated sooner for having been slow.
      await release(job.name, { due_at: job.next(now()), ended_at: now() }, errorText(signal.reason));
      throw signal.reason;
    }
    const ended = now();
    const due = job.next(ended);
    await release(job.name, { due_at: due, ended_at: ended });
    return { ran: true, dueInMs: due - ended, succeededAt: ended };
  }

  return {
    async run(job, signal) {
      const row = (await read(job.name)) ?? (await planned(job));
      const isDue = row.due_at <= row.now;
      if (isDue || row.holder === holder || (job.early && row.holder === null)) {
        const claimed = await claim(job);
        if (claimed !== undefined) return work(job, signal, claimed.now);
      }
      // If another process was faster, the row says when the job is due again once that one has ended.
      const dueInMs = isDue ? Number.POSITIVE_INFINITY : row.due_at - row.now;
      return { ran: false, dueInMs, succeededAt: row.succeeded_at };
    },

    async clear(name) {
      const row = await read(name);
      if (row === undefined || row.due_at > row.now || (row.failures === 0 && row.holder === null)) return;
      await db
        .updateTable("jobs")
        .set({ holder: null, failures: 0, error: null })
        .where("name", "=", name)
        .where("due_at", "<=", sql.now)
        .execute();
    },
  };
}

/** What `quicklink doctor` shows of a job. */
export interface JobState {
  readonly name: string;
  readonly succeededAt: number | null;
  /** Failed runs since the last success. */
  readonly failures: number;
  readonly error: string | null;
  /** A claim has run out, and no other process has taken over: since when it has been running. */
  readonly unfinishedSince: number | null;
}

export async function readJobs(sql: Sql): Promise<JobState[]> {
  const rows = await sql.db
    .selectFrom("jobs")
    .select(["name", "due_at", "holder", "started_at", "succeeded_at", "failures", "error", sql.now.as("now")])
    .orderBy("name")
    .execute();
  return rows.map(({ name, due_at, holder, started_at, succeeded_at, failures, error, now }) => ({
    name,
    succeededAt: succeeded_at,
    failures,
    error,
    unfinishedSince: holder !== null && due_at <= now ? started_at : null,
  }));
}

const unfinished = "the process that ran it ended, or took too long";

/** For the operator: short, printable, without what an address may hold of secrets. */
function errorText(error: unknown): string {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? `${error.code}: ` : "";
  const [line = ""] = `${code}${messageOf(error)}`.split("\n");
  const safe = line.replace(/:\/\/[^/\s@]*@/g, "://").replace(/\?\S*/g, "");
  return printable(safe).slice(0, errorMost);
}
