import type { Publish } from "../cache/feed.ts";
import { createFiles, type Files } from "../files/files.ts";
import { mountFiles } from "../files/mount.ts";
import { createStorageQuota, type StorageQuota } from "../files/quota/quota.ts";
import { createFolder, type Folder } from "../files/storage/folder.ts";
import { uploadMostMs } from "../files/storage/storage.ts";
import { createTokens } from "../files/storage/tokens.ts";
import { createFileStore, type FileStore } from "../files/store.ts";
import { createUpkeep, type Upkeep, type UpkeepSettings } from "../files/upkeep/upkeep.ts";
import type { Mount } from "../http/mount.ts";
import type { Counters } from "../limits/counters.ts";
import type { Sql } from "../sql/sql.ts";
import type { Tenant } from "../tenants/tenants.ts";
import type { Wiring } from "./wiring.ts";

/** Wires files: uploads, downloads, and the maintenance that one process does for all. */
export interface OpenFiles {
  readonly files: Files;
  readonly quota: StorageQuota;
  readonly upkeep: Upkeep;
  /** A file of any tenant, for the holder of its signed URL. */
  readonly fileOf: FileStore["byId"];
  /** Where this server itself stores the bytes; `undefined` with S3_URL. */
  readonly folder: Folder | undefined;
  /** Removes what interrupted uploads left in the folder. */
  readonly clearDrafts: (() => Promise<unknown>) | undefined;
}

export interface FileParts {
  /** Of `openUnforced`. */
  readonly unforced: Sql;
  readonly counters: Counters;
  readonly recount: UpkeepSettings["recount"];
  /** Called for each link to a deleted file. */
  readonly publish: Publish;
  /** Called after a file was stored, with the tenant's new total. */
  readonly filled: (tenant: Tenant, usedBytes: number) => void;
}

export function openFiles(wiring: Wiring, { unforced, counters, recount, publish, filled }: FileParts): OpenFiles {
  const { core, metrics, log } = wiring;
  const { sql, storage, clock, tenants, config } = core;
  const store = createFileStore(sql, unforced);
  const quota = createStorageQuota(counters, store, clock.now);
  const files = createFiles({ store, storage, quota, clock, log, mostBytes: config.QL_FILE_LIMIT, publish, filled });
  const upkeep = createUpkeep({ sql, store, storage, files, quota, recount, tenants, clock, metrics, log });
  const folder = config.S3_URL === undefined ? createFolder(config.filesFolder) : undefined;
  return {
    files,
    quota,
    upkeep,
    fileOf: store.byId,
    folder,
    // Twice the longest upload: a clock that was set must not remove one that is still running.
    clearDrafts: folder && (() => folder.clearDrafts(clock.now() - 2 * uploadMostMs)),
  };
}

/** Signed URLs for uploads and downloads, if this server stores the bytes. */
export function mountFileTransfers({ core, metrics, log }: Wiring, { folder, fileOf }: OpenFiles): Mount[] {
  if (folder === undefined) return [];
  const { uploads, downloads } = core.resources;
  const tokens = createTokens(core.signing.signerFor("files"), core.clock);
  return [mountFiles({ folder, tokens, log, metrics, fileOf, uploads, downloads })];
}
