/**
 * The limits on API calls: the tenant's, and below it those of keys with their own limit. A call counts for both or
 * neither. Their keys share a hash tag, so that one script handles both on a Redis Cluster too.
 */
import type { Limit } from "./counters.ts";
import { slidingMinute } from "./window.ts";

export interface CallMaxes {
  readonly tenant: { readonly id: string; readonly max: number | null };
  readonly key: { readonly id: string; readonly max: number | null };
}

export const tenantCalls = "apiPerMinute";
export const keyCalls = "keyApiPerMinute";

/** Without a limit there is nothing to check: such calls are not counted, and no outage stops them. */
export function callLimits({ tenant, key }: CallMaxes): Limit[] {
  const counted = `tenant:{${tenant.id}}:api`;
  return [
    { name: tenantCalls, subject: tenant.id, max: tenant.max, window: slidingMinute, key: counted },
    { name: keyCalls, subject: key.id, max: key.max, window: slidingMinute, key: `${counted}:${key.id}` },
  ].filter(({ max }) => max !== null);
}
