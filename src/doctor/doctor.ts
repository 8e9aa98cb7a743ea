import type { Config } from "../config/config.ts";
import { address } from "./address.ts";
import { blocklist } from "./blocklist.ts";
import { dataFolder } from "./data-folder.ts";
import { disk } from "./disk.ts";
import { files } from "./files.ts";
import { type Check, type Finding, fail } from "./finding.ts";
import { machine } from "./machine.ts";
import { redis } from "./redis.ts";
import { settings } from "./settings.ts";
import { signing } from "./signing.ts";
import { smtp } from "./smtp.ts";
import { sql } from "./sql.ts";

/**
 * Checks whether everything a server needs is available and configured correctly, without starting a server or changing
 * anything. To add a check, add a file here and a name to this list.
 */
const checks: Readonly<Record<string, Check>> = {
  settings,
  "public address": address,
  machine,
  "data folder": dataFolder,
  "disk space": disk,
  database: sql,
  "signing keys": signing,
  redis,
  files,
  email: smtp,
  blocklist,
};

export async function examine(config: Config): Promise<Finding[]> {
  const findings = await Promise.all(
    Object.entries(checks).map(([name, check]) =>
      check(config).catch((error: unknown) => [fail(name, error, "Unexpected error while checking; see the message.")]),
    ),
  );
  return findings.flat();
}
