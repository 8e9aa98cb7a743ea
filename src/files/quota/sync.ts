import type { TenantId } from "../../base/ids.ts";
import type { Tenant } from "../../tenants/tenants.ts";
import type { StorageQuota } from "./quota.ts";
import type { Recount } from "./storage-total.ts";

/**
 * Corrects a tenant's storage from the source of truth: its files are recounted under the lock of its row, and the
 * counters get the result. Concurrent uploads wait for the lock or come after it; holds are not touched. Normally there
 * is no drift, because row and files change together: drift is a bug, or a manual change in the database.
 */
export interface QuotaSync {
  readonly tenant: string;
  readonly files: number;
  /** Their total size. */
  readonly bytes: number;
  /** By how much the row was off: negative if it had too much. */
  readonly drift: number;
  /** What the counters had as used and held before; null if they cannot be asked. */
  readonly counted: number | null;
  readonly held: number | null;
}

export interface QuotaSyncSettings {
  readonly recount: (tenant: TenantId, dryRun: boolean) => Promise<Recount>;
  /** `undefined` when the counters are in another process. */
  readonly quota: StorageQuota | undefined;
}

/** Changes nothing in a dry run. */
export async function syncQuota(
  { recount, quota }: QuotaSyncSettings,
  { id, slug }: Pick<Tenant, "id" | "slug">,
  dryRun: boolean,
): Promise<QuotaSync> {
  const figures = await quota?.figures(id);
  const { files, before, total } = await recount(id, dryRun);
  if (!dryRun) {
    await quota?.sync(id, total);
    await quota?.freshen(id);
  }
  return {
    tenant: slug,
    files,
    bytes: total.bytes,
    drift: total.bytes - before,
    counted: figures?.used ?? null,
    held: figures?.held ?? null,
  };
}
