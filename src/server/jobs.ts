import { isOutdated } from "../abuse/apply-blocklist.ts";
import { type Job, type JobScope, type RunningJobs, startJobs } from "../base/jobs.ts";
import { utcDay } from "../clicks/click.ts";
import { type HotLinks, saveMs } from "../clicks/hot-links.ts";
import type { ClickNotices } from "../clicks/notices/click-notices.ts";
import { hadClicksLately, mayHaveToCondense } from "../clicks/rollups/due-tenants.ts";
import { hasVisitorsToForget } from "../clicks/rollups/purge-visitors.ts";
import type { LimitWatch } from "../email/notices/limit-watch.ts";
import { hasContacts } from "../email/settings/settings.ts";
import { sweepMs } from "../files/upkeep/upkeep.ts";
import { createImportRuns } from "../import-export/runs/import-runs.ts";
import { createJobClaims, type Holder } from "../sql/jobs.ts";
import { createPartitions } from "../sql/partitions.ts";
import { databaseTime, type Sql } from "../sql/sql.ts";
import { hasLongLog } from "../sql/write-ahead-log.ts";
import type { Background } from "./background.ts";
import type { LinkCache } from "./cache.ts";
import { hasToClean } from "./clean-due.ts";
import type { Mail } from "./email.ts";
import type { OpenFiles } from "./files.ts";
import { openLinkHealth } from "./link-health.ts";
import type { RedisClients } from "./redis.ts";
import type { Wiring } from "./wiring.ts";

export interface Jobs extends RunningJobs {
  soon(name: "hot-links" | "imports" | "targets"): void;
}

