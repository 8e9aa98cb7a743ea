import type { Config } from "../config/config.ts";
import { checkAddress } from "./address.ts";
import { checkBlocklist } from "./blocklist.ts";
import { checkCities } from "./cities.ts";
import { checkDataFolder } from "./data-folder.ts";
import { checkDisk } from "./disk.ts";
import { checkFiles } from "./files.ts";
import { type Check, type Finding, fail } from "./finding.ts";
import { checkMachine } from "./machine.ts";
import { checkProvider } from "./oidc.ts";
import { checkRedis } from "./redis.ts";
import { checkRedisDatabase } from "./redis-database.ts";
import { checkSettings } from "./settings.ts";
import { checkSigning } from "./signing.ts";
import { checkEmail } from "./smtp.ts";
import { checkDatabase } from "./sql.ts";

/**
 * Checks whether everything a server needs is available and configured correctly, without starting a server or changing
 * anything. To add a check, add a file here and a name to this list.
 */
const checks: Readonly<Record<string, Check>> = {
  settings: checkSettings,
  "public address": checkAddress,
  machine: checkMachine,
  "data folder": checkDataFolder,
  "disk space": checkDisk,
  database: checkDatabase,
  "signing keys": checkSigning,
  redis: checkRedis,
  "database of redis": checkRedisDatabase,
  files: checkFiles,
  email: checkEmail,
  "company sign-in": checkProvider,
  blocklist: checkBlocklist,
  "city database": checkCities,
};

export async function examine(config: Config): Promise<Finding[]> {
  const findings = await Promise.all(
    Object.entries(checks).map(([name, check]) =>
      check(config).catch((error: unknown) => [fail(name, error, "Unexpected error while checking; see the message.")]),
    ),
  );
  return findings.flat();
}
