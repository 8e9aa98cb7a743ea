import { sql as raw } from "kysely";
import type { LinkId, TenantId } from "../../base/ids.ts";
import { readStorageTotal } from "../../files/quota/storage-total.ts";
import { hitsMax, hitsMaxExpression } from "../../links/rows.ts";
import type { Sql } from "../../sql/sql.ts";
import { acrossTenants, ofTenant } from "../../sql/tenant-db.ts";
import type { Place } from "../../sql/versions.ts";
import { usedInMonth } from "../../tenants/monthly-usage.ts";
import type { Tenants } from "../../tenants/tenants.ts";
import { tenantsWith } from "../settings/settings.ts";
import { hitsKeyStart, type NoticeUse, reachedPercent } from "./thresholds.ts";

const linksMost = 100; // per tenant: notified links are not found again, and the next check has the next ones

/**
 * Every nearly or fully used limit of all tenants with a contact address. Reads every visited link: not for the serving
 * thread.
 */
export async function nearLimits(
  sql: Sql,
  tenants: Pick<Tenants, "byId">,
  month: string,
  now: number,
): Promise<NoticeUse[]> {
  const uses: NoticeUse[] = [];
  for await (const page of tenantsWith(sql, "contact")) {
    for (const { tenant_id: tenant } of page) {
      const limits = (await tenants.byId(tenant))?.limits;
      if (limits === undefined) continue;
      const links = await usedInMonth(sql.db, { tenant, name: "links", month });
      uses.push(
        { tenant, limit: "linksPerMonth", used: links, max: limits.linksPerMonth },
        {
          tenant,
          limit: "storageBytes",
          used: (await readStorageTotal(sql.db, tenant)).bytes,
          max: limits.storageBytes,
        },
        ...(await untoldLinks(sql, tenant, limits.hitsPerLinkPerMonth, month, now)),
      );
    }
  }
  return uses.filter(({ used, max }) => reachedPercent(used, max) !== undefined);
}

/** Links near their limit without a notice so far. `allowed` is the plan's limit per link. */
async function untoldLinks(
  { db }: Sql,
  tenant: TenantId,
  allowed: number | null,
  month: string,
  now: number,
): Promise<NoticeUse[]> {
  const max = hitsMaxExpression(allowed);
  // Units still reserved after all leases have expired were lost in a crash, and count as used.
  const used = raw<number>`q.counted + case when q.lent_until < ${now} then q.reserved else 0 end`;
  const key = raw<string>`${raw.lit(hitsKeyStart)} || l.id || ${raw.lit(`:${month}:`)} ||
    case when ${used} >= ${max} then '100' else '80' end`;
  const own = ofTenant(db, tenant);
  const rows = await own
    .selectFrom("links as l")
    .innerJoin("quotas as q", (join) => join.onRef("q.domain", "=", "l.domain").onRef("q.code", "=", "l.code"))
    .select(["l.id", "l.domain", "l.code", "l.fallback_url", used.as("used"), max.as("max")])
    .where("q.month", "=", month)
    .where("q.draws", "=", "hits")
    .where(max, ">", 0)
    .where(raw<boolean>`(${used}) * 5 >= (${max}) * 4`)
    .where((row) => row.not(row.exists(own.selectFrom("emails as e").select("e.id").where("e.dedupe_key", "=", key))))
    .limit(linksMost)
    .execute();
  return rows.map(({ id, domain, code, fallback_url, used, max }) => ({
    tenant,
    limit: "hitsPerLinkPerMonth",
    used: Number(used),
    max: Number(max),
    link: { id, domain, code, fallback: fallback_url !== null },
  }));
}

/** The current state of one link: its tenant, and its hits this month. */
export async function linkUse({ db }: Sql, { domain, code }: Place, month: string): Promise<NoticeUse | undefined> {
  const row = await acrossTenants(db)
    .selectFrom("links as l")
    .innerJoin("quotas as q", (join) => join.onRef("q.domain", "=", "l.domain").onRef("q.code", "=", "l.code"))
    .innerJoin("tenants as t", "t.id", "l.tenant_id")
    .leftJoin("plans as p", "p.name", "t.plan")
    .select(["l.id", "l.tenant_id", "l.fallback_url", "l.hits_per_month", "q.counted"])
    .select(["t.plan", "t.limits as overrides", "p.limits as planLimits"])
    .where("l.domain", "=", domain)
    .where("l.code", "=", code)
    .where("q.month", "=", month)
    .where("q.draws", "=", "hits")
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    tenant: row.tenant_id,
    limit: "hitsPerLinkPerMonth",
    used: row.counted,
    max: hitsMax(row.hits_per_month, row),
    link: { id: row.id as LinkId, domain, code, fallback: row.fallback_url !== null },
  };
}
