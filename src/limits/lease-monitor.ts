import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { OutagePolicy } from "./call-limiter.ts";
import type { LeaseStore, Lender } from "./leases.ts";

/**
 * Reports how hits are being limited: to Prometheus with every lease, to the log once per change. A log line per
 * visitor would be a second outage.
 */
export interface LeaseMonitorSettings {
  /** The lender when everything works. */
  readonly usual: Lender;
  readonly outage: OutagePolicy;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Logger;
}

const states = ["well", "degraded", "unavailable"] as const;
type State = (typeof states)[number];

/** Recovered when nothing as bad was seen for this long: a flapping store would otherwise change state every second. */
const calmMs = 5_000;

export interface LeaseMonitor {
  of(store: LeaseStore): LeaseStore;
  /** So many visits were counted, or denied, without a lease; or could not be. */
  first(visits: number, error?: unknown): void;
}

export function monitorLeases({ usual, outage, clock, metrics, log }: LeaseMonitorSettings): LeaseMonitor {
  const count = metrics.tally("quicklink_leases_total", "Requested leases of hits, by who answered.", "by", [
    "redis",
    "sql",
    "nobody",
  ]);
  let state: State = "well";
  let seenAt = Number.NEGATIVE_INFINITY;
  metrics.gauge(
    "quicklink_hit_limits_state",
    "How hits are limited: 0 normal, 1 by SQL because Redis is unavailable, 2 by QL_HITS_OUTAGE because SQL is unavailable too.",
    () => states.indexOf(state),
    "max",
  );

  function see(next: State, error?: unknown): void {
    const now = clock.elapsed();
    const worse = states.indexOf(next) - states.indexOf(state);
    if (worse < 0 && now - seenAt < calmMs) return;
    seenAt = now;
    if (worse === 0) return;
    state = next;
    if (next === "well") log.info("limiting hits normally again");
    else if (next === "degraded") log.warn("Redis unavailable: limiting hits by SQL");
    else log.error({ error }, `cannot limit hits; ${consequence(outage)}`);
  }

  return {
    of: (store) => ({
      async acquire(ask, progress) {
        try {
          const answer = await store.acquire(ask, progress);
          count[answer.lender]++;
          see(answer.lender === usual ? "well" : "degraded");
          return answer;
        } catch (error) {
          count.nobody++;
          see("unavailable", error);
          throw error;
        }
      },
    }),
    first(visits, error) {
      count[error === undefined ? "sql" : "nobody"] += visits;
      see(error === undefined ? "well" : "unavailable", error);
    },
  };
}

const consequence = (outage: OutagePolicy): string =>
  outage === "open" ? "visitors are allowed and counted" : "links with a limit answer 503";
