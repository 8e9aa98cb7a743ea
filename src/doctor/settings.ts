import { type Check, ok, warn } from "./finding.ts";

const name = "settings";

/** They could be read, or nobody would be here. */
export const settings: Check = async ({ unknown }) =>
  unknown.length === 0
    ? [ok(name, "can all be used")]
    : unknown.map((one) =>
        warn(name, `${one} is not a setting of QuickLink`, "Mend its name, or remove it: see docs/config.md."),
      );
