import type { TenantId } from "../../base/ids.ts";
import { type BulkInsert, type BulkValue, bulkInsert } from "../../sql/bulk.ts";
import type { LinkNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { acrossTenants } from "../../sql/tenant-db.ts";
import type { ClickedLink } from "../click.ts";
import type { Step } from "./step.ts";

/** What lists of links show: counted clicks, the first and the last. A link with bots only has a row, and no clicks. */
export interface LinkTotals {
  /** Returns the links that had their first counted click ever. */
  add(step: Step, added: Iterable<AddedClicks>): Promise<ClickedLink[]>;
}

export interface AddedClicks {
  readonly link: ClickedLink;
  readonly tenantId: TenantId;
  /** Of people. */
  clicks: number;
  /** Null if there are no clicks of people. */
  firstAt: number | null;
  lastAt: number | null;
}

export function createLinkTotals(sql: Sql): LinkTotals {
  const upsert: BulkInsert<ReturnType<typeof acrossTenants>, { link: LinkNumber; clicks: number }> = bulkInsert(
    sql.dialect,
    {
      into: "click_links",
      columns: {
        ...{ link: "bigint", tenant_id: "text", domain: "text", code: "text", clicks: "bigint" },
        ...{ first_at: "bigint", last_at: "bigint" },
      },
      // Late clicks come after newer ones.
      tail: `on conflict (link) do update set
        clicks = click_links.clicks + excluded.clicks,
        first_at = case when click_links.first_at <= excluded.first_at or excluded.first_at is null
          then click_links.first_at else excluded.first_at end,
        last_at = case when click_links.last_at >= excluded.last_at or excluded.last_at is null
          then click_links.last_at else excluded.last_at end
        returning link, clicks`,
    },
  );
  return {
    async add(step, added) {
      const values: BulkValue[] = [];
      const byLink = new Map<LinkNumber, AddedClicks>();
      // Many processes add to the same rows: in one order, or they deadlock.
      for (const one of [...added].sort((a, b) => a.link.link - b.link.link)) {
        const { link, domain, code } = one.link;
        byLink.set(link, one);
        values.push(link, one.tenantId, domain, code, one.clicks, one.firstAt, one.lastAt);
      }
      const rows = await upsert.run(acrossTenants(step.trx), values);
      return rows.flatMap(({ link, clicks }) => {
        const one = byLink.get(link);
        return one !== undefined && one.clicks > 0 && one.clicks === clicks ? [one.link] : [];
      });
    },
  };
}
