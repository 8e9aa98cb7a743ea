import type { LinkId } from "../base/ids.ts";
import type { LinkNumber } from "../sql/schema.ts";
import type { TenantDb } from "../sql/tenant-db.ts";

/** A link, and the number that clicks have. */
export interface ErasedLink {
  readonly id: LinkId;
  readonly number: LinkNumber;
}

/**
 * What belongs to links and goes with them, when they are deleted for good. So do clicks from another shortener: if the same
 * link is imported again, they come with it.
 */
export async function eraseAttached(own: TenantDb, links: readonly ErasedLink[]): Promise<void> {
  const [ids, numbers] = [links.map(({ id }) => id), links.map(({ number }) => number)];
  await own.deleteFrom("annotations").where("link_id", "in", ids).execute();
  await own.deleteFrom("stats_shares").where("link_id", "in", ids).execute();
  await own.deleteFrom("click_history").where("link", "in", numbers).execute();
}
