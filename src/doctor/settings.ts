import { type Check, ok, warn } from "./finding.ts";

const name = "settings";

/** They could be read, or nobody would be here. */
export const checkSettings: Check = async ({ unknown }) =>
  unknown.length === 0
    ? [ok(name, "all valid")]
    : unknown.map((one) =>
        warn(name, `${one} is not a QuickLink setting`, "Correct the name, or remove it. See docs/config.md."),
      );
