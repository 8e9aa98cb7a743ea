import type { LinkId } from "../../base/ids.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import { ofTenant, type TenantDb } from "../../sql/tenant-db.ts";
import { cacheKey, type Link, type LinkHealth, type LinkState } from "../link.ts";

interface Sources {
  readonly sql: Pick<Sql, "db">;
  readonly targets: { of(links: readonly Link[]): Promise<Map<LinkId, LinkHealth>> };
  readonly suspensions: { ofLinks(links: readonly Link[]): Promise<Map<string, string>> };
}

/** Collects what is known about links besides what their owners set. */
export async function statesOf(
  { sql, targets, suspensions }: Sources,
  links: readonly Link[],
): Promise<Map<LinkId, LinkState>> {
  const [found, reasons, totals] = await Promise.all([
    targets.of(links),
    suspensions.ofLinks(links),
    clickTotals(sql, links),
  ]);
  return new Map(
    links.map((link) => {
      const suspended = reasons.get(cacheKey(link.domain, link.code)) ?? null;
      const { clicks, lastClickAt } = totals.get(link.id) ?? { clicks: 0, lastClickAt: null };
      return [link.id, { target: found.get(link.id) ?? null, suspended, clicks, lastClickAt }];
    }),
  );
}

async function clickTotals(
  { db }: Pick<Sql, "db">,
  links: readonly Link[],
): Promise<Map<LinkId, Pick<LinkState, "clicks" | "lastClickAt">>> {
  const totals = new Map<LinkId, Pick<LinkState, "clicks" | "lastClickAt">>();
  for (const [tenant, some] of Map.groupBy(links, (link) => link.tenantId)) {
    const rows = await selectTotals.all(ofTenant(db, tenant), { ids: some.map(({ id }) => id) });
    for (const { id, clicks, last_at } of rows) totals.set(id, { clicks, lastClickAt: last_at });
  }
  return totals;
}

const selectTotals = statement((own: TenantDb, { ids }: Params<{ ids: readonly LinkId[] }>) =>
  own
    .selectFrom("links")
    .innerJoin(own.selectFrom("click_links").select(["link", "clicks", "last_at"]).as("c"), "c.link", "links.number")
    .select(["links.id", "c.clicks", "c.last_at"])
    .where("links.id", "in", ids),
);
