import type { Metrics, Observe } from "../base/metrics.ts";
import { type IdempotencyOutcome, idempotencyOutcomes } from "../http/idempotency.ts";
import { type CallOutcome, callOutcomes } from "../limits/call-limiter.ts";

/** The metrics of the API are there from the start, although the API is not: a series that appears later hides its first count. */
export interface ApiMetrics {
  readonly observeSeconds: Observe<"method" | "status">;
  readonly calls: Record<CallOutcome, number>;
  readonly repeats: Record<IdempotencyOutcome, number>;
}

export function countApi(metrics: Metrics): ApiMetrics {
  return {
    observeSeconds: metrics.histogram(
      "quicklink_api_request_seconds",
      "API requests by method and status.",
      ["method", "status"],
      [0.001, 0.005, 0.02, 0.1, 0.5, 2],
    ),
    calls: metrics.tally("quicklink_api_limit_total", "Decisions of the API rate limit.", "answer", callOutcomes),
    repeats: metrics.tally(
      "quicklink_idempotency_total",
      "Requests with an Idempotency-Key, by outcome.",
      "outcome",
      idempotencyOutcomes,
    ),
  };
}
