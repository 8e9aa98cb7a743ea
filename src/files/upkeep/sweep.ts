import type { Clock } from "../../base/clock.ts";
import type { FileId } from "../../base/ids.ts";
import type { Logger } from "../../base/log.ts";
import type { Sql } from "../../sql/sql.ts";
import { isAdmitted, type TenantFile } from "../file.ts";
import type { Files } from "../files.ts";
import type { StorageQuota } from "../quota/quota.ts";
import { type Storage, uploadMostMs } from "../storage/storage.ts";
import type { FileStore } from "../store.ts";
import { strayUploads } from "./orphans.ts";

/**
 * Continues interrupted work: uploads that were not completed, deletions that were started, stored files that the
 * counters do not know of. One process does it for all; if two do, every step may be repeated.
 *
 * An upload is only given up by condemning its row, long after its URL expired: a concurrent `complete` either comes
 * first, and it is no longer pending, or comes after, and finds no such file.
 */
export interface SweepSettings {
  readonly sql: Sql;
  readonly storage: Storage;
  readonly store: FileStore;
  readonly files: Pick<Files, "finish">;
  readonly quota: StorageQuota;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends it between two files. */
  readonly signal?: AbortSignal;
}

export interface Swept {
  readonly abandoned: number;
  readonly deleted: number;
  readonly settled: number;
  /** Objects that were sent again after their file was stored or given up. */
  readonly stray: number;
  /** To be retried: the file storage or the counters do not answer. */
  readonly failed: number;
}

/** After the URL expired: the time the last bytes may take to arrive, and as long again to complete it. */
export const abandonedAfterMs = 2 * uploadMostMs;
/** Its URL was never given out, but it may be held: the request that announced it was answered long ago. */
export const unadmittedAfterMs = 60_000;
/** They count for no tenant, so they must not stay. */
const strayAfterMs = 60_000;
const rowsAtOnce = 100;
const rowsMost = 10_000;

export async function sweepFiles(settings: SweepSettings): Promise<Swept> {
  const { sql, store, storage, files, quota, clock, log, signal } = settings;
  const endedBefore = clock.now() - abandonedAfterMs;
  const bornBefore = clock.now() - unadmittedAfterMs;

  async function goOn(file: TenantFile): Promise<keyof Swept> {
    if (file.state === "stored") {
      if (!(await quota.settle(file, await store.storageUse(file.tenantId)))) return "failed";
      await store.settled(file);
      return "settled";
    }
    const condemned = file.state === "deleting" ? file : await giveUp(file);
    // Completed, or deleted by its owner, since it was listed.
    if (condemned === undefined) return "settled";
    if (!(await files.finish(condemned))) return "failed";
    return file.state === "deleting" ? "deleted" : "abandoned";
  }

  /** One that was admitted meanwhile ends in the future. */
  const giveUp = (file: TenantFile) =>
    store.condemn(file, "pending", { endedBefore: isAdmitted(file) ? endedBefore : bornBefore });

  const swept = { abandoned: 0, deleted: 0, settled: 0, stray: 0, failed: 0 };
  let after: FileId | undefined;
  for (let seen = 0; seen < rowsMost; ) {
    const rows = await store.unfinished(endedBefore, bornBefore, after, rowsAtOnce);
    for (const file of rows) {
      signal?.throwIfAborted();
      const outcome = await goOn(file).catch((error: unknown) => {
        if (swept.failed === 0) log.warn({ error, file: file.id }, "could not clean up a file; will retry");
        return "failed" as const;
      });
      swept[outcome]++;
    }
    after = rows.at(-1)?.id;
    seen += rows.length;
    if (rows.length < rowsAtOnce) break;
  }
  try {
    for await (const { key } of strayUploads(sql, storage, clock.now() - strayAfterMs)) {
      signal?.throwIfAborted();
      await storage.remove(key);
      swept.stray++;
    }
  } catch (error) {
    signal?.throwIfAborted();
    log.warn({ error }, "could not clean up abandoned uploads; will retry");
    swept.failed++;
  }
  return swept;
}
