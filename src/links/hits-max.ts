import { type RawBuilder, sql as raw } from "kysely";
import { type StoredLimits, storedLimits } from "../tenants/plans.ts";

/** How many hits a link may have in a month: what its owner set, within its tenant's limit. Null: no limit. */
export function hitsMax(own: number | null, tenant: StoredLimits): number | null {
  const { hitsPerLinkPerMonth: allowed } = storedLimits(tenant);
  if (own === null || allowed === null) return own ?? allowed;
  return Math.min(own, allowed);
}

/**
 * The same as an expression over `links as l`. `hits_per_month` is null if the owner set nothing, and a comparison with
 * null is not true.
 */
export const hitsMaxExpression = (allowed: number | null): RawBuilder<number> =>
  allowed === null
    ? raw<number>`l.hits_per_month`
    : raw<number>`case when l.hits_per_month < ${allowed} then l.hits_per_month else ${allowed} end`;
