import type { Logger } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { Core } from "../core.ts";

/** What every part of the server is put together with. */
export interface Wiring {
  readonly core: Core;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Whoever opens something adds how to close it. The server closes everything in the opposite order. */
  readonly opened: AsyncDisposableStack;
}
