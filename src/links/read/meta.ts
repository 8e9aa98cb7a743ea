import type { LinkMeta, MetaStatus } from "../../cache/link-meta.ts";
import { monthName } from "../../limits/window.ts";
import type { Sql } from "../../sql/sql.ts";
import { acrossTenants } from "../../sql/tenant-db.ts";
import type { LinkStatus } from "../link.ts";

/** For the operator: of any tenant. `undefined` if there is no link. */
export async function linkMeta(sql: Sql, domain: string, code: string, now: number): Promise<LinkMeta | undefined> {
  const row = await acrossTenants(sql.db)
    .selectFrom("links as l")
    .innerJoin("link_versions as v", (join) => join.onRef("v.domain", "=", "l.domain").onRef("v.code", "=", "l.code"))
    .leftJoin("quotas as q", (join) =>
      join
        .onRef("q.domain", "=", "l.domain")
        .onRef("q.code", "=", "l.code")
        .on("q.month", "=", monthName(now))
        .on("q.draws", "=", "hits"),
    )
    .select(["v.version", "l.status", "l.expires_at", "q.counted"])
    .where("l.domain", "=", domain)
    .where("l.code", "=", code)
    .executeTakeFirst();
  if (!row) return undefined;
  const { version, status, expires_at: expiresAt, counted } = row;
  return { version, hits: counted ?? 0, expiresAt, status: statusAt(status, expiresAt, now) };
}

function statusAt(status: LinkStatus, expiresAt: number | null, now: number): MetaStatus {
  if (status === "disabled") return status;
  return expiresAt !== null && expiresAt <= now ? "expired" : "active";
}
