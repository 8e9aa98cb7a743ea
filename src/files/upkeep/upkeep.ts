import { type Clock, dayMs } from "../../base/clock.ts";
import type { TenantId } from "../../base/ids.ts";
import type { Logger } from "../../base/log.ts";
import type { Metrics } from "../../base/metrics.ts";
import { pagesOf } from "../../base/pages.ts";
import type { Sql } from "../../sql/sql.ts";
import type { Tenant, Tenants } from "../../tenants/tenants.ts";
import type { Files } from "../files.ts";
import type { StorageQuota } from "../quota/quota.ts";
import type { Recount } from "../quota/storage-total.ts";
import { type QuotaSync, syncQuota } from "../quota/sync.ts";
import type { Storage } from "../storage/storage.ts";
import type { FileStore } from "../store.ts";
import { findOrphans } from "./orphans.ts";
import { sweepFiles } from "./sweep.ts";

/** Maintenance of files: a sweep every minute, a sync every night, and their metrics. */
export interface Upkeep {
  sweep(signal: AbortSignal): Promise<void>;
  sync(signal: AbortSignal): Promise<void>;
}

export interface UpkeepSettings {
  readonly sql: Sql;
  readonly store: FileStore;
  readonly storage: Storage;
  readonly files: Files;
  readonly quota: StorageQuota;
  readonly recount: (tenant: TenantId, dryRun: boolean) => Promise<Recount>;
  readonly tenants: Pick<Tenants, "list">;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Logger;
}

export const sweepMs = 60_000;
const lateMs = 300_000;

export function createUpkeep(settings: UpkeepSettings): Upkeep {
  const { sql, store, storage, files, quota, recount, tenants, clock, metrics, log } = settings;
  // The next run may be in another process: this process's figures then no longer count.
  const synced = { at: Number.NEGATIVE_INFINITY, drift: 0, objects: 0, rows: 0 };
  const swept = { at: Number.NEGATIVE_INFINITY, failed: 0 };
  const isLast = (at: number, everyMs: number) => clock.elapsed() - at < everyMs + lateMs;
  const gauge = (name: string, help: string, read: () => number) => metrics.gauge(name, help, read, "max");
  const ofSync = (name: string, help: string, read: () => number) =>
    gauge(name, `${help}, found by the last sync.`, () => (isLast(synced.at, dayMs) ? read() : 0));
  ofSync("quicklink_storage_drift_bytes", "Drift of workspaces' stored bytes", () => synced.drift);
  ofSync("quicklink_storage_orphans", "Objects without a file", () => synced.objects);
  ofSync("quicklink_storage_lost", "Files without an object", () => synced.rows);
  gauge("quicklink_files_unswept", "Files that the last cleanup could not process.", () =>
    isLast(swept.at, sweepMs) ? swept.failed : 0,
  );

  async function correctDrift(signal: AbortSignal): Promise<number> {
    const drifts: QuotaSync[] = [];
    for await (const page of pagesOf<Tenant>((limit, last) => tenants.list(limit, last?.slug))) {
      for (const tenant of page) {
        signal.throwIfAborted();
        drifts.push(await syncQuota({ recount, quota }, tenant, false));
      }
    }
    for (const { tenant, drift } of drifts) {
      if (drift !== 0) log.warn({ tenant, drift }, "corrected drift in a workspace's stored bytes");
    }
    return drifts.reduce((sum, { drift }) => sum + Math.abs(drift), 0);
  }

  return {
    async sweep(signal) {
      const outcome = await sweepFiles({ sql, store, storage, files, quota, clock, log, signal });
      Object.assign(swept, { at: clock.elapsed(), failed: outcome.failed });
      if (Object.values(outcome).some((count) => count > 0)) log.info({ ...outcome }, "files cleaned up");
    },

    async sync(signal) {
      const drift = await correctDrift(signal);
      const found = await findOrphans({ sql, store, storage, files, clock, signal }, false);
      const { objectsFound, removedObjects, rowsFound, removedRows, suspicious } = found;
      Object.assign(synced, { at: clock.elapsed(), drift, objects: objectsFound, rows: rowsFound });
      if (suspicious) log.error({ rowsFound }, "suspiciously many files have no object; check the file storage");
      else if (objectsFound + rowsFound > 0) {
        log.warn({ objectsFound, removedObjects, rowsFound, removedRows }, "orphaned files found");
      }
    },
  };
}
