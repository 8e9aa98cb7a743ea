import { sql as raw } from "kysely";
import type { LinkId, TenantId } from "../../base/ids.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { hitsMaxExpression } from "../rows.ts";

/** A link and its used hits this month. */
export interface BusyLink {
  readonly id: LinkId;
  readonly domain: string;
  readonly code: string;
  readonly counted: number;
  /** Units out on lease. */
  readonly reserved: number;
  readonly max: number;
}

const shown = 10;

/**
 * The links of a tenant that are closest to their limit; links without a limit are left out. Reads every visited link:
 * not for the serving thread. `allowed` is the tenant's limit per link.
 */
export async function busiestLinks(
  sql: Sql,
  tenant: TenantId,
  allowed: number | null,
  month: string,
): Promise<BusyLink[]> {
  const max = hitsMaxExpression(allowed);
  return await ofTenant(sql.db, tenant)
    .selectFrom("links as l")
    .innerJoin("quotas as q", (join) => join.onRef("q.domain", "=", "l.domain").onRef("q.code", "=", "l.code"))
    .select(["l.id", "l.domain", "l.code", "q.counted", "q.reserved", max.as("max")])
    .where("q.month", "=", month)
    .where("q.draws", "=", "hits")
    .where(max, "is not", null)
    .orderBy(raw`(q.counted + q.reserved) * 1.0 / nullif(${max}, 0)`, "desc")
    .orderBy("l.id", "desc")
    .limit(shown)
    .execute();
}
