import type { Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import { acrossTenants, type Db } from "../../sql/tenant-db.ts";
import type { Place } from "../../sql/versions.ts";

/** What a redirect rarely reads from SQL besides the destination: of any tenant, and never cached. */
export interface LinkDetails {
  readonly title: string | null;
  readonly createdAt: number;
}

/** For the preview page. */
export async function detailsOf(sql: Sql, domain: string, code: string): Promise<LinkDetails | undefined> {
  const row = await selectDetails.first(sql.db, { domain, code });
  return row && { title: row.title, createdAt: row.created_at };
}

/** For checking a password: its hash, and the version of the link. */
export async function passwordOf(
  sql: Sql,
  domain: string,
  code: string,
): Promise<{ version: number; hash: string | null } | undefined> {
  return await selectPassword.first(sql.db, { domain, code });
}

const selectDetails = statement((db: Db, { domain, code }: Params<Place>) =>
  acrossTenants(db)
    .selectFrom("links")
    .select(["title", "created_at"])
    .where("domain", "=", domain)
    .where("code", "=", code),
);

const selectPassword = statement((db: Db, { domain, code }: Params<Place>) =>
  acrossTenants(db)
    .selectFrom("links as l")
    .innerJoin("link_versions as v", (join) => join.onRef("v.domain", "=", "l.domain").onRef("v.code", "=", "l.code"))
    .select(["v.version", "l.password_hash as hash"])
    .where("l.domain", "=", domain)
    .where("l.code", "=", code)
    .where("l.status", "=", "active"),
);
