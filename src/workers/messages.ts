import type { MetricFigures } from "../base/metrics.ts";

/** The messages between a worker and its supervisor: JSON over the channel that Node gives a child process. */
export type FromWorker =
  | { readonly kind: "ready" }
  /** A worker got a scrape, and asks for the metrics of all others. */
  | { readonly kind: "gather"; readonly id: number }
  | { readonly kind: "figures"; readonly id: number; readonly figures: MetricFigures };

export type ToWorker =
  | { readonly kind: "tell"; readonly id: number }
  | { readonly kind: "gathered"; readonly id: number; readonly all: readonly MetricFigures[] };
