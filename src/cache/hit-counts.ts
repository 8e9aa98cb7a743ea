import type { Metrics } from "../base/metrics.ts";

/**
 * How lookups were answered: by a cache (`hit`, by tier), or by SQL (`miss`). A miss is counted once, for the last tier
 * before SQL: Redis if there is one, otherwise memory. So `hit / (hit + miss)` over all tiers is the share of lookups
 * that SQL was spared, and for Redis alone its share of the lookups that missed memory. `why` says what Redis lacked.
 * Plain numbers, because the redirect path increments them.
 */
export interface CacheCounts {
  readonly hit: Record<(typeof tiers)[number], number>;
  readonly miss: Record<(typeof tiers)[number], number>;
  readonly why: Record<(typeof reasons)[number], number>;
  readonly events: Record<(typeof events)[number], number>;
}

const tiers = ["memory", "redis"] as const;
const reasons = ["absent", "fence", "older", "expired", "untrusted", "failed"] as const;
const events = ["stale", "fill_rejected", "refreshed", "shed", "query", "link_written", "missing_written"] as const;

/** For a cache whose lookups nobody watches. */
export const uncounted = (): CacheCounts => ({
  hit: zeros(tiers),
  miss: zeros(tiers),
  why: zeros(reasons),
  events: zeros(events),
});

const zeros = <Name extends string>(names: readonly Name[]): Record<Name, number> =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;

export function countCache(metrics: Metrics): CacheCounts {
  return {
    hit: metrics.tally("quicklink_cache_hit_total", "Link lookups answered by a cache.", "tier", tiers),
    miss: metrics.tally(
      "quicklink_cache_miss_total",
      "Link lookups that went to SQL, by the last cache asked.",
      "tier",
      tiers,
    ),
    why: metrics.tally("quicklink_cache_miss_reasons_total", "Why Redis did not answer a lookup.", "why", reasons),
    events: metrics.tally("quicklink_cache_events_total", "Other cache events.", "event", events),
  };
}
