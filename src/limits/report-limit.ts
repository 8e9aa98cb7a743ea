import { randomBytes } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import type { Counters, Limit } from "./counters.ts";
import { createDayNames } from "./day-names.ts";
import { networkOf } from "./network.ts";
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

export interface ReportLimitSettings {
  readonly counters: Counters;
  readonly clock: Clock;
  /** A secret for a purpose, the same on every server. */
  readonly secretFor: (purpose: string) => Uint8Array;
}

export const reportsPerHour = 10;
const unknownPerHour = 100;
const hourMs = 3_600_000;

export function createReportLimit({ counters, clock, secretFor }: ReportLimitSettings): ReportLimit {
  const instance = randomBytes(9).toString("base64url");
  const nameOf = createDayNames("reports", secretFor, clock);
  let taken = 0;

  return {
    async take(address) {
      const network = address === undefined ? undefined : networkOf(address);
      const name = nameOf(network ?? "");
      const limit: Limit = {
        ...{ name: "reportsPerHour", subject: name, max: network === undefined ? unknownPerHour : reportsPerHour },
        ...{ window: slidingHour, key: `reports:{${name}}` },
      };
      const verdict = await counters.take(`{${name}}/report/${instance}.${++taken}`, [{ limit, amount: 1 }]);
      return verdict.kind === "denied" ? Math.ceil((verdict.retryAfterMs ?? hourMs) / 1_000) : undefined;
    },
  };
}
