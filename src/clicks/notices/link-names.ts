import type { LinkId, TenantId } from "../../base/ids.ts";
import { shortUrl } from "../../links/link.ts";
import type { LinkNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { isReachable } from "./reachable-links.ts";

/** A link of a tenant that exists and works, as an email names it. */
export interface NamedLink {
  readonly id: LinkId;
  readonly url: string;
  readonly title: string | null;
}

/**
 * The tenant's links with these numbers. A link that was deleted is left out, and so is a link that took over its code: it
 * has another number.
 */
export async function namesOf(
  { db }: Sql,
  tenant: TenantId,
  links: readonly LinkNumber[],
  baseUrl: string,
  now: number,
): Promise<Map<LinkNumber, NamedLink>> {
  if (links.length === 0) return new Map();
  const own = ofTenant(db, tenant);
  const rows = await own
    .selectFrom("click_links as c")
    .innerJoin(
      own.selectFrom("links").select(["id", "number", "domain", "code", "title", "status", "expires_at"]).as("l"),
      (join) => join.onRef("l.domain", "=", "c.domain").onRef("l.code", "=", "c.code").onRef("l.number", "=", "c.link"),
    )
    .select(["c.link", "l.id", "l.domain", "l.code", "l.title"])
    .where("c.link", "in", links)
    .where(isReachable(now))
    .execute();
  return new Map(rows.map(({ link, id, title, ...place }) => [link, { id, title, url: shortUrl(baseUrl, place) }]));
}
