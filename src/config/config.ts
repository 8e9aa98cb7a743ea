import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import type { BreakerRule } from "../base/breaker.ts";
import { OperatorError } from "../base/errors.ts";
import { hostName } from "../base/host-name.ts";
import type { Patience } from "../base/patience.ts";
import { secretPath } from "./data-folder.ts";
import { example, showSetting } from "./describe.ts";
import { type Setting, type SettingName, settingNames, settings, type Values } from "./settings.ts";

export interface Shown {
  readonly name: SettingName;
  readonly value: string;
  readonly origin: string;
  readonly help: string;
}

export interface Config extends Values {
  /** QL_BASE_URL, or the default from PORT, without a trailing slash. */
  readonly baseUrl: string;
  /** The names of this server: the host of `baseUrl`, and QL_HOSTS. */
  readonly ownNames: { readonly names: ReadonlySet<string>; readonly onlyThese: boolean };
  readonly embedded: boolean;
  /** The folder of uploaded files, unless S3_URL is set. */
  readonly filesFolder: string;
  /** LIMITS_REDIS_URL, or REDIS_URL. Unset: no other process uses this database. */
  readonly limitsRedisUrl: string | undefined;
  /** How long a visitor waits in total for Redis and for SQL. */
  readonly wait: Readonly<Patience>;
  /** When the circuit breaker of a Redis node opens. */
  readonly breaker: BreakerRule;
  /** Every setting for display: secrets hidden, and the source of each value. */
  readonly shown: readonly Shown[];
  /** Generated secrets of an embedded server, which it may rotate itself. */
  readonly ownSecrets: ReadonlySet<SettingName>;
  /** The texts of the values, to load the same settings in another thread. */
  readonly source: Readonly<Record<string, string>>;
  /** Variables that look like ours but are not: most likely typing mistakes. */
  readonly unknown: readonly string[];
}

/** SQLite has one writer and retries a busy statement for about this long; there is no other store to ask. */
const embeddedWaitMs = 5_000;

export type Environment = Readonly<Record<string, string | undefined>>;

export function loadConfig(
  environment: Environment = process.env,
  folder: string = process.cwd(),
  commandLine: Environment = {},
): Config {
  const dotenv = readDotenv(folder);
  const values: Record<string, unknown> = {};
  const source: Record<string, string> = {};
  const shown: Shown[] = [];
  const ownSecrets = new Set<SettingName>();
  for (const name of settingNames) {
    const entry: Setting<unknown> = settings[name];
    const found = find(name, { commandLine, environment, dotenv }, values);
    values[name] = found.text === undefined ? undefined : parse(name, entry, found.text);
    if (found.text !== undefined) source[name] = found.text;
    if (found.own) ownSecrets.add(name);
    shown.push({ name, value: showSetting(entry, found.text), origin: found.origin, help: entry.help });
  }
  const config = values as unknown as Values;
  refuseContradictions(config);
  refuseHalfCompany(config);
  const baseUrl = config.QL_BASE_URL ?? `http://localhost:${config.PORT}`;
  const embedded = config.DATABASE_URL === undefined;
  return {
    ...config,
    baseUrl,
    ownNames: {
      names: new Set([hostName(new URL(baseUrl).hostname) ?? "", ...config.QL_HOSTS]),
      onlyThese: config.QL_BASE_URL !== undefined,
    },
    embedded,
    filesFolder: join(config.QL_DATA, "files"),
    limitsRedisUrl: config.LIMITS_REDIS_URL ?? config.REDIS_URL,
    wait: { redis: config.QL_REDIS_WAIT_MS, sql: embedded ? embeddedWaitMs : config.QL_SQL_WAIT_MS },
    breaker: {
      failures: config.QL_BREAKER_FAILURES,
      windowMs: config.QL_BREAKER_WINDOW_SECONDS * 1_000,
      share: config.QL_BREAKER_SHARE,
      pauseMostMs: config.QL_BREAKER_OPEN_SECONDS * 1_000,
    },
    shown,
    ownSecrets,
    source: { ...source, QL_DATA: config.QL_DATA },
    unknown: unknownNames({ ...dotenv, ...environment }),
  };
}

