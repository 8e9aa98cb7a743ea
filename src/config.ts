import { randomBytes } from "node:crypto";
import { accessSync, constants, existsSync, mkdirSync, readFileSync } from "node:fs";
import { BlockList, isIP } from "node:net";
import { join, resolve } from "node:path";
import { domainToASCII } from "node:url";
import { parseEnv } from "node:util";
import type { BreakerRule } from "./base/breaker.ts";
import { systemClock } from "./base/clock.ts";
import { OperatorError } from "./base/errors.ts";
import { hostName } from "./base/host-name.ts";
import type { Patience } from "./base/patience.ts";
import { newKey, parseKeys, writeKeys } from "./base/seal.ts";
import { keepSecret } from "./base/secret-file.ts";
import { parseSigningKeys, rotated, saltKey, writeSigningKeys } from "./base/signing-keys.ts";
import { parseMailbox } from "./email/address.ts";
import { parseRedisUrl } from "./redis/address.ts";

/**
 * Every setting, in one table. A value is looked for in this order: the command line, the environment, the file that
 * NAME_FILE names (secrets only), `.env` in the working folder, the data folder (generated secrets), the default. Nothing
 * else in the program reads the environment.
 */
interface Setting<Value> {
  readonly help: string;
  readonly example: string;
  /** Turns text into a value, or throws a sentence about what is wrong with it. */
  readonly parse: (text: string) => Value;
  /** What stands in the documents for the default, and the text that is parsed; a setting without one may stay unset. */
  readonly fallback?: string;
  /** Hidden from view; of an address only who signs in, and with what. */
  readonly secret?: "all" | "credentials";
  /** A secret that an embedded server makes up for itself on its first start; `salt`, if it has signed until now. */
  readonly generate?: (salt: string | undefined) => string;
}

