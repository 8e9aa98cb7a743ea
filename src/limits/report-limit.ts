import { type AddressLimiterSettings, createAddressLimiter, toRetrySeconds } from "./address-limiter.ts";
import { slidingHour } from "./window.ts";

/**
 * Limits abuse reports: per hour and address, on all servers together. An address is known only by its name of the day;
 * unknown addresses share a larger limit. When the counters are unavailable, a report is accepted: the number of stored
 * reports is bounded anyway.
 */
export interface ReportLimit {
  /** Counts one report; returns seconds to wait if that exceeded the limit. */
  take(address: string | undefined): Promise<number | undefined>;
}

export const reportsPerHour = 10;
const unknownPerHour = 100;

export function createReportLimit(settings: AddressLimiterSettings): ReportLimit {
  const limiter = createAddressLimiter(settings, { purpose: "reports", action: "report" });
  return {
    async take(address) {
      const known = limiter.nameOf(address);
      const name = known ?? limiter.unknownName();
      const max = known === undefined ? unknownPerHour : reportsPerHour;
      const key = `reports:{${name}}`;
      const taken = await limiter.take(name, [
        { name: "reportsPerHour", subject: name, max, window: slidingHour, key },
      ]);
      return taken.kind === "denied" ? toRetrySeconds(taken.retryAfterMs) : undefined;
    },
  };
}