function find(
  name: SettingName,
  { commandLine, environment, dotenv }: Readonly<Record<"commandLine" | "environment" | "dotenv", Environment>>,
  soFar: Record<string, unknown>,
): { text: string | undefined; origin: string; own?: true } {
  const entry: Setting<unknown> = settings[name];
  if (commandLine[name] !== undefined) return { text: commandLine[name], origin: "command line" };
  // An empty variable is how compose files say "not set".
  if (environment[name]) return { text: environment[name], origin: "environment" };
  if (entry.secret) {
    const file = environment[`${name}_FILE`] || dotenv[`${name}_FILE`];
    if (file) return { text: readSecret(name, file), origin: `file ${file}` };
  }
  if (dotenv[name]) return { text: dotenv[name], origin: ".env" };
  if (entry.generate !== undefined && soFar.DATABASE_URL === undefined) {
    const path = secretPath(String(soFar.QL_DATA), name);
    const text = readIfThere(path)?.trim();
    return { text: text || undefined, origin: text ? `generated, ${path}` : "generated on first start", own: true };
  }
  if (entry.fallback !== undefined) return { text: entry.fallback, origin: "default" };
  return { text: undefined, origin: "not set" };
}

function parse(name: SettingName, entry: Setting<unknown>, text: string): unknown {
  try {
    return entry.parse(text);
  } catch (error) {
    const given = entry.secret ? "the value" : `"${text}"`;
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`${name}: ${given} ${reason}.\n  Example: ${example(name, entry).slice(1, -1)}`, 2);
  }
}

function refuseContradictions(config: Values): void {
  if (config.DATABASE_REPLICA_URL !== undefined && config.DATABASE_URL === undefined) {
    throw new OperatorError(
      "DATABASE_REPLICA_URL is set but DATABASE_URL is not. A replica is only read; writes need the primary.\n" +
        "  Set DATABASE_URL to the primary.",
      2,
    );
  }
  const redis = (["REDIS_URL", "LIMITS_REDIS_URL"] as const).find((name) => config[name] !== undefined);
  if (redis !== undefined && config.DATABASE_URL === undefined) {
    throw new OperatorError(
      `${redis} is set but DATABASE_URL is not. Several processes need both PostgreSQL and Redis.\n` +
        `  Set DATABASE_URL, or unset ${redis} to run one process on SQLite.`,
      2,
    );
  }
  if (config.QL_SIGN_UP.kind !== "invitation" && config.SMTP_URL === undefined) {
    throw new OperatorError(
      "QL_SIGN_UP allows people to create accounts, but SMTP_URL is not set. Their addresses could not be verified.\n" +
        "  Set SMTP_URL, or QL_SIGN_UP=invitation.",
      2,
    );
  }
  if (config.QL_WORKERS > 1 && redis === undefined) {
    throw new OperatorError(
      `${config.QL_WORKERS} workers need both PostgreSQL and Redis; otherwise each would count limits separately.\n` +
        "  Set DATABASE_URL and REDIS_URL, or unset --workers and QL_WORKERS to run one process.",
      2,
    );
  }
  if (config.DATABASE_URL !== undefined && config.QL_CODE_SALT === undefined) {
    throw new OperatorError(
      "QL_CODE_SALT: must be set when DATABASE_URL is set, to the same value on every machine that uses the database.\n" +
        "  Example: QL_CODE_SALT=$(openssl rand -hex 32). Keep it as long as the database.",
      2,
    );
  }
}

/** Half of a sign-in with the company would lock its people out. */
function refuseHalfCompany(config: Values): void {
  const missing = (["QL_OIDC_CLIENT_ID", "QL_OIDC_DOMAINS"] as const).find((name) => config[name] === undefined);
  if (config.QL_OIDC_ISSUER !== undefined && missing !== undefined) {
    throw new OperatorError(
      `QL_OIDC_ISSUER is set but ${missing} is not.\n` +
        "  Set QL_OIDC_CLIENT_ID as registered at the provider, and QL_OIDC_DOMAINS to the email domains of your company.",
      2,
    );
  }
  if (config.QL_OIDC_ISSUER === undefined && config.QL_OIDC_DOMAINS !== undefined) {
    throw new OperatorError(
      "QL_OIDC_DOMAINS is set but QL_OIDC_ISSUER is not: these people could not sign in.\n" +
        "  Set QL_OIDC_ISSUER to your OpenID provider, or unset QL_OIDC_DOMAINS.",
      2,
    );
  }
}

function unknownNames(environment: Environment): string[] {
  const known = new Set<string>(
    settingNames.flatMap((name) => ("secret" in settings[name] ? [name, `${name}_FILE`] : [name])),
  );
  return Object.keys(environment).filter((name) => name.startsWith("QL_") && !known.has(name));
}

function readDotenv(folder: string): Environment {
  return parseEnv(readIfThere(join(folder, ".env")) ?? "");
}

function readSecret(name: string, path: string): string {
  const text = readIfThere(path);
  if (text === undefined) throw new OperatorError(`${name}_FILE: cannot read "${path}".`, 2);
  return text.trim();
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
