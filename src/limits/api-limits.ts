/**
 * The limits on API calls: a tenant's, and below it those of keys that have one of their own. A call counts for both or
 * neither. Their keys have the same hash tag, so that in a Cluster too it is one script.
 */
import type { Limit } from "./counters.ts";
import { slidingMinute } from "./window.ts";

export interface CallMaxes {
  readonly tenant: { readonly id: string; readonly max: number | null };
  readonly key: { readonly id: string; readonly max: number | null };
}

export const tenantCalls = "apiPerMinute";
export const keyCalls = "keyApiPerMinute";

/** Where there is no limit there is nothing to ask: such calls are not counted, and no outage stops them. */
export function callLimits({ tenant, key }: CallMaxes): Limit[] {
  const counted = `tenant:{${tenant.id}}:api`;
  return [
    { name: tenantCalls, subject: tenant.id, max: tenant.max, window: slidingMinute, key: counted },
    { name: keyCalls, subject: key.id, max: key.max, window: slidingMinute, key: `${counted}:${key.id}` },
  ].filter(({ max }) => max !== null);
}
