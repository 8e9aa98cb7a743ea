import type { Logger } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { Core } from "../core.ts";

/** What every part of the server is wired with. */
export interface Wiring {
  readonly core: Core;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** A part that opens something adds how to close it. The server closes everything in reverse order. */
  readonly opened: AsyncDisposableStack;
}