export interface JobParts {
  readonly background: Background;
  readonly cache: LinkCache;
  readonly files: OpenFiles;
  readonly heartbeat: Holder;
  readonly hot: HotLinks;
  readonly mail: Mail;
  readonly clickNotices: ClickNotices;
  readonly notices: LimitWatch;
  readonly redis: RedisClients;
  readonly sampleReadiness: () => Promise<void>;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const each: JobScope = "every process";
const one: JobScope = "one for all";

/**
 * All periodic work of the server. A row whose work is undefined is switched off.
 *
 * Four loops are not in the table, because they start before it or stop after it, or decide by themselves when to run
 * next: following the change feed (`cache/follow.ts`), recording hits and ending leases on Redis
 * (`server/limits.ts`), the heartbeat (`sql/heartbeat.ts`), and the sender of emails (`email/outbox/sender.ts`). They use the
 * same helper (`base/repeat.ts`). What a row leaves unsaved is saved by its owner when the server stops.
 */
export function openJobs(wiring: Wiring, parts: JobParts): Jobs {
  const { core, metrics, log, opened } = wiring;
  const { background, cache, clickNotices, files, hot, mail, notices, redis } = parts;
  const checkTargets = openLinkHealth(wiring);
  const blocklist = openBlocklistJob(wiring, background);
  const { contacts, toCondense, toForget, toPurge } = questions(core.sql);
  const table: readonly Row[] = [
    { name: "key-use", everyMs: 5 * second, scope: each, deadlineMs: minute, work: core.keys.flush },
    { name: "hot-links", everyMs: saveMs, scope: each, deadlineMs: minute, work: hot.save },
    { name: "domains", everyMs: 30 * second, scope: each, deadlineMs: minute, work: cache.hosts.readAll },
    { name: "log", everyMs: second, scope: each, deadlineMs: minute, work: logJob(wiring, background) },
    { name: "upload-drafts", everyMs: hour, scope: each, deadlineMs: 10 * minute, work: files.clearDrafts },
    { name: "readiness", everyMs: 15 * second, scope: each, deadlineMs: 15 * second, work: parts.sampleReadiness },
    { name: "redis-info", everyMs: 15 * second, scope: each, deadlineMs: minute, work: redis.sample },
    { name: "replica-lag", everyMs: 5 * second, scope: each, deadlineMs: minute, work: cache.sampleReplica },
    { name: "emails-waiting", everyMs: 10 * second, scope: each, deadlineMs: minute, work: mail.sampleWaiting },
    { name: "platform-emails", everyMs: 10 * second, scope: each, deadlineMs: minute, work: mail.samplePlatform },
    { name: "files-sweep", everyMs: sweepMs, scope: one, deadlineMs: 10 * minute, work: files.upkeep.sweep },
    { name: "files-sync", everyMs: day, atMs: 3 * hour, scope: one, deadlineMs: 6 * hour, work: files.upkeep.sync },
    { name: "targets", everyMs: 10 * second, scope: one, deadlineMs: 10 * minute, work: checkTargets },
    { name: "blocklist", everyMs: 3 * second, scope: one, deadlineMs: 10 * minute, ...blocklist },
    {
      name: "limit-notices",
      everyMs: hour,
      scope: one,
      deadlineMs: 5 * minute,
      when: contacts,
      work: notices.checkAll,
    },
    {
      name: "click-notices",
      everyMs: 15 * minute,
      scope: one,
      deadlineMs: 10 * minute,
      when: contacts,
      work: clickNotices.run,
    },
    {
      name: "condense",
      everyMs: minute,
      scope: one,
      deadlineMs: hour,
      when: toCondense,
      work: background.condenseClicks,
    },
    {
      name: "visitors",
      everyMs: 5 * minute,
      scope: one,
      deadlineMs: 10 * minute,
      when: toForget,
      work: background.forgetVisitors,
    },
    {
      name: "old-clicks",
      everyMs: hour,
      anywayMs,
      scope: one,
      deadlineMs: hour,
      when: toPurge,
      work: background.purgeClicks,
    },
    { name: "click-partitions", everyMs: hour, scope: one, deadlineMs: minute, work: partitionsJob(wiring) },
    { name: "imports", everyMs: 5 * second, scope: one, deadlineMs: hour, ...importsJob(wiring, background) },
    {
      name: "clean",
      everyMs: hour,
      anywayMs,
      scope: one,
      deadlineMs: hour,
      when: () => hasToClean(core),
      work: background.clean,
    },
  ];
  const claims = createJobClaims(core.sql, parts.heartbeat, core.clock);
  const jobs = startJobs(table.flatMap(switchedOn), { claims, metrics, clock: core.clock, log });
  opened.defer(() => jobs.stop());
  return jobs;
}

type Row = Omit<Job, "work"> & { readonly work: Job["work"] | undefined };

const switchedOn = ({ work, ...row }: Row): Job[] => (work === undefined ? [] : [{ ...row, work }]);

/** Only if the threads that write did not do it on their way: most servers need the background thread for this never. */
function logJob({ core: { config, sql } }: Wiring, background: Background): Row["work"] {
  if (!config.embedded) return undefined;
  return async () => {
    if (await hasLongLog(sql)) await background.moveLog();
  };
}

/** Asked in the serving thread: the background thread takes 25 MB, and an idle server does without it. */
const questions = (sql: Sql) => ({
  contacts: () => hasContacts(sql),
  // By the database's time, as the work itself.
  toCondense: async () => mayHaveToCondense(sql, await databaseTime(sql)),
  toForget: async () => hasVisitorsToForget(sql, await databaseTime(sql)),
  toPurge: () => hadClicksLately(sql),
});

/** Six hours after its last run, if there was nothing to do meanwhile. */
const anywayMs = 5 * hour;

/** Until there is nothing left to do. Every step is short, and a killed server leaves the rest to the next run. */
function importsJob({ core: { sql, clock } }: Wiring, background: Background): Pick<Job, "when" | "work"> {
  const runs = createImportRuns(sql, clock);
  return {
    when: async () => (await runs.next()) !== undefined,
    async work(signal) {
      while (!signal.aborted && (await background.importStep()));
    },
  };
}

/** Weeks of clicks on PostgreSQL. */
function partitionsJob({ core: { config, sql, clock } }: Wiring): Job["work"] | undefined {
  return config.embedded ? undefined : () => createPartitions(sql, utcDay(clock.now()));
}

/** Each process looks at its own file. Without one, there is nothing to ask the database every three seconds. */
function openBlocklistJob({ core, log }: Wiring, background: Background): Pick<Row, "when" | "work"> {
  if (core.config.QL_BLOCKLIST === undefined) return { work: undefined };
  return {
    when: () => isOutdated(core),
    async work() {
      if (!(await isOutdated(core))) return; // another process has just applied it
      log.info(await background.applyBlocklist(), "blocklist applied to all links and domains");
    },
  };
}
