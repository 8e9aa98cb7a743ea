import { type Check, ok, warn } from "./finding.ts";

const name = "settings";

/** The settings are valid, or the doctor would not have got here. */
export const checkSettings: Check = async ({ unknown }) =>
  unknown.length === 0
    ? [ok(name, "all valid")]
    : unknown.map((one) =>
        warn(name, `${one} is not a QuickLink setting`, "Correct the name, or remove it. See docs/config.md."),
      );
