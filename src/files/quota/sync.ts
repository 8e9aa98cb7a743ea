import type { TenantId } from "../../base/ids.ts";
import type { Tenant } from "../../tenants/tenants.ts";
import type { StorageQuota } from "./quota.ts";
import type { Recount } from "./storage-total.ts";

/**
 * Puts a tenant's storage right, from what is surely true: its files are added up under the lock of its row, and the
 * counters take over what the row then says. Uploads that go on meanwhile wait for the lock or come after it; what is
 * held is not touched. In the normal course of things there is no drift, for row and files change together: one that is
 * found is a mistake of ours, or somebody's who wrote into the database.
 */
export interface QuotaSync {
  readonly tenant: string;
  readonly files: number;
  /** What they have together. */
  readonly bytes: number;
  /** By how much the row was off: negative when it had too much. */
  readonly drift: number;
  /** What the counters had as used and held, before; nothing when they cannot be asked. */
  readonly counted: number | null;
  readonly held: number | null;
}

export interface QuotaSyncSettings {
  readonly recount: (tenant: TenantId, dryRun: boolean) => Promise<Recount>;
  /** Nothing when the counters are in another process. */
  readonly quota: StorageQuota | undefined;
}

/** Only looks, if asked to. */
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
