import type { Sql } from "../../sql/sql.ts";
import { acrossTenants } from "../../sql/tenant-db.ts";

/** What a redirect rarely reads from SQL besides the destination: of any tenant, and never cached. */
export interface LinkDetails {
  readonly title: string | null;
  readonly createdAt: number;
}

/** For the preview page. */
export async function detailsOf(sql: Sql, domain: string, code: string): Promise<LinkDetails | undefined> {
  const row = await acrossTenants(sql.db)
    .selectFrom("links")
    .select(["title", "created_at"])
    .where("domain", "=", domain)
    .where("code", "=", code)
    .executeTakeFirst();
  return row && { title: row.title, createdAt: row.created_at };
}

/** For checking a password: its hash, and the version of the link. */
export async function passwordOf(
  sql: Sql,
  domain: string,
  code: string,
): Promise<{ version: number; hash: string | null } | undefined> {
  return await acrossTenants(sql.db)
    .selectFrom("links as l")
    .innerJoin("link_versions as v", (join) => join.onRef("v.domain", "=", "l.domain").onRef("v.code", "=", "l.code"))
    .select(["v.version", "l.password_hash as hash"])
    .where("l.domain", "=", domain)
    .where("l.code", "=", code)
    .where("l.status", "=", "active")
    .executeTakeFirst();
}
