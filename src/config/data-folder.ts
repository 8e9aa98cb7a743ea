import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../base/errors.ts";
import { keepSecret } from "../base/secret-file.ts";
import type { Config } from "./config.ts";
import { type Setting, settingNames, settings, type Values } from "./settings.ts";

/** Before anything is written there; any problem with the folder is reported as a problem with the setting. */
export function prepareDataFolder(config: Config): void {
  try {
    mkdirSync(config.QL_DATA, { recursive: true, mode: 0o700 });
    accessSync(config.QL_DATA, constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? error.code : "unknown";
    throw new OperatorError(
      `QL_DATA: cannot use the folder "${config.QL_DATA}" (${reason}).\n  Example: QL_DATA=./data`,
      2,
    );
  }
}

/** Secrets that an embedded server always has. */
type Generated = {
  readonly [Name in "QL_CODE_SALT" | "QL_SECRET_KEYS" | "QL_SIGNING_KEYS"]: NonNullable<Values[Name]>;
};

/**
 * First start of the embedded mode: missing secrets are generated once and stored beside the data, readable only by the
 * owner.
 */
export function withSecrets(config: Config): Config & Generated {
  // Earlier versions signed with the salt. Without a database, nothing was signed yet.
  const salt = existsSync(join(config.QL_DATA, "quicklink.sqlite")) ? config.QL_CODE_SALT : undefined;
  const made = settingNames.flatMap((name) => {
    const { generate, parse }: Setting<unknown> = settings[name];
    if (generate === undefined || config[name] !== undefined) return [];
    return [[name, parse(keepSecret(secretPath(config.QL_DATA, name), generate(salt)))] as const];
  });
  return { ...config, ...Object.fromEntries(made) } as Config & Generated;
}

/** File with the API key of the first start, if there was no terminal to show it. */
export const firstKeyPath = (dataFolder: string): string => join(dataFolder, "first-key");

export const secretPath = (dataFolder: string, name: string): string => join(dataFolder, "secrets", name);