const table = {
  PORT: setting({
    help: "Port to listen on.",
    example: "8080",
    fallback: "3000",
    parse: integer(1, 65_535),
  }),
  HOST: setting({
    help: "Address to listen on. 127.0.0.1 keeps the server to this machine, for use behind a proxy on it.",
    example: "127.0.0.1",
    fallback: "0.0.0.0",
    parse: address,
  }),
  QL_BASE_URL: setting({
    help: "What short links start with, as people see it. Default: http://localhost:PORT.",
    example: "https://go.example.com",
    parse: baseUrl,
  }),
  QL_HOSTS: setting({
    help: "Other names that this server answers to, besides the host of QL_BASE_URL and verified custom domains. Comma separated, without ports. IP addresses and names without a dot are always answered. Other names get 421 once QL_BASE_URL is set.",
    example: "s.example.com,quicklink.default.svc.cluster.local",
    fallback: "",
    parse: hostNames,
  }),
  DATABASE_URL: setting({
    help: "PostgreSQL to use instead of the embedded SQLite file.",
    example: "postgres://quicklink:secret@db.internal:5432/quicklink",
    parse: url("postgres:", "postgresql:"),
    secret: "credentials",
  }),
  DATABASE_REPLICA_URL: setting({
    help: "A streaming replica of DATABASE_URL in this region, that redirects read from. Everything is still written to DATABASE_URL. All servers that share a REDIS_URL read the same one.",
    example: "postgres://quicklink:secret@replica.eu.internal:5432/quicklink",
    parse: url("postgres:", "postgresql:"),
    secret: "credentials",
  }),
  QL_DATABASE_POOL: setting({
    help: "Connections to PostgreSQL per process. Half of them are for redirects that look up a link, the rest for everything else; a process with 1 uses it for both. With DATABASE_REPLICA_URL as many again to the replica.",
    example: "20",
    fallback: "10",
    parse: integer(1, 500),
  }),
  QL_SQL_WAIT_MS: setting({
    help: "How long a visitor waits for PostgreSQL, for looking up the link and for its limit together, in milliseconds. What is answered later is kept for the next visitor.",
    example: "250",
    fallback: "100",
    parse: integer(10, 10_000),
  }),
  REDIS_URL: setting({
    help: "Redis that several processes share: redis://, redis-sentinel:// with several hosts and the name they watch, or redis-cluster:// with several hosts; rediss… for TLS. Needs DATABASE_URL. Links are cached in it, and limits counted.",
    example: "redis://cache.internal:6379",
    parse: redisUrl,
    secret: "credentials",
  }),
  LIMITS_REDIS_URL: setting({
    help: "Redis for limits, if not REDIS_URL: give it noeviction. The same for all regions. Forms as of REDIS_URL. Needs DATABASE_URL.",
    example: "redis-sentinel://a.internal,b.internal,c.internal/limits",
    parse: redisUrl,
    secret: "credentials",
  }),
  QL_REDIS_WAIT_MS: setting({
    help: "How long a visitor waits for Redis, for looking up the link and for its limit together, in milliseconds; then SQL is asked. A Redis that is slower too often is left alone for a while. Where LIMITS_REDIS_URL is in another region, set it above the round trip.",
    example: "300",
    fallback: "50",
    parse: integer(5, 10_000),
  }),
  QL_BREAKER_FAILURES: setting({
    help: "A node of Redis is left alone after more failures or late answers than this within QL_BREAKER_WINDOW_SECONDS, if they are QL_BREAKER_SHARE of the calls.",
    example: "10",
    fallback: "5",
    parse: integer(1, 10_000),
  }),
  QL_BREAKER_SHARE: setting({
    help: "The share of calls to a node of Redis that must fail before it is left alone, from 0 to 1.",
    example: "0.2",
    fallback: "0.1",
    parse: fraction(0, 1),
  }),
  QL_BREAKER_WINDOW_SECONDS: setting({
    help: "The seconds over which failures of Redis are counted.",
    example: "30",
    fallback: "10",
    parse: integer(1, 300),
  }),
  QL_BREAKER_OPEN_SECONDS: setting({
    help: "The longest time that a failing Redis is left alone before one call tries it again. It begins with 1 second and doubles.",
    example: "60",
    fallback: "30",
    parse: integer(1, 600),
  }),
  QL_HITS_OUTAGE: setting({
    help: "Visits of links with a limit while Redis does not answer: degrade (SQL is asked instead; 503 if that is away too), open (let through and counted), closed (503).",
    example: "closed",
    fallback: "degrade",
    parse: oneOf("degrade", "open", "closed"),
  }),
  QL_WORKERS: setting({
    help: "Processes that serve on this port; `serve --workers N` wins over it. More than 1 needs DATABASE_URL and REDIS_URL or LIMITS_REDIS_URL.",
    example: "4",
    fallback: "1",
    parse: integer(1, 256),
  }),
  QL_DATA: setting({
    help: "Folder for the embedded database, files and generated secrets.",
    example: "/var/lib/quicklink",
    fallback: "./data",
    parse: (text) => resolve(text),
  }),
  QL_CODE_SALT: setting({
    help: "Secret that makes codes unguessable. Generated into QL_DATA when embedded; must be set, and the same everywhere, with DATABASE_URL. Keep a copy: a database only works with its own salt.",
    example: "the output of: openssl rand -hex 32",
    parse: text(16, 1_000),
    secret: "all",
    generate: newSecret,
  }),
  QL_CODE_BLOCK: setting({
    help: "How many code numbers a process takes from SQL at once. A crash skips at most this many of 3.5 trillion.",
    example: "1000",
    fallback: "1000",
    parse: integer(1, 1_000_000),
  }),
  QL_LINK_DAYS: setting({
    help: "Days until a link expires when its maker does not say.",
    example: "90",
    fallback: "365",
    parse: integer(1, 36_500),
  }),
  QL_CACHE_MB: setting({
    help: "Memory for links kept in process, in MB.",
    example: "256",
    fallback: "64",
    parse: integer(1, 65_536),
  }),
  QL_CACHE_TTL_SECONDS: setting({
    help: "How long a link is good for in Redis before it is read from SQL again. Links that are visited much and change seldom are kept longer, links that change often shorter, in proportion.",
    example: "1800",
    fallback: "3600",
    parse: integer(10, 86_400),
  }),
  QL_CACHE_MISSING_TTL_SECONDS: setting({
    help: "How long Redis remembers that a code does not exist.",
    example: "60",
    fallback: "300",
    parse: integer(1, 86_400),
  }),
  QL_CACHE_JITTER: setting({
    help: "How far times to live are spread, so that links cached together do not expire together: 0.08 is 8 % more or less. In process they are only made shorter, by up to twice that.",
    example: "0.2",
    fallback: "0.08",
    parse: fraction(0, 0.5),
  }),
  QL_BODY_LIMIT: setting({
    help: "Largest request body the API reads, in bytes.",
    example: "1048576",
    fallback: "1048576",
    parse: integer(1_024, 1_073_741_824),
  }),
  QL_TRUSTED_PROXIES: setting({
    help: "Addresses of your own proxies, whose X-Forwarded-For is believed. Comma separated, with ranges. Default: none.",
    example: "127.0.0.1,10.0.0.0/8",
    fallback: "",
    parse: addressList,
  }),
  QL_COUNTRY_HEADER: setting({
    help: "A header in which the proxies of QL_TRUSTED_PROXIES tell the visitor's country, for rules. Without it the country is looked up by address.",
    example: "CF-IPCountry",
    parse: headerName,
  }),
  QL_API_OUTAGE: setting({
    help: "What becomes of API calls while Redis does not answer: degrade (each process counts for itself), open (all are let through) or closed (503).",
    example: "closed",
    fallback: "degrade",
    parse: oneOf("degrade", "open", "closed"),
  }),
  QL_GUESSES_PER_MINUTE: setting({
    help: "Codes and keys that do not exist which an address may ask for in a minute, before it must wait; none is without limit. Behind a proxy set QL_TRUSTED_PROXIES, or all visitors are one address.",
    example: "20",
    fallback: "100",
    parse: orNone(integer(1, 1_000_000)),
  }),
  SMTP_URL: setting({
    help: "The platform's mail server: smtp:// (STARTTLS where offered) or smtps://. Without it emails are written to the log, unless a tenant has its own SendGrid key.",
    example: "smtp://user:secret@mail.internal:587",
    parse: url("smtp:", "smtps:"),
    secret: "credentials",
  }),
  QL_MAIL_FROM: setting({
    help: "Who emails through SMTP_URL are from: an address, with a name or without.",
    example: "QuickLink <links@example.com>",
    fallback: "QuickLink <quicklink@localhost>",
    parse: parseMailbox,
  }),
  QL_EMAILS_PER_HOUR: setting({
    help: "Emails through SMTP_URL in any hour, of all tenants together. The last fifth is reserved for verification and password resets: of 2000, ordinary mail may use 1600. none is without limit.",
    example: "500",
    fallback: "2000",
    parse: orNone(integer(1, 10_000_000)),
  }),
  QL_SENDGRID_URL: setting({
    help: "Where SendGrid's API is, for tenants with a key of their own; the EU's is https://api.eu.sendgrid.com.",
    example: "https://api.eu.sendgrid.com",
    fallback: "https://api.sendgrid.com",
    parse: baseUrl,
  }),
  QL_SECRET_KEYS: setting({
    help: "Keys that tenants' own secrets are sealed with, as name:64 hex digits, comma separated; the first one seals, all of them open. Generated into QL_DATA when embedded; with DATABASE_URL the same on every machine.",
    example: "the output of: echo k1:$(openssl rand -hex 32)",
    parse: parseKeys,
    secret: "all",
    generate: () => writeKeys([newKey()]),
  }),
  QL_SIGNING_KEYS: setting({
    help: "Keys that sign unsubscribe links, addresses of files, cursors and passes of links with a password, as name:64 hex digits, comma separated; the first one signs, all of them verify, a former one with @YYYY-MM-DD behind it until that day. Generated into QL_DATA when embedded; with DATABASE_URL the same on every machine, and if unset derived from QL_CODE_SALT.",
    example: "the output of: echo k1:$(openssl rand -hex 32)",
    parse: parseSigningKeys,
    secret: "all",
    generate: (salt) => writeSigningKeys(rotated(salt === undefined ? [] : [saltKey(salt)], systemClock.now())),
  }),
  S3_URL: setting({
    help: "An S3-compatible store for files, instead of the folder files in QL_DATA: key, secret, host, bucket, and the region if it is not us-east-1.",
    example: "https://KEYID:SECRET@s3.internal:9000/quicklink?region=eu-central-1",
    parse: bucketUrl,
    secret: "credentials",
  }),
  QL_FILE_LIMIT: setting({
    help: "Largest file that can be uploaded, in bytes.",
    example: "1000000000",
    fallback: "100000000",
    parse: integer(1, 5_000_000_000),
  }),
  QL_BLOCKLIST: setting({
    help: "File of hosts that no link may lead to: example.com with all below it, or *.example.com, one on each line. Read again when it changes. The same on every machine.",
    example: "/etc/quicklink/blocklist",
    parse: (text) => resolve(text),
  }),
  QL_CHECK_TARGETS: setting({
    help: "Days between two looks at where a link leads, whether it still answers; none asks nobody, and fetches no titles.",
    example: "7",
    fallback: "1",
    parse: orNone(integer(1, 365)),
  }),
  QL_FETCH_ALLOW: setting({
    help: "Addresses off the public internet that titles may be fetched from and targets checked at: your own network, if links lead there. Comma separated, with ranges.",
    example: "10.20.0.0/16",
    fallback: "",
    parse: addressList,
  }),
  QL_DNS_SERVERS: setting({
    help: "Name servers to ask about domains of tenants and about addresses that links lead to, instead of those of the machine. Comma separated, with a port or without.",
    example: "9.9.9.9,[2620:fe::fe]:53",
    fallback: "",
    parse: nameServers,
  }),
  QL_FETCH_PORTS: setting({
    help: "Ports that titles may be fetched from and targets checked at.",
    example: "80,443,8443",
    fallback: "80,443",
    parse: portList,
  }),
  QL_METRICS_TOKEN: setting({
    help: "Bearer token for /metrics. Without it, only direct requests from this machine are answered.",
    example: "the output of: openssl rand -hex 32",
    parse: text(16, 1_000),
    secret: "all",
  }),
  QL_LOG_LEVEL: setting({
    help: "How much to log: trace, debug, info, warn, error, fatal or silent.",
    example: "debug",
    fallback: "info",
    parse: oneOf("trace", "debug", "info", "warn", "error", "fatal", "silent"),
  }),
};

