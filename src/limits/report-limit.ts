import { type AddressLimiterSettings, createAddressLimiter, toRetrySeconds } from "./address-limiter.ts";
import { slidingHour } from "./window.ts";

/**
 * A limit on reporting links: so many an hour for an address. Those whose address cannot be told share a larger limit.
 * When the counters cannot be asked a report is taken: there is an end to how many are kept anyway.
 */
export interface ReportLimit {
  /** Counts one; seconds to wait when that was one too many. */
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
