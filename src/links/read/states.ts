import type { Clock } from "../../base/clock.ts";
import type { LinkId } from "../../base/ids.ts";
import { monthName } from "../../limits/window.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import { ofTenant, type TenantDb } from "../../sql/tenant-db.ts";
import { cacheKey, type Link, type LinkHealth, type LinkState, stateless } from "../link.ts";
import { hitsMax } from "../rows.ts";

interface Sources {
  readonly sql: Pick<Sql, "db">;
  readonly clock: Pick<Clock, "now">;
  readonly targets: { of(links: readonly Link[]): Promise<Map<LinkId, LinkHealth>> };
  readonly suspensions: { ofLinks(links: readonly Link[]): Promise<Map<string, string>> };
}

/** Collects what is known about links besides what their owners set. */
export async function statesOf(
  { sql, clock, targets, suspensions }: Sources,
  links: readonly Link[],
): Promise<Map<LinkId, LinkState>> {
  const [found, reasons, totals] = await Promise.all([
    targets.of(links),
    suspensions.ofLinks(links),
    linkTotals(sql, links, monthName(clock.now())),
  ]);
  return new Map(
    links.map((link) => {
      const suspended = reasons.get(cacheKey(link.domain, link.code)) ?? null;
      return [link.id, { ...(totals.get(link.id) ?? stateless), target: found.get(link.id) ?? null, suspended }];
    }),
  );
}

type Totals = Omit<LinkState, "target" | "suspended">;

async function linkTotals(
  { db }: Pick<Sql, "db">,
  links: readonly Link[],
  month: string,
): Promise<Map<LinkId, Totals>> {
  const totals = new Map<LinkId, Totals>();
  for (const [tenant, some] of Map.groupBy(links, (link) => link.tenantId)) {
    const rows = await selectTotals.all(ofTenant(db, tenant), { ids: some.map(({ id }) => id), month });
    for (const row of rows) {
      totals.set(row.id, {
        ...{ clicks: row.clicks ?? 0, lastClickAt: row.last_at, hitsUsed: row.counted ?? 0 },
        fileName: row.name,
        hitsLimit: hitsMax(row.hits_per_month, {
          ...{ plan: row.plan ?? "", planLimits: row.plan_limits, overrides: row.overrides ?? "{}" },
        }),
      });
    }
  }
  return totals;
}

const selectTotals = statement((own: TenantDb, { ids, month }: Params<{ ids: readonly LinkId[]; month: string }>) =>
  own
    .selectFrom("links")
    .leftJoin(own.selectFrom("click_links").select(["link", "clicks", "last_at"]).as("c"), "c.link", "links.number")
    .leftJoin("quotas as q", (join) =>
      join
        .onRef("q.domain", "=", "links.domain")
        .onRef("q.code", "=", "links.code")
        .on("q.month", "=", month)
        .on("q.draws", "=", "hits"),
    )
    .leftJoin(own.selectFrom("files").select(["id as file", "name"]).as("f"), "f.file", "links.file_id")
    .leftJoin("tenants as t", "t.id", "links.tenant_id")
    .leftJoin("plans as p", "p.name", "t.plan")
    .select(["links.id", "links.hits_per_month", "c.clicks", "c.last_at", "q.counted", "f.name"])
    .select(["t.plan", "t.limits as overrides", "p.limits as plan_limits"])
    .where("links.id", "in", ids),
);
