import type { TenantId } from "../base/ids.ts";
import { statement } from "../sql/statement.ts";
import { type Db, ofTenant, type TenantDb } from "../sql/tenant-db.ts";

/** How much a workspace has: the numbers in the sidebar of the dashboard. */
export interface Contents {
  readonly links: number;
  readonly files: number;
  readonly domains: number;
  /** There may be more links than were counted. */
  readonly isPartial: boolean;
}

/** Counting them in the index takes half a millisecond. Nobody needs to know a larger number exactly at a glance. */
export const contentLinksMost = 10_000;

export async function contentsOf(db: Db, tenant: TenantId, most: number = contentLinksMost): Promise<Contents> {
  const own = ofTenant(db, tenant);
  const some = own.selectFrom("links").select("id").limit(most).as("some");
  const counted = db.selectFrom(some).select((row) => row.fn.countAll<number | string>().as("count"));
  const [links, files, domains] = await Promise.all([
    counted.executeTakeFirstOrThrow(),
    selectFiles.first(own),
    countDomains.one(own),
  ]);
  const count = Number(links.count);
  return {
    ...{ links: count, files: files?.files ?? 0, domains: Number(domains.count) },
    isPartial: count >= most,
  };
}

const selectFiles = statement((own: TenantDb) => own.selectFrom("tenant_storage").select("files"));

const countDomains = statement((own: TenantDb) =>
  own.selectFrom("domains").select((row) => row.fn.countAll<number | string>().as("count")),
);
