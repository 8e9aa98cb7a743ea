import type { Clock } from "./clock.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { earlyMostMs, repeat } from "./repeat.ts";

/**
 * Periodic work of the server. `server/jobs.ts` has the table; this runs it and counts its figures.
 *
 * A job of every process runs in each of them. A job that is one for all is run by whichever process finds it due and claims
 * it (`sql/jobs.ts`): each process looks when it expects the job to be due, and every 15 s at least, because the row may be
 * changed by others.
 */
export interface Job {
  /** In the log, in metrics, and in the table `jobs`. */
  readonly name: string;
  readonly everyMs: number;
  /** Once a day at this time: milliseconds after midnight, UTC. */
  readonly atMs?: number;
  readonly scope: JobScope;
  /** A run that takes longer counts as failed. If the job is one for all, another process may take over shortly after. */
  readonly deadlineMs: number;
  /**
   * Whether there is something to do. Asked when a job that is one for all is due, before it is claimed: a few reads by an
   * index, so that an idle server does not start its background thread.
   */
  readonly when?: () => Promise<boolean>;
  /** For a `when` that cannot see everything: the job runs anyway if it has been due for so long, or did not end well. */
  readonly anywayMs?: number;
  readonly work: (signal: AbortSignal) => Promise<unknown>;
}

export type JobScope = "every process" | "one for all";

/** Who runs a job that is one for all, and when. */
export interface JobClaims {
  /**
   * Runs the work if it is due, there is something to do, and no other process is at it. Rejects if the work fails. If there
   * is nothing to do, a failure or a claim that an earlier run left behind no longer matters.
   */
  run(job: ClaimedJob, signal: AbortSignal): Promise<JobLook>;
}

export interface ClaimedJob extends Pick<Job, "name" | "deadlineMs" | "when" | "anywayMs" | "work"> {
  /** When it is due if it was never planned. */
  readonly firstAt: number;
  /** When it is due after this moment. */
  readonly next: (now: number) => number;
  /** Also before it is due, unless it is running. */
  readonly early: boolean;
}

export interface JobLook {
  readonly ran: boolean;
  readonly dueInMs: number;
  /** In any process. Having nothing to do is a success. */
  readonly succeededAt: number | null;
}

export interface RunningJobs {
  /** Runs a job without waiting for its time. A name that is not in the table is ignored: its job may be switched off. */
  soon(name: string): void;
  stop(): Promise<void>;
}

export interface JobSettings {
  readonly claims: JobClaims;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

const firstMs = 1_000; // by then Redis is connected, if it is there
const lookMs = 15_000;
const stopMs = 1_000; // another process, or the next start, continues
const dayMs = 86_400_000;

export function startJobs(jobs: readonly Job[], settings: JobSettings): RunningJobs {
  const started = jobs.map((job) => ({ job, ...startJob(job, settings) }));
  exportFigures(started, settings.metrics);
  const byName = new Map(started.map((one) => [one.job.name, one]));
  return {
    soon: (name) => byName.get(name)?.soon(),
    async stop() {
      await Promise.all(started.map((one) => one.stop()));
    },
  };
}

interface StartedJob {
  readonly job: Job;
  readonly figures: JobFigures;
}

interface JobFigures {
  /** Milliseconds since 1970. Before the first success, when the process started. */
  succeededAt: number;
  lastMs: number | undefined;
  failures: number;
}

function startJob(job: Job, { claims, clock, log }: JobSettings) {
  const { name, everyMs, scope, deadlineMs, when, anywayMs, work } = job;
  const figures: JobFigures = { succeededAt: clock.now(), lastMs: undefined, failures: 0 };
  let early = false;
  let ran = true;
  let dueInMs = lookMs;

  async function look(signal: AbortSignal): Promise<void> {
    ran = false;
    dueInMs = lookMs;
    const wanted = early;
    early = false;
    const claimed: ClaimedJob = {
      name,
      deadlineMs,
      ...(when && { when }),
      ...(anywayMs !== undefined && { anywayMs }),
      firstAt: when === undefined ? nextTime(job, clock.now()) : clock.now(),
      next: (now) => nextTime(job, now),
      early: wanted,
      work(stop) {
        ran = true;
        return work(stop);
      },
    };
    const seen = await claims.run(claimed, signal);
    dueInMs = seen.dueInMs;
    figures.succeededAt = Math.max(figures.succeededAt, seen.succeededAt ?? 0);
  }

  const shared = scope === "one for all";
  const repeated = repeat({
    name,
    // Not before it is due: it would be looked at once more.
    everyMs: shared ? () => Math.min(lookMs, Math.max(0, dueInMs) + earlyMostMs) : everyMs,
    firstMs: Math.min(firstMs, everyMs),
    deadlineMs,
    stopMs,
    work: shared ? look : work,
    ended({ ms, error }) {
      if (ran) figures.lastMs = ms;
      if (error !== undefined) figures.failures++;
      else if (ran) figures.succeededAt = clock.now();
    },
    clock,
    log,
  });
  return {
    figures,
    stop: repeated.stop,
    soon() {
      early = true;
      repeated.soon();
    },
  };
}

/** When a job is due after this moment. */
export function nextTime({ everyMs, atMs }: Pick<Job, "everyMs" | "atMs">, now: number): number {
  return atMs === undefined ? now + everyMs : Math.floor((now - atMs) / dayMs + 1) * dayMs + atMs;
}

/** `job` is the label that Prometheus itself gives to every series. */
function exportFigures(started: readonly StartedJob[], metrics: Metrics): void {
  const labels = ["job_name"];
  const series = (
    kind: "gauge" | "counter",
    about: { readonly name: string; readonly help: string; readonly merged: "sum" | "min" | "max" },
    read: (one: StartedJob) => number | undefined,
  ) =>
    metrics.series(kind, { ...about, labels }, () =>
      started.flatMap((one) => {
        const value = read(one);
        return value === undefined ? [] : [[{ job_name: one.job.name }, value] as const];
      }),
    );
  series(
    "gauge",
    {
      name: "quicklink_job_last_success_timestamp_seconds",
      help: "When the job last succeeded, in any process if it is one for all; before that, when the process started.",
      merged: "min",
    },
    ({ figures }) => figures.succeededAt / 1_000,
  );
  series(
    "gauge",
    { name: "quicklink_job_interval_seconds", help: "How often the job runs.", merged: "max" },
    ({ job }) => job.everyMs / 1_000,
  );
  series(
    "gauge",
    { name: "quicklink_job_deadline_seconds", help: "How long a run of the job may take.", merged: "max" },
    ({ job }) => job.deadlineMs / 1_000,
  );
  series(
    "gauge",
    { name: "quicklink_job_duration_seconds", help: "Duration of the job's last run in this process.", merged: "max" },
    ({ figures }) => (figures.lastMs === undefined ? undefined : figures.lastMs / 1_000),
  );
  series(
    "counter",
    { name: "quicklink_job_failures_total", help: "Failed runs of the job, late ones included.", merged: "sum" },
    ({ figures }) => figures.failures,
  );
}