export type SettingName = keyof typeof table;

type ValueOf<S> = S extends { parse: (text: string) => infer Value }
  ? S extends { fallback: string }
    ? Value
    : Value | undefined
  : never;
type Values = { readonly [Name in SettingName]: ValueOf<(typeof table)[Name]> };

export interface Shown {
  readonly name: SettingName;
  readonly value: string;
  readonly origin: string;
  readonly help: string;
}

export interface Config extends Values {
  /** QL_BASE_URL, or what follows from PORT, without a slash at the end. */
  readonly baseUrl: string;
  /** What the operator calls this server: the host of `baseUrl`, and QL_HOSTS. */
  readonly ownNames: { readonly names: ReadonlySet<string>; readonly onlyThese: boolean };
  readonly embedded: boolean;
  /** Where files are, unless S3_URL is set. */
  readonly filesFolder: string;
  /** LIMITS_REDIS_URL, or REDIS_URL. Unset: this process shares its database with no other. */
  readonly limitsRedisUrl: string | undefined;
  /** How long a visitor waits, for all of Redis and for all of SQL. */
  readonly wait: Readonly<Patience>;
  /** When a node of Redis is left alone. */
  readonly breaker: BreakerRule;
  /** Every setting as an operator may see it: secrets hidden, and where the value came from. */
  readonly shown: readonly Shown[];
  /** Secrets that nobody set: an embedded server makes them up, and they are its own to change. */
  readonly ownSecrets: ReadonlySet<SettingName>;
  /** The texts behind the values, to load the same settings in another thread. */
  readonly source: Readonly<Record<string, string>>;
  /** Variables that look like ours and are not: most likely a typing mistake. */
  readonly unknown: readonly string[];
}

