import type { LinkId } from "../base/ids.ts";
import type { TenantDb } from "../sql/tenant-db.ts";

/** What belongs to links and goes with them, when they are deleted for good. */
export async function eraseAttached(own: TenantDb, ids: readonly LinkId[]): Promise<void> {
  await own.deleteFrom("annotations").where("link_id", "in", ids).execute();
  await own.deleteFrom("stats_shares").where("link_id", "in", ids).execute();
}
