import { randomBytes } from "node:crypto";
import type { Background } from "./background.ts";
import { dayMs } from "./base/clock.ts";
import { withDeadline } from "./base/deadline.ts";
import type { Logger } from "./base/log.ts";
import type { Metrics } from "./base/metrics.ts";
import { pagesOf } from "./base/pages.ts";
import type { Core } from "./core.ts";
import { createFiles, type Files } from "./files/files.ts";
import { findOrphans } from "./files/orphans.ts";
import { type QuotaSync, syncQuota } from "./files/quotas.ts";
import { createRoom, type Room } from "./files/room.ts";
import { createFileStore, type FileStore } from "./files/store.ts";
import { sweepFiles } from "./files/sweep.ts";
import type { Counters } from "./limits/counters.ts";
import type { Change } from "./sql/feed.ts";
import { createJobs, type Job } from "./sql/jobs.ts";
import type { Tenant } from "./tenants/tenants.ts";

/** Files, put together: the flow, and the work that one process does for all, every minute and every night. */
export interface Filing {
  readonly files: Files;
  readonly room: Room;
  /** Of whichever tenant: for who has a signed address of it. */
  readonly fileOf: FileStore["byId"];
  close(): Promise<void>;
}

export interface FilingSettings {
  readonly core: Core;
  readonly counters: Counters;
  readonly recount: Background["recount"];
  /** Told of each link that leads to a file that is gone. */
  readonly changed: (change: Change) => void;
  /** Told what a tenant's files come to, after one was stored. */
  readonly filled: (tenant: Tenant, usedBytes: number) => void;
  readonly metrics: Metrics;
  readonly log: Logger;
}

const nightly = "files-sync";
const lookMs = 15_000;
const closeMs = 1_000;
const lateMs = 300_000;
const sweepMs = 60_000;
const sweepMostMs = 600_000;
const syncMostMs = 3_600_000;
/** In UTC: where most of our visitors are asleep. */
const syncHourMs = 3 * 3_600_000;

export function openFiling({ core, counters, recount, changed, filled, metrics, log }: FilingSettings): Filing {
  const { sql, storage, clock, tenants, config } = core;
  const store = createFileStore(sql);
  const room = createRoom(counters, store, clock.now);
  const files = createFiles({ store, storage, room, clock, log, mostBytes: config.QL_FILE_LIMIT, changed, filled });
  const jobs = createJobs(sql, randomBytes(12).toString("base64url"), clock);

  // Another process may do it next: what this one found then counts for nothing any more.
  const synced = { at: Number.NEGATIVE_INFINITY, drift: 0, objects: 0, rows: 0 };
  const swept = { at: Number.NEGATIVE_INFINITY, failed: 0 };
  const isLast = (at: number, everyMs: number) => clock.elapsed() - at < everyMs + lateMs;
  const gauge = (name: string, help: string, read: () => number) => metrics.gauge(name, help, read, "max");
  const ofSync = (name: string, help: string, read: () => number) =>
    gauge(name, `${help}, as the last sync found it.`, () => (isLast(synced.at, dayMs) ? read() : 0));
  ofSync("quicklink_storage_drift_bytes", "By how much tenants' storage was off", () => synced.drift);
  ofSync("quicklink_storage_orphans", "Objects without a file", () => synced.objects);
  ofSync("quicklink_storage_lost", "Files without their object", () => synced.rows);
  gauge("quicklink_files_unswept", "Files that the last sweep could not put in order.", () =>
    isLast(swept.at, sweepMs) ? swept.failed : 0,
  );

  async function sweep(): Promise<void> {
    const outcome = await sweepFiles({ sql, store, storage, files, room, clock, log });
    Object.assign(swept, { at: clock.elapsed(), failed: outcome.failed });
    if (Object.values(outcome).some((count) => count > 0)) log.info({ ...outcome }, "files were swept");
  }

  async function sync(): Promise<void> {
    const drifts: QuotaSync[] = [];
    for await (const page of pagesOf<Tenant>((limit, last) => tenants.list(limit, last?.slug))) {
      for (const tenant of page) drifts.push(await syncQuota({ recount, room }, tenant, false));
    }
    const drift = drifts.reduce((sum, one) => sum + Math.abs(one.drift), 0);
    for (const { tenant, drift: off } of drifts) {
      if (off !== 0) log.warn({ tenant, drift: off }, "the storage of a tenant was off, and was put right");
    }
    const found = await findOrphans({ sql, store, storage, files, clock }, false);
    const { objectsFound, removedObjects, rowsFound, removedRows, suspicious } = found;
    Object.assign(synced, { at: clock.elapsed(), drift, objects: objectsFound, rows: rowsFound });
    if (suspicious) log.error({ rowsFound }, "files lack their objects, too many to believe it: look at the store");
    else if (objectsFound + rowsFound > 0) {
      log.warn({ objectsFound, removedObjects, rowsFound, removedRows }, "there were orphaned files");
    }
  }

  const all: readonly Job[] = [
    { name: "files-sweep", atMostMs: sweepMostMs, next: (now) => now + sweepMs, work: sweep },
    { name: nightly, atMostMs: syncMostMs, next: nextNight, work: sync },
  ];
  let looking: Promise<void> | undefined;
  const failed = (error: unknown) => log.warn({ error }, "work on files failed; it will be tried again");
  async function lookAround(): Promise<void> {
    await jobs.plan(nightly, nextNight(clock.now())).catch(failed);
    for (const job of all) await jobs.run(job).catch(failed);
  }
  const timer = setInterval(() => {
    looking ??= lookAround().finally(() => {
      looking = undefined;
    });
  }, lookMs);

  return {
    files,
    room,
    fileOf: store.byId,
    async close() {
      clearInterval(timer);
      // Whatever it is at, another process or the next start goes on with it.
      await withDeadline(looking ?? Promise.resolve(), closeMs, "work on files").catch(() => {});
    },
  };
}

const nextNight = (now: number): number => Math.floor((now - syncHourMs) / dayMs + 1) * dayMs + syncHourMs;