/** SQLite has one writer, and tries a busy statement again for about so long: there is nowhere else to ask. */
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
    const entry: Setting<unknown> = table[name];
    const found = find(name, { commandLine, environment, dotenv }, values);
    values[name] = found.text === undefined ? undefined : parse(name, entry, found.text);
    if (found.text !== undefined) source[name] = found.text;
    if (found.own) ownSecrets.add(name);
    shown.push({ name, value: show(entry, found.text), origin: found.origin, help: entry.help });
  }
  const config = values as unknown as Values;
  refuseContradictions(config);
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

/** Before anything is put there; whatever is wrong with it is wrong with the setting. */
export function prepareDataFolder(config: Config): void {
  try {
    mkdirSync(config.QL_DATA, { recursive: true, mode: 0o700 });
    accessSync(config.QL_DATA, constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? error.code : "unknown";
    throw new OperatorError(
      `QL_DATA: "${config.QL_DATA}" cannot be used as a folder (${reason}).\n  Example: QL_DATA=./data`,
      2,
    );
  }
}

/** What an embedded server never lacks. */
type Generated = {
  readonly [Name in "QL_CODE_SALT" | "QL_SECRET_KEYS" | "QL_SIGNING_KEYS"]: NonNullable<Values[Name]>;
};

/** First start of the embedded mode: secrets nobody set are made up once and kept beside the data, for us alone. */
export function withSecrets(config: Config): Config & Generated {
  // Versions without signing keys signed with the salt. Where there is no database yet, nothing was signed.
  const salt = existsSync(join(config.QL_DATA, "quicklink.sqlite")) ? config.QL_CODE_SALT : undefined;
  const made = settingNames.flatMap((name) => {
    const { generate, parse }: Setting<unknown> = table[name];
    if (generate === undefined || config[name] !== undefined) return [];
    return [[name, parse(keepSecret(secretPath(config.QL_DATA, name), generate(salt)))] as const];
  });
  return { ...config, ...Object.fromEntries(made) } as Config & Generated;
}

/** docs/config.md, from the table. */
export function describeSettings(): string {
  const rows = settingNames.map((name) => {
    const entry: Setting<unknown> = table[name];
    const fallback = entry.fallback === undefined ? "" : entry.fallback === "" ? "none" : `\`${entry.fallback}\``;
    return `| \`${name}\` | ${entry.help}${entry.secret ? " Secret." : ""} | ${fallback} | ${example(name, entry)} |`;
  });
  return `# Settings

Generated from the table in \`src/config.ts\` by \`npm run docs\`; a test keeps it so.

A value is taken from the first place that has one: the command line, the environment, the file named by \`NAME_FILE\` (secrets only, for
example \`QL_CODE_SALT_FILE=/run/secrets/salt\`), \`.env\` in the working folder, the data folder (generated secrets), the
default. \`npm run quicklink -- config\` prints what is in force and where it came from. A value that cannot be used stops
the start with exit status 2.

| setting | what it does | default | example |
|---|---|---|---|
${rows.join("\n")}
`;
}

function example(name: string, entry: Setting<unknown>): string {
  return entry.example.startsWith("the output of: ")
    ? `\`${name}=$(${entry.example.slice("the output of: ".length)})\``
    : `\`${name}=${entry.example}\``;
}

const settingNames = Object.keys(table) as SettingName[];

function setting<Value, const Extra extends Partial<Setting<Value>>>(
  entry: Setting<Value> & Extra,
): Setting<Value> & Extra {
  return entry;
}

function find(
  name: SettingName,
  { commandLine, environment, dotenv }: Readonly<Record<"commandLine" | "environment" | "dotenv", Environment>>,
  soFar: Record<string, unknown>,
): { text: string | undefined; origin: string; own?: true } {
  const entry: Setting<unknown> = table[name];
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
      "DATABASE_REPLICA_URL is set but DATABASE_URL is not: a replica is read from, and something must be written to.\n" +
        "  Set DATABASE_URL to the primary as well.",
      2,
    );
  }
  const redis = (["REDIS_URL", "LIMITS_REDIS_URL"] as const).find((name) => config[name] !== undefined);
  if (redis !== undefined && config.DATABASE_URL === undefined) {
    throw new OperatorError(
      `${redis} is set but DATABASE_URL is not: several processes need PostgreSQL and Redis both.\n` +
        `  Set DATABASE_URL as well, or leave ${redis} out to run one process on SQLite.`,
      2,
    );
  }
  if (config.QL_WORKERS > 1 && redis === undefined) {
    throw new OperatorError(
      `${config.QL_WORKERS} workers need PostgreSQL and Redis both: without them their limits would not hold together.\n` +
        "  Set DATABASE_URL and REDIS_URL, or leave --workers and QL_WORKERS out to run one process.",
      2,
    );
  }
  if (config.DATABASE_URL !== undefined && config.QL_CODE_SALT === undefined) {
    throw new OperatorError(
      "QL_CODE_SALT: must be set with DATABASE_URL, the same on every machine that uses this database.\n" +
        "  Example: QL_CODE_SALT=$(openssl rand -hex 32), and keep it as long as the database.",
      2,
    );
  }
}

