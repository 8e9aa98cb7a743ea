import { createHash } from "node:crypto";
import { type RawBuilder, sql as raw } from "kysely";
import type { LinkId, TenantId } from "../../base/ids.ts";
import { monthName } from "../../limits/window.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { hitsMaxExpression } from "../rows.ts";

/**
 * The state of a link as a list shows it. Every link is active, expired or disabled. Links that need attention are active,
 * and suspended, or close to their limit, or their destination is dead.
 */
export const listedStates = ["active", "expired", "disabled", "suspended", "attention"] as const;
export type ListedState = (typeof listedStates)[number];

/** What a state depends on, besides the link. */
export interface StateFacts {
  readonly now: number;
  /** The tenant's limit per link. */
  readonly hitsAllowed: number | null;
}

export interface StateFilter extends StateFacts {
  readonly is: ListedState;
}

/** From this share of its limit on, a link needs attention: 4 of 5. */
const nearShare = { of: 5, from: 4 } as const;

/** `outdated`: links whose dead destination is not the one that they have now. */
export function isInState(
  { is, now, hitsAllowed }: StateFilter,
  outdated: readonly LinkId[] = [],
): RawBuilder<boolean> {
  const active = raw<boolean>`(links.status = 'active' and (links.expires_at is null or links.expires_at > ${now}))`;
  switch (is) {
    case "active":
      return active;
    case "expired":
      return raw<boolean>`(links.status = 'active' and links.expires_at <= ${now})`;
    case "disabled":
      return raw<boolean>`links.status = 'disabled'`;
    case "suspended":
      return suspended;
    case "attention":
      return raw<boolean>`(${active} and (${suspended} or ${dead(outdated)} or ${nearLimit(hitsAllowed, now)}))`;
  }
}

const suspended = raw<boolean>`exists (select 1 from suspended_links as s where s.domain = links.domain and s.code = links.code)`;

function dead(outdated: readonly LinkId[]): RawBuilder<boolean> {
  const isDead = raw<boolean>`links.id in (select t.link_id from targets as t where t.state = 'dead')`;
  return outdated.length === 0 ? isDead : raw<boolean>`(${isDead} and links.id not in (${raw.join(outdated)}))`;
}

function nearLimit(allowed: number | null, now: number): RawBuilder<boolean> {
  const max = hitsMaxExpression(allowed, "links.hits_per_month");
  return raw<boolean>`exists (
    select 1 from quotas as q
    where q.domain = links.domain and q.code = links.code and q.month = ${monthName(now)} and q.draws = 'hits'
      and q.counted * ${raw.lit(nearShare.of)} >= ${max} * ${raw.lit(nearShare.from)}
  )`;
}

/** More changed destinations between two checks are not expected. */
const outdatedMost = 1_000;

/** Links of a tenant whose check found a dead destination that was replaced since. */
export async function outdatedChecks({ db }: Pick<Sql, "db">, tenant: TenantId): Promise<LinkId[]> {
  const rows = await ofTenant(db, tenant)
    .selectFrom("links")
    .innerJoin("targets as t", "t.link_id", "links.id")
    .select(["links.id", "links.url", "t.url_hash"])
    .where("t.state", "=", "dead")
    .whereRef("links.updated_at", ">", "t.checked_at")
    .limit(outdatedMost)
    .execute();
  return rows.filter(({ url, url_hash }) => url_hash !== targetHash(url)).map(({ id }) => id);
}

/** The name of a destination in the results of checks. */
export const targetHash = (url: string): string => createHash("sha256").update(url).digest("base64url").slice(0, 22);
