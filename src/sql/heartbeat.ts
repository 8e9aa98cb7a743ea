import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { Clock } from "../base/clock.ts";
import { withDeadline } from "../base/deadline.ts";
import { OperatorError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { repeat } from "../base/repeat.ts";
import { type Blocked, createInstances, type Instance, type Instances, liveMs, silentMs } from "./instances.ts";
import type { Sql } from "./sql.ts";

/**
 * A server's membership among those that use the same database. To start, it must be admitted; then it renews its row
 * every two seconds and learns how many others there are.
 *
 * Admission is refused only because of a server that is known to live, that is, whose row moves. The row of a killed
 * server on another machine does not move, and is ignored after six seconds.
 *
 * While the database is unavailable, or if this process was paused for long, another server may get in that should not.
 * Both servers then see each other at the next beat and log it.
 *
 * A server that was killed holds its claims on jobs until another one removes its row, a minute after its last beat. That
 * must not happen to a server that lives. So only a server that has itself beaten all that minute removes rows: after an
 * outage, or a jump of the database's clock, every server gets a minute to beat again. And a server that could not
 * beat for 40 s, because it was paused or cut off, stops what it runs under a claim before others may start it.
 */
export interface Heartbeat {
  readonly id: string;
  /** Servers that were alive when last seen, including this one. */
  count(): number;
  /** For work that starts now: aborted when this server could not beat for 40 s. */
  lapse(): AbortSignal;
  stop(): Promise<void>;
}

const lapseMs = 40_000; // a third less than `silentMs`: time for work to notice
const gapMs = 15_000; // a beat may take ten seconds
const beatMs = 2_000;
const lookMs = 250;
const patienceMs = liveMs + beatMs; // by then a row has moved or is dead, unless the database's clock was set
const leaveMs = 1_000;
const deadlineMs = 10_000;
const pulseTexts = {
  fails: "cannot see other servers on this database; assuming their number is unchanged",
  worksAgain: "other servers are visible again",
};

/** Throws an `OperatorError` that says what to do when another server excludes this one. */
export async function startHeartbeat(sql: Sql, shares: boolean, clock: Clock, log: Logger): Promise<Heartbeat> {
  const self = { id: randomBytes(12).toString("base64url"), host: hostname(), pid: process.pid, shares };
  const instances = createInstances(sql, self);
  const pulse = createPulse(instances, await join(instances, self, clock, log), clock, log);
  // No row in the table of jobs: it beats from before the rest is opened until all of it is closed.
  const beating = repeat({
    name: "seeing other servers",
    ...{ everyMs: beatMs, deadlineMs, stopMs: leaveMs, work: pulse.beat, texts: pulseTexts, clock, log },
  });
  return {
    id: self.id,
    count: pulse.count,
    lapse: pulse.lapse,
    async stop() {
      await beating.stop();
      pulse.stop();
      // If leaving fails, the next server on another machine waits a few seconds.
      await withDeadline(instances.leave(), leaveMs, "PostgreSQL").catch(() => {});
    },
  };
}

/** Waits until no server excludes this one, and returns how many others there are. */
export async function join(instances: Instances, self: Instance, clock: Clock, log: Logger): Promise<number> {
  const started = clock.elapsed();
  for (let first: Blocked["by"] | undefined; ; ) {
    const answer = await instances.join();
    if (answer.kind === "joined") return answer.others;
    const { by } = answer;
    const lives = by.id === first?.id && by.seenAt > first.seenAt;
    if (lives || clock.elapsed() - started > patienceMs) throw refusal(self, by);
    if (first === undefined) {
      log.info(
        { host: by.host, pid: by.pid },
        "another server used this database a moment ago; waiting to see whether it is still running",
      );
    }
    if (by.id !== first?.id) first = by;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}

export interface Pulse {
  /** As last seen: unchanged while the database is unavailable. */
  count(): number;
  lapse(): AbortSignal;
  beat(): Promise<void>;
  stop(): void;
}

export function createPulse(instances: Instances, othersAtFirst: number, clock: Clock, log: Logger): Pulse {
  let count = othersAtFirst + 1;
  let excluded = false;
  /** The first and the last beat of the present series, in the database's time. */
  let series = { first: 0, last: 0 };
  let lapsed = new AbortController();
  const lapse = () => lapsed.abort(new Error(`this server could not reach the database for ${lapseMs / 1_000} s`));
  let disarm = clock.after(lapseMs, lapse);
  return {
    count: () => count,
    lapse: () => lapsed.signal,
    stop: () => disarm(),
    async beat() {
      const { others, excluding, silent, seenAt } = await instances.beat();
      disarm();
      disarm = clock.after(lapseMs, lapse);
      if (lapsed.signal.aborted) lapsed = new AbortController();
      const follows = seenAt >= series.last && seenAt - series.last <= gapMs;
      series = { first: follows ? series.first : seenAt, last: seenAt };
      if (silent > 0 && seenAt - series.first >= silentMs) await instances.removeSilent();
      count = others + 1;
      if (excluding > 0 && !excluded) {
        log.error(
          { others },
          "another server without Redis uses this database; stop one of them, or set REDIS_URL on all",
        );
      }
      excluded = excluding > 0;
    },
  };
}

function refusal(self: Instance, by: Instance): OperatorError {
  const lacking = self.shares ? "that one has" : by.shares ? "this one has" : "they have";
  return new OperatorError(
    `Another QuickLink server (process ${by.pid} on ${by.host}) is using this database, and ${lacking} no Redis.\n` +
      "  Stop it, or set REDIS_URL on both: several servers need PostgreSQL and Redis.",
    2,
  );
}