function unknownNames(environment: Environment): string[] {
  const known = new Set<string>(
    settingNames.flatMap((name) => ("secret" in table[name] ? [name, `${name}_FILE`] : [name])),
  );
  return Object.keys(environment).filter((name) => name.startsWith("QL_") && !known.has(name));
}

function show(entry: Setting<unknown>, text: string | undefined): string {
  if (text === undefined) return "";
  if (entry.secret === undefined) return text;
  return entry.secret === "all" ? "(hidden)" : withoutCredentials(text);
}

/** By its text, for an address of several hosts is no URL; and where a password could hide elsewhere, nothing of it. */
function withoutCredentials(address: string): string {
  const match = /^([a-z-]+:\/\/)([^?#]*@)?([^@?#]*)(\?[^@]*)?$/i.exec(address);
  if (match === null) return "(hidden)";
  const [, scheme = "", credentials, place = "", query] = match;
  return `${scheme}${credentials ? "(hidden)@" : ""}${place}${query ? "?(hidden)" : ""}`;
}

function readDotenv(folder: string): Environment {
  return parseEnv(readIfThere(join(folder, ".env")) ?? "");
}

function readSecret(name: string, path: string): string {
  const text = readIfThere(path);
  if (text === undefined) throw new OperatorError(`${name}_FILE: there is no readable file "${path}".`, 2);
  return text.trim();
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

export function newSecret(): string {
  return randomBytes(32).toString("hex");
}

/** Where the key of the first start is, if no terminal could show it. */
export const firstKeyPath = (dataFolder: string): string => join(dataFolder, "first-key");

export const secretPath = (dataFolder: string, name: string): string => join(dataFolder, "secrets", name);

function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^-?\d+$/.test(text) || value < min || value > max) {
      throw new Error(`is not a whole number from ${min} to ${max}`);
    }
    return value;
  };
}

