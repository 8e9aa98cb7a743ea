import { resolve } from "node:path";
import { systemClock } from "../base/clock.ts";
import { newKey, parseKeys, writeKeys } from "../base/seal.ts";
import { newSecret } from "../base/secret-file.ts";
import { parseSigningKeys, rotated, saltKey, writeSigningKeys } from "../base/signing-keys.ts";
import { parseMailbox } from "../email/address.ts";
import {
  address,
  addressList,
  baseUrl,
  bucketUrl,
  fraction,
  headerName,
  hostNames,
  integer,
  nameServers,
  oneOf,
  orNone,
  portList,
  redisUrl,
  text,
  url,
} from "./parsers.ts";

/**
 * Every setting, in one table. A value is looked for in this order: the command line, the environment, the file that
 * NAME_FILE names (secrets only), `.env` in the working folder, the data folder (generated secrets), the default. Nothing
 * else in the program reads the environment.
 */
export interface Setting<Value> {
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

export const settings = {
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

export type SettingName = keyof typeof settings;

export const settingNames = Object.keys(settings) as SettingName[];

type ValueOf<S> = S extends { parse: (text: string) => infer Value }
  ? S extends { fallback: string }
    ? Value
    : Value | undefined
  : never;

export type Values = { readonly [Name in SettingName]: ValueOf<(typeof settings)[Name]> };

function setting<Value, const Extra extends Partial<Setting<Value>>>(
  entry: Setting<Value> & Extra,
): Setting<Value> & Extra {
  return entry;
}
