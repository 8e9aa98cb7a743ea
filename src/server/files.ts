import { randomBytes } from "node:crypto";
import { withDeadline } from "../base/deadline.ts";
import type { Publish } from "../cache/feed.ts";
import { createFiles, type Files } from "../files/files.ts";
import { mountFiles } from "../files/mount.ts";
import { createStorageQuota, type StorageQuota } from "../files/quota/quota.ts";
import { createFolder, type Folder } from "../files/storage/folder.ts";
import { uploadMostMs } from "../files/storage/storage.ts";
import { createTokens } from "../files/storage/tokens.ts";
import { createFileStore, type FileStore } from "../files/store.ts";
import { createUpkeep, type UpkeepSettings } from "../files/upkeep/upkeep.ts";
import type { Mount } from "../http/mount.ts";
import type { Counters } from "../limits/counters.ts";
import { createJobs, type Job, type Jobs } from "../sql/jobs.ts";
import type { Tenant } from "../tenants/tenants.ts";
import type { Wiring } from "./wiring.ts";

/** Wires files: uploads, downloads, and the maintenance that one process does for all. */
export interface OpenFiles {
  readonly files: Files;
  readonly quota: StorageQuota;
  /** A file of any tenant, for those who hold its signed address. */
  readonly fileOf: FileStore["byId"];
  /** Where this server itself stores the bytes; `undefined` with S3_URL. */
  readonly folder: Folder | undefined;
  /** Removes what interrupted uploads left in the folder. */
  clearDrafts(): Promise<unknown>;
}

export interface FileParts {
  readonly counters: Counters;
  readonly recount: UpkeepSettings["recount"];
  /** Called for each link to a deleted file. */
  readonly publish: Publish;
  /** Called after a file was stored, with the tenant's new total. */
  readonly filled: (tenant: Tenant, usedBytes: number) => void;
}

const nightly = "files-sync";
const lookMs = 15_000;
const closeMs = 1_000;
const sweepMostMs = 600_000;
const syncMostMs = 3_600_000;

export function openFiles(wiring: Wiring, { counters, recount, publish, filled }: FileParts): OpenFiles {
  const { core, metrics, log } = wiring;
  const { sql, storage, clock, tenants, config } = core;
  const store = createFileStore(sql);
  const quota = createStorageQuota(counters, store, clock.now);
  const files = createFiles({
    store,
    storage,
    quota,
    clock,
    log,
    mostBytes: config.QL_FILE_LIMIT,
    publish,
    filled,
  });
  const upkeep = createUpkeep({ sql, store, storage, files, quota, recount, tenants, clock, metrics, log });
  const jobs = createJobs(sql, randomBytes(12).toString("base64url"), clock);
  runJobs(wiring, jobs, [
    { name: "files-sweep", atMostMs: sweepMostMs, next: upkeep.nextSweep, work: upkeep.sweep },
    { name: nightly, atMostMs: syncMostMs, next: upkeep.nextSync, work: upkeep.sync },
  ]);
  const folder = config.S3_URL === undefined ? createFolder(config.filesFolder) : undefined;
  return {
    files,
    quota,
    fileOf: store.byId,
    folder,
    // Twice the longest upload: a clock that was set must not remove one that is still running.
    clearDrafts: async () => folder?.clearDrafts(clock.now() - 2 * uploadMostMs),
  };
}

/** Signed URLs for uploads and downloads, if this server stores the bytes. */
export function mountFileTransfers({ core, metrics, log }: Wiring, { folder, fileOf }: OpenFiles): Mount[] {
  if (folder === undefined) return [];
  const { uploads, downloads } = core.resources;
  const tokens = createTokens(core.signing.signerFor("files"), core.clock);
  return [mountFiles({ folder, tokens, log, metrics, fileOf, uploads, downloads })];
}

function runJobs({ core, log, opened }: Wiring, jobs: Jobs, all: readonly Job[]): void {
  let looking: Promise<void> | undefined;
  const failed = (error: unknown) => log.warn({ error }, "file maintenance failed; will retry");
  async function lookAround(): Promise<void> {
    for (const { name, next } of all) {
      if (name === nightly) await jobs.plan(name, next(core.clock.now())).catch(failed);
    }
    for (const job of all) await jobs.run(job).catch(failed);
  }
  const timer = setInterval(() => {
    looking ??= lookAround().finally(() => {
      looking = undefined;
    });
  }, lookMs);
  opened.defer(async () => {
    clearInterval(timer);
    // Whatever it is at, another process or the next start goes on with it.
    await withDeadline(looking ?? Promise.resolve(), closeMs, "file maintenance").catch(() => {});
  });
}
