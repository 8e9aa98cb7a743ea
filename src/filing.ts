import { randomBytes } from "node:crypto";
import type { Background } from "./background.ts";
import { dayMs } from "./base/clock.ts";
import { withDeadline } from "./base/deadline.ts";
import type { Logger } from "./base/log.ts";
import type { Metrics } from "./base/metrics.ts";
import type { Core } from "./core.ts";
import { createFiles, type Files } from "./files/files.ts";
import { findOrphans } from "./files/orphans.ts";
import { type QuotaSync, syncQuota } from "./files/quotas.ts";
import { createRoom, type Room } from "./files/room.ts";
import { createFileStore } from "./files/store.ts";
import { sweepFiles } from "./files/sweep.ts";
import type { Counters } from "./limits/counters.ts";
import type { Change } from "./sql/feed.ts";
import { createJobs, type Job } from "./sql/jobs.ts";

/** Files, put together: the flow, and the work that one process does for all, every minute and every night. */
export interface Filing {
  readonly files: Files;
  readonly room: Room;
  close(): Promise<void>;
}

export interface FilingSettings {
  readonly core: Core;
  readonly counters: Counters;
  readonly recount: Background["recount"];
  /** Told of each link that leads to a file that is gone. */
  readonly changed: (change: Change) => void;
  readonly metrics: Metrics;
  readonly log: Logger;
}

const lookMs = 15_000;
const closeMs = 1_000;
const sweepMs = 60_000;
const sweepMostMs = 600_000;
const syncMostMs = 3_600_000;
/** In UTC: where most of our visitors are asleep. */
const syncHourMs = 3 * 3_600_000;

export function openFiling({ core, counters, recount, changed, metrics, log }: FilingSettings): Filing {
  const { sql, storage, clock, tenants, config } = core;
  const store = createFileStore(sql);
  const room = createRoom(counters, store, clock.now);
  const files = createFiles({ store, storage, room, clock, log, mostBytes: config.QL_FILE_LIMIT, changed });
  const jobs = createJobs(sql, randomBytes(12).toString("base64url"), clock);

  const last = { drift: 0, objects: 0, rows: 0, failed: 0 };
  const about = "as the last sync of this process found it.";
  metrics.gauge(
    "quicklink_storage_drift_bytes",
    `By how much tenants' storage was off, ${about}`,
    () => last.drift,
    "max",
  );
  metrics.gauge("quicklink_storage_orphans", `Objects without a file, ${about}`, () => last.objects, "max");
  metrics.gauge("quicklink_storage_lost", `Files without their object, ${about}`, () => last.rows, "max");
  metrics.gauge(
    "quicklink_files_unswept",
    "Files that the last sweep of this process could not put in order.",
    () => last.failed,
    "max",
  );

  async function sweep(): Promise<void> {
    const swept = await sweepFiles({ sql, store, storage, files, room, clock, log });
    last.failed = swept.failed;
    if (Object.values(swept).some((count) => count > 0)) log.info({ ...swept }, "files were swept");
  }

  async function sync(): Promise<void> {
    const drifts: QuotaSync[] = [];
    for (const tenant of await tenants.list()) drifts.push(await syncQuota({ recount, room }, tenant, false));
    last.drift = drifts.reduce((sum, { drift }) => sum + Math.abs(drift), 0);
    for (const { tenant, drift } of drifts) {
      if (drift !== 0) log.warn({ tenant, drift }, "the storage of a tenant was off, and was put right");
    }
    const found = await findOrphans({ sql, store, storage, files, clock }, false);
    [last.objects, last.rows] = [found.objectsFound, found.rowsFound];
    const { objectsFound, removedObjects, rowsFound, removedRows, suspicious } = found;
    if (suspicious) log.error({ rowsFound }, "files lack their objects, too many to believe it: look at the store");
    else if (objectsFound + rowsFound > 0) {
      log.warn({ objectsFound, removedObjects, rowsFound, removedRows }, "there were orphaned files");
    }
  }

  const all: readonly Job[] = [
    { name: "files-sweep", atMostMs: sweepMostMs, next: (now) => now + sweepMs, work: sweep },
    { name: "files-sync", atMostMs: syncMostMs, next: nextNight, work: sync },
  ];
  let looking: Promise<void> | undefined;
  async function lookAround(): Promise<void> {
    for (const job of all) {
      await jobs.run(job).catch((error: unknown) => log.warn({ error, job: job.name }, "work on files failed"));
    }
  }
  const timer = setInterval(() => {
    looking ??= lookAround().finally(() => {
      looking = undefined;
    });
  }, lookMs);

  return {
    files,
    room,
    async close() {
      clearInterval(timer);
      // Whatever it is at, another process or the next start goes on with it.
      await withDeadline(looking ?? Promise.resolve(), closeMs, "work on files").catch(() => {});
    },
  };
}

const nextNight = (now: number): number => Math.floor((now - syncHourMs) / dayMs + 1) * dayMs + syncHourMs;
