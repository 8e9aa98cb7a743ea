import { sql as raw } from "kysely";
import type { TenantId } from "../../base/ids.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";

/** A tag, and how many links have it. */
export interface TagUse {
  readonly tag: string;
  readonly links: number;
}

export const listedTagsMost = 5_000;

/**
 * The most used tags of a tenant that begin with a text, A to Z in either case; by number of links. Reads all links of the
 * tenant: not for the serving thread.
 */
export async function usedTags(sql: Sql, tenant: TenantId, prefix: string): Promise<TagUse[]> {
  const { lowerAscii, eachText } = sql;
  let query = ofTenant(sql.db, tenant)
    .selectFrom("links")
    .innerJoin(eachText("links.tags"), (join) => join.onTrue())
    .select(["each.value as tag", (row) => row.fn.countAll<number>().as("links")])
    .groupBy("each.value")
    .orderBy("links", "desc")
    .orderBy(raw`each.value`)
    .limit(listedTagsMost);
  if (prefix !== "") {
    const folded = prefix.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
    const pattern = `${folded.replace(/[\\%_]/g, "\\$&")}%`;
    query = query.where(raw<boolean>`${lowerAscii("each.value")} like ${pattern} escape '\\'`);
  }
  return (await query.execute()).map(({ tag, links }) => ({ tag, links: Number(links) }));
}
