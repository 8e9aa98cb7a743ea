import { messageOf } from "../base/errors.ts";
import type { Config } from "../config/config.ts";

/** What a check found. `fail`: a server would not start, or not work as promised; `warn`: it would, but look at it. */
export interface Finding {
  readonly status: "ok" | "warn" | "fail";
  readonly check: string;
  readonly found: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** Looks at one thing. Finds nothing where there is nothing to look at. */
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

/** Another machine's clock less ours. Months, leases and expiry are counted by whoever keeps them. */
export function clockFinding(check: string, skewMs: number): Finding {
  const seconds = (Math.abs(skewMs) / 1_000).toFixed(2);
  const found = `${seconds} s ${skewMs < 0 ? "behind" : "ahead of"} this machine`;
  return Math.abs(skewMs) <= skewMostMs
    ? ok(check, found)
    : warn(check, found, "Synchronize the clocks of both machines with NTP.");
}
