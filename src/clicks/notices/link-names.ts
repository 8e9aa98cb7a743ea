import type { LinkId, TenantId } from "../../base/ids.ts";
import { shortUrl } from "../../links/link.ts";
import type { LinkNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant, type TenantDb } from "../../sql/tenant-db.ts";
import { isReachable } from "./reachable-links.ts";

/** A link of a tenant that exists, as an email names it. */
export interface NamedLink {
  readonly id: LinkId;
  readonly url: string;
  readonly title: string | null;
}

/**
 * The tenant's links with these numbers that visitors can reach. A link that was deleted is left out, and so is a link that took
 * over its code: it has another number.
 */
export async function namesOf(
  { db }: Sql,
  tenant: TenantId,
  links: readonly LinkNumber[],
  baseUrl: string,
  now: number,
): Promise<Map<LinkNumber, NamedLink>> {
  if (links.length === 0) return new Map();
  return named(await existing(ofTenant(db, tenant), links).where(isReachable(now)).execute(), baseUrl);
}

/** The same, with those that visitors cannot reach. */
export async function allNamesOf(
  { db }: Sql,
  tenant: TenantId,
  links: readonly LinkNumber[],
  baseUrl: string,
): Promise<Map<LinkNumber, NamedLink>> {
  if (links.length === 0) return new Map();
  return named(await existing(ofTenant(db, tenant), links).execute(), baseUrl);
}

const existing = (own: TenantDb, links: readonly LinkNumber[]) =>
  own
    .selectFrom("click_links as c")
    .innerJoin(
      own.selectFrom("links").select(["id", "number", "domain", "code", "title", "status", "expires_at"]).as("l"),
      (join) => join.onRef("l.domain", "=", "c.domain").onRef("l.code", "=", "c.code").onRef("l.number", "=", "c.link"),
    )
    .select(["c.link", "l.id", "l.domain", "l.code", "l.title"])
    .where("c.link", "in", links);

type Row = Awaited<ReturnType<ReturnType<typeof existing>["execute"]>>[number];

const named = (rows: readonly Row[], baseUrl: string) =>
  new Map(
    rows.map(({ link, id, title, ...place }): [LinkNumber, NamedLink] => [
      link,
      { id, title, url: shortUrl(baseUrl, place) },
    ]),
  );