function fraction(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d(?:\.\d{1,6})?$/.test(text) || value < min || value > max) {
      throw new Error(`is not a number from ${min} to ${max}`);
    }
    return value;
  };
}

/** `null` for the word none. */
function orNone<Value>(parse: (text: string) => Value): (text: string) => Value | null {
  return (text) => (text === "none" ? null : parse(text));
}

function text(min: number, max: number): (value: string) => string {
  return (value) => {
    if (value.length < min || value.length > max) throw new Error(`must have ${min} to ${max} characters`);
    return value;
  };
}

function oneOf<const Choice extends string>(...choices: Choice[]): (value: string) => Choice {
  return (value) => {
    const choice = choices.find((candidate) => candidate === value);
    if (choice === undefined) throw new Error(`is not one of ${choices.join(", ")}`);
    return choice;
  };
}

function url(...protocols: string[]): (value: string) => string {
  return (value) => {
    if (!URL.canParse(value) || !protocols.some((protocol) => value.toLowerCase().startsWith(`${protocol}//`))) {
      throw new Error(`is not an address that starts with ${protocols.map((p) => `${p}//`).join(" or ")}`);
    }
    return value;
  };
}

/** Where files go, and who we are there. */
export interface Bucket {
  /** `https://s3.internal:9000/quicklink`, without a slash at the end. */
  readonly endpoint: string;
  readonly region: string;
  readonly keyId: string;
  readonly secret: string;
}

function bucketUrl(value: string): Bucket {
  const parsed = new URL(url("http:", "https:")(value));
  const [, bucket = ""] = /^\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/?$/.exec(parsed.pathname) ?? [];
  if (bucket === "") throw new Error("must name one bucket after the host");
  if (parsed.username === "" || parsed.password === "")
    throw new Error("must hold a key id and a secret before the host");
  const stray = [...parsed.searchParams.keys()].filter((name) => name !== "region");
  if (stray.length > 0 || parsed.hash !== "") throw new Error("has more after the bucket than ?region=");
  return {
    endpoint: `${parsed.origin}/${bucket}`,
    region: parsed.searchParams.get("region") || "us-east-1",
    keyId: decodeURIComponent(parsed.username),
    secret: decodeURIComponent(parsed.password),
  };
}

function nameServers(value: string): readonly string[] {
  const servers = value
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  const bad = servers.find((server) => isIP(server.replace(/^\[(.*)\](?::\d{1,5})?$|^([^:]*):\d{1,5}$/, "$1$2")) === 0);
  if (bad !== undefined) throw new Error(`has "${bad}", which is not an IP address`);
  return servers;
}

function hostNames(value: string): readonly string[] {
  const parts = value
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  return parts.map((part) => {
    // domainToASCII would drop what follows a name, and a port is not part of one.
    const name = part.startsWith("[")
      ? hostName(part)
      : /[/\\?#@:]/.test(part)
        ? undefined
        : hostName(domainToASCII(part));
    if (!name) throw new Error(`has "${part}", which is not a host name without a port`);
    return name;
  });
}

function redisUrl(value: string): string {
  parseRedisUrl(value);
  return value;
}

function baseUrl(value: string): string {
  const parsed = new URL(url("http:", "https:")(value));
  if (parsed.pathname !== "/" || parsed.search || parsed.hash || parsed.username) {
    throw new Error("must be a scheme and a host only, without a path");
  }
  if (hostName(parsed.hostname) === undefined) throw new Error("has a host that is not a name");
  return parsed.origin;
}

function address(value: string): string {
  if (isIP(value) === 0 && value !== "localhost") throw new Error("is not an IP address");
  return value;
}

function portList(value: string): readonly number[] {
  return value.split(",").map((part) => integer(1, 65_535)(part.trim()));
}

function headerName(value: string): string {
  if (!/^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(value)) throw new Error("is not the name of a header, such as CF-IPCountry");
  return value;
}

function addressList(value: string): BlockList {
  const list = new BlockList();
  for (const part of value.split(",").map((piece) => piece.trim())) {
    if (part === "") continue;
    const [ip = "", bits, ...more] = part.split("/");
    const family = isIP(ip) === 6 ? "ipv6" : "ipv4";
    const most = family === "ipv6" ? 128 : 32;
    if (more.length > 0 || isIP(ip) === 0 || (bits !== undefined && !(/^\d+$/.test(bits) && Number(bits) <= most))) {
      throw new Error(`has "${part}", which is not an address or a range`);
    }
    if (bits === undefined) list.addAddress(ip, family);
    else list.addSubnet(ip, Number(bits), family);
  }
  return list;
}
