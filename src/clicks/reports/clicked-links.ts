import type { LinkId, TenantId } from "../../base/ids.ts";
import type { LinkNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";

/** A link that was clicked, as reports and lists name it. */
export interface NumberedLink {
  /** What a filter takes for exactly this link. */
  readonly value: string;
  /** Null: it was deleted. */
  readonly id: LinkId | null;
  readonly domain: string;
  readonly code: string;
  readonly title: string | null;
}

/** SQLite takes 500 selects in one statement. */
const linksAtOnce = 100;

/**
 * The tenant's links with these numbers. A deleted link has no id and no title, but its clicks keep its code, until 400 days
 * after the last one. Then it is not in the result.
 */
export async function linksNumbered(
  { db }: Pick<Sql, "db">,
  tenant: TenantId,
  numbers: readonly LinkNumber[],
): Promise<Map<number, NumberedLink>> {
  const own = ofTenant(db, tenant);
  const wanted = [...new Set(numbers)];
  const links = new Map<number, NumberedLink>();
  for (let at = 0; at < wanted.length; at += linksAtOnce) {
    const some = wanted.slice(at, at + linksAtOnce);
    const known = await own
      .selectFrom("click_links")
      .select(["link", "domain", "code"])
      .where("link", "in", some)
      .execute();
    for (const { link, domain, code } of known) {
      links.set(link, { value: deletedValueOf(link, domain, code), id: null, domain, code, title: null });
    }
    // One search for each: with lists of domains and codes, SQLite would look through all links of the tenant.
    const [first, ...others] = known.map(({ domain, code }) =>
      own
        .selectFrom("links")
        .select(["id", "number", "domain", "code", "title"])
        .where("domain", "=", domain)
        .where("code", "=", code),
    );
    if (first === undefined) continue;
    const live = await others.reduce((all, one) => all.unionAll(one), first).execute();
    // Another link may have the code of a deleted one.
    for (const { number, ...link } of live) {
      if (number !== null && links.has(number)) links.set(number, { value: link.id, ...link });
    }
  }
  return links;
}

/** With its number, because several links may have had the same code, one after the other. */
const deletedValueOf = (link: LinkNumber, domain: string, code: string): string =>
  `${domain === "" ? "" : `${domain}/`}${code}@${link}`;
