import { dayMs } from "../base/clock.ts";
import type { Fetched } from "../safe-fetch/outcome.ts";
import type { TargetState } from "../sql/schema.ts";

/** What a check says about a link's destination, and when to check again. */
export interface HealthVerdict {
  readonly state: TargetState;
  readonly httpStatus: number | null;
  /** Why it is not ok. */
  readonly reason: string | null;
  /** Consecutive failures. */
  readonly failures: number;
  /** Until the answer was read, if there was one. */
  readonly responseMs?: number | null;
}

/** After 1, 3, 7, 15, 31 and 63 hours of failing: nothing is called dead over a weekend. */
export const deadAfter = 7;
const hourMs = 3_600_000;
const weekMs = 7 * dayMs;
const jitter = 0.1;

export function judgeHealth(failuresBefore: number, fetched: Fetched): HealthVerdict {
  switch (fetched.kind) {
    // We did not ask, so we do not know.
    case "refused":
      return { state: "unchecked", httpStatus: null, reason: fetched.reason, failures: 0 };
    case "failed":
      return failing(failuresBefore, null, fetched.reason);
    case "answered":
      return isThere(fetched.status)
        ? { state: "ok", httpStatus: fetched.status, reason: null, failures: 0 }
        : failing(failuresBefore, fetched.status, `http_${fetched.status}`);
  }
}

/** A server that rejects programs is alive: 401, 403, 429 and the like. */
function isThere(status: number): boolean {
  return (status >= 200 && status < 400) || (status >= 400 && status < 500 && status !== 404 && status !== 410);
}

function failing(before: number, httpStatus: number | null, reason: string): HealthVerdict {
  const failures = before + 1;
  return { state: failures >= deadAfter ? "dead" : "failing", httpStatus, reason, failures };
}

/** `chance` is from 0 to 1: spreads links that were checked together. */
export function nextCheckAt(verdict: HealthVerdict, now: number, everyMs: number, chance: number): number {
  return now + Math.round(pauseMs(verdict, everyMs) * (1 - jitter + 2 * jitter * chance));
}

function pauseMs({ state, failures }: HealthVerdict, everyMs: number): number {
  if (state === "unchecked") return weekMs;
  return state === "ok" ? everyMs : Math.min(weekMs, hourMs * 2 ** (failures - 1));
}
