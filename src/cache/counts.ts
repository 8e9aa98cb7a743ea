import type { Metrics } from "../base/metrics.ts";

/**
 * How lookups were answered: by memory or Redis (`hit`), or not, and why SQL had to be asked (`miss`); and what else
 * happened to entries. Plain numbers, for the redirect adds to them.
 */
export interface CacheCounts {
  readonly hit: Record<(typeof tiers)[number], number>;
  readonly miss: Record<(typeof reasons)[number], number>;
  readonly events: Record<(typeof events)[number], number>;
}

const tiers = ["memory", "redis"] as const;
const reasons = ["absent", "fence", "older", "expired", "untrusted", "failed"] as const;
const events = ["stale", "fill_rejected", "refreshed", "shed", "link_written", "missing_written"] as const;

export function countCache(metrics: Metrics): CacheCounts {
  return {
    hit: metrics.tally("quicklink_cache_hit_total", "Lookups of links that a cache answered.", "tier", tiers),
    miss: metrics.tally("quicklink_cache_miss_total", "Lookups that went to SQL, and why.", "why", reasons),
    events: metrics.tally("quicklink_cache_events_total", "What else happened to what is cached.", "event", events),
  };
}
