import type { Figures } from "../base/metrics.ts";

/** What a worker and its supervisor say to each other, as JSON over the channel that Node gives a child process. */
export type FromWorker =
  | { readonly kind: "ready" }
  /** It was asked for metrics, and wants those of all the others. */
  | { readonly kind: "gather"; readonly id: number }
  | { readonly kind: "figures"; readonly id: number; readonly figures: Figures };

export type ToWorker =
  | { readonly kind: "tell"; readonly id: number }
  | { readonly kind: "gathered"; readonly id: number; readonly all: readonly Figures[] };
