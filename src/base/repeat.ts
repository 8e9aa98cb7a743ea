import type { Clock } from "./clock.ts";
import { Late } from "./deadline.ts";
import type { Logger } from "./log.ts";
import { sharedAfter } from "./wake-ups.ts";

/**
 * Runs work repeatedly, for as long as the process lives. Everything that repeats uses it: the table of jobs
 * (`server/jobs.ts`) and a few other loops.
 *
 * **One at a time.** Runs never overlap, even when one is late. `soon()` starts a run early, or one more after the
 * current run; any number of calls are one more run.
 *
 * **Together.** A run may come before its time if the thread is awake for another one (`wake-ups.ts`): by less than half of its
 * pause, and of a second. Never later.
 *
 * **A failure is logged once**, when runs start to fail, and once more when they work again.
 *
 * **A run has a deadline.** When it has passed, the run counts as failed and its signal is aborted. The next run still
 * waits for its end: work that hangs and ignores its signal stops its own repetition, which the log, the metrics and
 * the alert on the last success show. Starting a second run beside it would be worse for everything that counts or
 * writes.
 *
 * **A stop is bounded.** It aborts the signal of the current run and waits for its end, for at most `stopMs`.
 */
export interface Repeated {
  /** Runs it now instead of at its time. */
  soon(): void;
  /** Resolves at the end of a run that started after this call; rejects if that run fails. */
  run(): Promise<void>;
  /** Whether the last run failed. */
  readonly failing: boolean;
  /** No run starts after this call. */
  stop(): Promise<void>;
}

export interface RepeatSettings {
  /** For the log: "files-sweep", "following changes". */
  readonly name: string;
  /** At most, from start to start; or the longest pause after a run, by the number of consecutive failures. */
  readonly everyMs: number | ((failures: number) => number);
  /** Until the first run. Default: the usual interval. */
  readonly firstMs?: number;
  readonly deadlineMs: number;
  readonly stopMs: number;
  /** The signal is aborted when the run is late, or when the process stops. */
  readonly work: (signal: AbortSignal) => Promise<unknown>;
  /** Called once per run: at its end, or at its deadline. */
  readonly ended?: (run: Run) => void;
  /** Replaces the default log messages. */
  readonly texts?: RepeatTexts;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Run {
  readonly ms: number;
  /** Undefined if it succeeded. */
  readonly error: unknown;
}

export interface RepeatTexts {
  readonly fails: string;
  readonly worksAgain: string;
  readonly level?: "warn" | "error";
}

/**
 * Less than the interval of the change feed, which is the shortest: work that takes one second must not run with each of its reads.
 * And nearly as long, so that one of them falls in.
 */
export const earlyMostMs = 450;
const earlyShare = 0.45;
const earlyMs = (pauseMs: number): number => Math.min(earlyMostMs, earlyShare * pauseMs);

export function repeat(settings: RepeatSettings): Repeated {
  const { name, everyMs, firstMs, deadlineMs, stopMs, work, clock, log } = settings;
  const texts = settings.texts ?? {
    fails: `${name} failed; will retry`,
    worksAgain: `${name} works again`,
  };
  let running: Promise<void> | undefined;
  /** For callers that asked during a run. */
  let next: PromiseWithResolvers<void> | undefined;
  let ending: AbortController | undefined;
  let failures = 0;
  let stopped = false;
  let disarm = () => {};
  let noDeadline = () => {};

  function report(run: Run): void {
    if (run.error === undefined) {
      if (failures > 0) log.info(texts.worksAgain);
      failures = 0;
    } else {
      if (failures === 0 && !stopped) log[texts.level ?? "warn"]({ error: run.error }, texts.fails);
      failures++;
    }
    settings.ended?.(run);
  }

  async function once(): Promise<void> {
    const started = clock.elapsed();
    const own = new AbortController();
    ending = own;
    let late = false;
    noDeadline = clock.after(deadlineMs, () => {
      late = true;
      const error = new Late(`${name} did not end within ${deadlineMs} ms`);
      report({ ms: deadlineMs, error });
      own.abort(error);
    });
    try {
      await work(own.signal);
      if (!late) report({ ms: clock.elapsed() - started, error: undefined });
    } catch (error) {
      if (!late) report({ ms: clock.elapsed() - started, error });
      throw error;
    } finally {
      noDeadline();
      ending = undefined;
      arm(clock.elapsed() - started);
    }
  }

  function start(): Promise<void> {
    disarm();
    running = once().finally(() => {
      running = undefined;
      const waiting = next;
      next = undefined;
      if (stopped) waiting?.reject(new Error(`${name} has stopped`));
      else if (waiting !== undefined) start().then(waiting.resolve, waiting.reject);
    });
    return running;
  }

  function run(): Promise<void> {
    if (stopped) return Promise.reject(new Error(`${name} has stopped`));
    if (running === undefined) return start();
    next ??= Promise.withResolvers();
    return next.promise;
  }

  const soon = () => void run().catch(() => {}); // reported above

  /** At a fixed rate: a run that took longer skips the times that have passed. */
  function arm(tookMs: number): void {
    const pauseMs = typeof everyMs === "function" ? everyMs(failures) : everyMs - (tookMs % everyMs);
    if (!stopped) disarm = sharedAfter(clock, pauseMs, earlyMs(pauseMs), soon);
  }

  disarm = sharedAfter(clock, firstMs ?? (typeof everyMs === "function" ? everyMs(0) : everyMs), 0, soon);
  return {
    soon,
    run,
    get failing() {
      return failures > 0;
    },
    async stop() {
      stopped = true;
      disarm();
      const last = running;
      if (last === undefined) return;
      ending?.abort(new Error(`${name} is being stopped`));
      const bound = Promise.withResolvers<void>();
      const unbound = clock.after(stopMs, bound.resolve);
      await Promise.race([last.catch(() => {}), bound.promise]);
      unbound();
      noDeadline();
    },
  };
}
