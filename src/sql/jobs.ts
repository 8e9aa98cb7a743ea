import { type Expression, type ExpressionBuilder, type RawBuilder, sql as raw } from "kysely";
import type { Clock } from "../base/clock.ts";
import { Late } from "../base/deadline.ts";
import { messageOf } from "../base/errors.ts";
import type { ClaimedJob, JobClaims, JobLook } from "../base/jobs.ts";
import { gatherPerTurn } from "../base/per-turn.ts";
import { printable } from "../base/printable.ts";
import type { Sql } from "./sql.ts";
import { type Params, statement } from "./statement.ts";
import type { Db, SharedSchema } from "./tenant-db.ts";

/**
 * Claims on jobs that one process runs for all. The row says when a job is due, who is running it, and how its last run
 * ended. A claim runs out a little after the job's deadline, or when the row of its holder in `instances` is gone, which is
 * about a minute after a process was killed (`sql/heartbeat.ts`). The next process to look then takes over and counts it
 * as a failure. If the first one is only slow, two are running it: the work must tolerate that. All times are the
 * database's.
 */
export interface Holder {
  /** Of its row in `instances`. */
  readonly id: string;
  /** For work that starts now: aborted before another process may take over. */
  lapse(): AbortSignal;
}

const graceMs = 10_000; // a run that ends at its deadline still gives its claim back
const retryMs = 60_000;
const errorMost = 200;
const readMost = 100;

export function createJobClaims(sql: Sql, { id: holder, lapse }: Holder, clock: Clock): JobClaims {
  const { db } = sql;
  const later = (ms: number): RawBuilder<number> => raw<number>`${sql.now} + ${ms}`;

  /** Of a process that is gone, or of this one: it runs a job once at a time, so it could not give its claim back. */
  const leftBehind = (
    { eb, not, exists, selectFrom }: ExpressionBuilder<SharedSchema, "jobs">,
    self: string | Expression<string> = holder,
  ) =>
    eb.and([
      eb("jobs.holder", "is not", null),
      eb.or([
        eb("jobs.holder", "=", self),
        not(exists(selectFrom("instances").select("id").whereRef("instances.id", "=", "jobs.holder"))),
      ]),
    ]);

  const selectJobs = statement((from: Db, { names, self }: Params<{ names: readonly string[]; self: string }>) =>
    from
      .selectFrom("jobs")
      .select(["name", "due_at", "holder", "succeeded_at", "failures", sql.now.as("now")])
      .select((is) => is.case().when(leftBehind(is, self)).then(raw.lit(1)).else(raw.lit(0)).end().as("left_behind"))
      .where("name", "in", names),
  );
  /** Every process looks at every job at least every 15 s, and at most of them at the same time: they share a statement. */
  const read = gatherPerTurn<string, Awaited<ReturnType<typeof selectJobs.one>> | null>(readMost, async (names) => {
    const rows = new Map((await selectJobs.all(db, { names, self: holder })).map((row) => [row.name, row]));
    return names.map((name) => rows.get(name) ?? null);
  });

  async function planned({ name, firstAt }: ClaimedJob) {
    await db
      .insertInto("jobs")
      .values({ name, holder: null, due_at: firstAt })
      .onConflict((conflict) => conflict.column("name").doNothing())
      .execute();
    const row = await read(name);
    if (row === null) throw new Error(`the row of the job ${name} is gone`);
    return row;
  }

  const claim = ({ name, deadlineMs, early }: ClaimedJob) =>
    db
      .updateTable("jobs")
      .set((is) => {
        const isHeld = is("holder", "is not", null);
        return {
          holder,
          due_at: later(deadlineMs + graceMs),
          started_at: sql.now,
          failures: is
            .case()
            .when(isHeld)
            .then(is("failures", "+", 1))
            .else(is.ref("failures"))
            .end(),
          error: is.case().when(isHeld).then(unfinished).else(is.ref("error")).end(),
        };
      })
      .where("name", "=", name)
      .where((is) => is.or([is("due_at", "<=", sql.now), leftBehind(is), ...(early ? [is("holder", "is", null)] : [])]))
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
    // Not AbortSignal.any, which keeps something of every run for as long as the process lives.
    const lapsed = lapse();
    const either = new AbortController();
    const end = () => either.abort(signal.aborted ? signal.reason : lapsed.reason);
    signal.addEventListener("abort", giveUp);
    for (const one of [signal, lapsed]) one.addEventListener("abort", end);
    try {
      giveUp();
      if (signal.aborted || lapsed.aborted) end();
      await job.work(either.signal);
    } catch (error) {
      await (givenUp ?? release(job.name, { due_at: now() + retryMs, ended_at: now() }, errorText(error)));
      throw error;
    } finally {
      lapsed.removeEventListener("abort", end);
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

  /** A failure or a claim that an earlier run left behind. */
  const clear = (name: string) =>
    db
      .updateTable("jobs")
      .set({ holder: null, failures: 0, error: null })
      .where("name", "=", name)
      .where("due_at", "<=", sql.now)
      .execute();

  return {
    async run(job, signal) {
      const row = (await read(job.name)) ?? (await planned(job));
      const isDue = row.due_at <= row.now;
      if (isDue || row.left_behind || (job.early && row.holder === null)) {
        if (!(await isNeeded(job, row))) {
          if (isDue && (row.failures > 0 || row.holder !== null)) await clear(job.name);
          return { ran: false, dueInMs: job.next(row.now) - row.now, succeededAt: row.now };
        }
        const claimed = await claim(job);
        if (claimed !== undefined) return work(job, signal, claimed.now);
      }
      // If another process was faster, the row says when the job is due again once that one has ended.
      const dueInMs = isDue ? Number.POSITIVE_INFINITY : row.due_at - row.now;
      return { ran: false, dueInMs, succeededAt: row.succeeded_at };
    },
  };
}

interface JobRow {
  readonly due_at: number;
  readonly now: number;
  readonly failures: number;
  readonly left_behind: number;
}

async function isNeeded({ when, anywayMs }: ClaimedJob, row: JobRow): Promise<boolean> {
  if (when === undefined || (await when())) return true;
  if (anywayMs === undefined) return false;
  return row.left_behind === 1 || row.failures > 0 || row.now - row.due_at >= anywayMs;
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
