import { LRUCache } from "lru-cache";
import type { FileId, TenantId } from "../../base/ids.ts";
import { type Counters, type CounterVerdict, type Truth, unavailable } from "../../limits/counters.ts";
import { storageLimit } from "../../limits/storage-limit.ts";
import type { TenantFile } from "../file.ts";
import type { FileStore, StorageUse } from "../store.ts";
import type { StorageTotal } from "./storage-total.ts";

/**
 * A tenant's storage quota, as the counters know it. They refuse early, before a byte is sent; SQL has the last word.
 *
 * `used` is a copy of the tenant's storage total in SQL, replaced only by a newer one. Holds are separate: a stored upload
 * is first synced and then released, so it counts twice for a moment but never not at all.
 *
 * The counters may forget: a restart in process, a flushed or older Redis. So each hold comes with what SQL has just said
 * (`StorageUse`). In one step the counters take over what is stored, and hold the file if it fits; unless they hold less
 * than the admitted uploads have. Then these are held again first.
 */
export interface StorageQuota {
  /** Updates the counters from SQL. False when they do not answer. */
  freshen(tenant: TenantId): Promise<boolean>;
  /** False if the counters did not answer the tenant's last hold, and still do not: then no row should be written. */
  isAnswering(tenant: TenantId): Promise<boolean>;
  /** `use`: as SQL had it after the file's row was written. */
  hold(whose: QuotaOwner, file: HeldFile, use: StorageUse): Promise<CounterVerdict>;
  /** For an upload that failed. `over`: there is no such hold. `unavailable`: to be repeated. */
  release(file: HeldFile): Promise<"released" | "over" | "unavailable">;
  /** For an upload that is stored. False when the counters do not answer: to be repeated. */
  settle(file: HeldFile, total: StorageTotal): Promise<boolean>;
  sync(tenant: TenantId, total: StorageTotal): Promise<boolean>;
  /** What the counters have; `undefined` when they do not answer. */
  figures(tenant: TenantId): Promise<StorageFigures | undefined>;
  /** The same, updated from SQL first. */
  freshFigures(tenant: TenantId): Promise<StorageFigures | undefined>;
}

export interface QuotaOwner {
  readonly id: TenantId;
  /** Null: no limit. */
  readonly max: number | null;
}

export interface StorageFigures {
  readonly used: number;
  readonly held: number;
}

export type HeldFile = Pick<TenantFile, "id" | "tenantId" | "sizeBytes">;

/** Far beyond an upload's life: the sweeper ends it long before. */
const holdMs = 86_400_000;
const holdLeastMs = 60_000;
const atOnce = 25;
const unansweredMost = 1_000;

export function createStorageQuota(counters: Counters, store: FileStore, now: () => number): StorageQuota {
  const unanswered = new LRUCache<TenantId, true>({ max: unansweredMost });

  /** Afterwards everything that may still be stored is held. Throws when the counters do not answer. */
  async function holdAgain(tenant: TenantId): Promise<void> {
    const files = await store.admitted(tenant);
    for (let at = 0; at < files.length; at += atOnce) {
      await Promise.all(
        files.slice(at, at + atOnce).map(async (file) => {
          const ttlMs = Math.max(holdLeastMs, file.createdAt + holdMs - now());
          // Already granted once, so it is held without a limit.
          const charge = { limit: storageLimit(tenant, null), amount: file.sizeBytes };
          const verdict = await counters.hold(holdId(file), [charge], ttlMs);
          if (verdict.kind === "unavailable") throw new Error("the counters are unavailable");
        }),
      );
    }
    // An upload that ended before its hold existed released nothing, and nothing else would release it.
    const pending = await store.stillPending(
      tenant,
      files.map(({ id }) => id),
    );
    await Promise.all(files.filter(({ id }) => !pending.has(id)).map((file) => counters.release(holdId(file))));
  }

  async function hold(whose: QuotaOwner, file: HeldFile, use: StorageUse): Promise<CounterVerdict> {
    const verdict = await tryToHold(whose, file, use);
    if (verdict.kind === "unavailable") unanswered.set(whose.id, true);
    return verdict;
  }

  async function isAnswering(tenant: TenantId): Promise<boolean> {
    if (!unanswered.has(tenant)) return true;
    if ((await figures(tenant)) === undefined) return false;
    unanswered.delete(tenant);
    return true;
  }

  async function tryToHold({ id, max }: QuotaOwner, file: HeldFile, use: StorageUse): Promise<CounterVerdict> {
    const charge = { limit: storageLimit(id, max), amount: file.sizeBytes };
    const ask = (truth: Truth) => counters.holdInSync(holdId(file), charge, holdMs, truth);
    const verdict = await ask({ used: use.bytes, version: use.version, held: use.pending });
    if (verdict.kind !== "lost") return verdict;
    // Or an upload was completed since `use` was read, and is no longer held: then holding again finds nothing to do.
    if (!(await isHeldAgain(id))) return unavailable;
    // Read after holding again: what was stored meanwhile then counts twice rather than not at all.
    const { bytes, version } = await store.storageUse(id);
    const again = await ask({ used: bytes, version, held: 0 });
    return again.kind === "lost" ? unavailable : again;
  }

  const isHeldAgain = (tenant: TenantId): Promise<boolean> =>
    holdAgain(tenant).then(
      () => true,
      () => false,
    );

  async function figures(tenant: TenantId): Promise<StorageFigures | undefined> {
    const answer = await counters.status([storageLimit(tenant, null)]);
    return answer.kind === "known" ? answer.limits[0] : undefined;
  }

  async function freshen(tenant: TenantId): Promise<boolean> {
    const announced = await store.storageUse(tenant);
    const known = await figures(tenant);
    if (known === undefined) return false;
    if (known.held < announced.pending && !(await isHeldAgain(tenant))) return false;
    return await sync(tenant, announced);
  }

  async function sync(tenant: TenantId, { bytes, version }: StorageTotal): Promise<boolean> {
    return (await counters.sync(storageLimit(tenant, null), bytes, version)).kind !== "unavailable";
  }

  const release: StorageQuota["release"] = async (file) => {
    const { kind } = await counters.release(holdId(file));
    return kind === "released" || kind === "unavailable" ? kind : "over";
  };

  return {
    freshen,
    sync,
    release,
    isAnswering,
    hold,
    settle: async (file, total) => (await sync(file.tenantId, total)) && (await release(file)) !== "unavailable",
    figures,
    freshFigures: async (tenant) => ((await freshen(tenant)) ? await figures(tenant) : undefined),
  };
}

/** The tenant in braces: on a Redis Cluster it is then on the same node as the tenant's limit. */
const holdId = ({ tenantId, id }: { tenantId: TenantId; id: FileId }): string => `{${tenantId}}/files/${id}`;
