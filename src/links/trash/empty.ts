import { setImmediate as letOthers } from "node:timers/promises";
import type { Clock } from "../../base/clock.ts";
import type { TenantId } from "../../base/ids.ts";
import type { Actor } from "../../history/history.ts";
import type { TrashStore } from "./trash-store.ts";

const stepRows = 100; // short transactions: another writer waits for at most one of them
const stepsMost = 50;

/** Deletes a tenant's trash for good, up to 5,000 links. */
export async function emptyTrash(
  { trash, clock }: { readonly trash: Pick<TrashStore, "eraseSome">; readonly clock: Pick<Clock, "now"> },
  tenant: TenantId,
  by: Actor,
): Promise<{ readonly deleted: number; readonly isEmpty: boolean }> {
  let deleted = 0;
  for (let step = 0; step < stepsMost; step++) {
    const some = await trash.eraseSome(tenant, stepRows, by, clock.now());
    deleted += some;
    if (some < stepRows) return { deleted, isEmpty: true };
    await letOthers();
  }
  return { deleted, isEmpty: false };
}
