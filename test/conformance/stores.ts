/** Every kind of storage, with a real server behind its addresses. */
import { BlockList } from "node:net";
import { join } from "node:path";
import { type ManualClock, manualClock } from "../../src/base/clock.ts";
import { type FileId, newId, parseId } from "../../src/base/ids.ts";
import { createLog } from "../../src/base/log.ts";
import { createMetrics, type Metrics } from "../../src/base/metrics.ts";
import { createShares } from "../../src/base/shares.ts";
import { createSigningKeys } from "../../src/base/signature.ts";
import { openHosts } from "../../src/domains/hosts.ts";
import type { DownloadSettings } from "../../src/files/download/download.ts";
import type { TenantFile } from "../../src/files/file.ts";
import { mountFiles } from "../../src/files/mount.ts";
import { createDisk } from "../../src/files/storage/disk.ts";
import { createFolder, type Folder } from "../../src/files/storage/folder.ts";
import { createS3 } from "../../src/files/storage/s3.ts";
import type { Storage } from "../../src/files/storage/storage.ts";
import { createTokens } from "../../src/files/storage/tokens.ts";
import type { UploadSettings } from "../../src/files/upload/upload.ts";
import { startServer } from "../../src/http/server.ts";
import { freePort } from "../ground/ports.ts";
import { type S3Options, type S3Server, startS3 } from "../ground/s3.ts";
import { tempFolder } from "../ground/temp.ts";

export interface Store {
  readonly storage: Storage;
  /** By which addresses are signed and judged. */
  readonly clock: ManualClock;
  stop(): Promise<void>;
}

export interface DiskStore extends Store {
  /** What every address that was signed is for, as if SQL had it. */
  readonly rows: Map<FileId, TenantFile>;
  readonly root: string;
  readonly port: number;
  readonly folder: Folder;
  readonly metrics: Metrics;
}

export const few = {
  resource: "tests",
  what: "tests",
  atOnce: 64,
  waitingMost: 64,
  waitMs: 5_000,
  retryAfterSeconds: 5,
};
const silent = createLog("silent", { write() {} }, false, () => 0);

export async function openDiskStore(
  more: Partial<UploadSettings & DownloadSettings> = {},
  root = join(tempFolder("files"), "files"),
): Promise<DiskStore> {
  const clock = manualClock(Date.now());
  const port = freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const keys = [{ id: "k1", key: Buffer.from("a secret for tests of storage") }];
  const tokens = createTokens(createSigningKeys(keys, clock).signerFor("files"), clock);
  const folder = createFolder(root);
  const metrics = createMetrics();
  const disk = createDisk({ root, baseUrl, tokens });
  const rows = new Map<FileId, TenantFile>();
  const tenantId = newId("tenant", clock);
  const storage: Storage = {
    ...disk,
    signUpload(upload) {
      const id = parseId("file", upload.key.slice("incoming/".length));
      const { sizeBytes, type, sha256, until: uploadUntil } = upload;
      const times = { createdAt: clock.now() - 1, uploadUntil, storedAt: null };
      if (id)
        rows.set(id, { id, tenantId, name: "", sizeBytes, type, sha256, ...times, state: "pending", settled: false });
      return disk.signUpload(upload);
    },
  };
  const hosts = await openHosts({
    load: async () => [],
    own: { names: new Set(["127.0.0.1"]), onlyThese: true },
    log: silent,
  });
  const server = startServer({
    hostname: "127.0.0.1",
    port,
    sharesPort: false,
    baseUrl,
    redirect: () => undefined,
    api: () => Promise.reject(new Error("there is no API here")),
    hosts,
    readiness: async () => ({ status: "ready", dependencies: {} }),
    metrics,
    metricsToken: undefined,
    trustedProxies: new BlockList(),
    bodyLimitBytes: 1_024,
    uploadLimitBytes: 100_000_000,
    mounts: [
      mountFiles({
        ...{ folder, tokens, log: silent, metrics },
        fileOf: async (id) => rows.get(id),
        uploads: createShares({ ...few, resource: "uploads" }),
        downloads: createShares({ ...few, resource: "downloads" }),
        ...more,
      }),
    ],
    clock,
    log: silent,
  });
  return {
    storage,
    rows,
    clock,
    root,
    port,
    folder,
    metrics,
    stop() {
      return server.stop(1_000);
    },
  };
}

export async function openS3Store(options: S3Options = {}): Promise<Store & { readonly server: S3Server }> {
  const clock = manualClock(Date.now());
  const server = startS3({ now: clock.now, ...options });
  const bucket = { endpoint: server.endpoint, ...server.account };
  return { storage: createS3({ bucket, clock, pauseMs: 1 }), clock, server, stop: server.stop };
}

export const stores: Readonly<Record<string, () => Promise<Store>>> = {
  disk: () => openDiskStore(),
  S3: () => openS3Store(),
};
