import { messageOf } from "../base/errors.ts";
import type { Config } from "../config/config.ts";

/**
 * The result of a check. `fail`: a server would not start, or not work as promised; `warn`: it would work, but needs
 * attention.
 */
export interface Finding {
  readonly status: "ok" | "warn" | "fail";
  readonly check: string;
  readonly found: string;
  /** What to do. */
  readonly advice?: string;
}

/** Checks one thing. Returns no findings if it does not apply. */
export type Check = (config: Config) => Promise<readonly Finding[]>;

export const ok = (check: string, found: string): Finding => ({ status: "ok", check, found });
export const warn = (check: string, found: string, advice: string): Finding => ({
  status: "warn",
  check,
  found,
  advice,
});
export const fail = (check: string, found: unknown, advice: string): Finding => ({
  status: "fail",
  check,
  found: oneLine(messageOf(found)),
  advice,
});

function oneLine(text: string): string {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return lines.map((line, i) => (i < lines.length - 1 && line.endsWith(".") ? line.slice(0, -1) : line)).join(". ");
}

const skewMostMs = 1_000;

/** Another machine's clock minus ours. Months, leases and expiry are counted by the clock of the store. */
export function clockFinding(check: string, skewMs: number): Finding {
  const seconds = (Math.abs(skewMs) / 1_000).toFixed(2);
  const found = `${seconds} s ${skewMs < 0 ? "behind" : "ahead of"} this machine`;
  return Math.abs(skewMs) <= skewMostMs
    ? ok(check, found)
    : warn(check, found, "Synchronize the clocks of both machines with NTP.");
}
