import { resolve } from "node:path";
import { systemClock } from "../base/clock.ts";
import { newKey, parseKeys, writeKeys } from "../base/seal.ts";
import { newSecret } from "../base/secret-file.ts";
import { parseSigningKeys, rotated, saltKey, writeSigningKeys } from "../base/signing-keys.ts";
import { parseMailbox } from "../email/address.ts";
import {
  addressList,
  baseUrl,
  bucketUrl,
  fraction,
  headerName,
  hostNames,
  integer,
  ipAddress,
  issuerUrl,
  mailDomains,
  nameServers,
  oneOf,
  orNone,
  portList,
  redisUrl,
  signUp,
  text,
  url,
} from "./parsers.ts";

/**
 * Every setting, in one table. A value is taken from the first of: the command line, the environment, the file named by
 * NAME_FILE (secrets only), `.env` in the working folder, the data folder (generated secrets), the default. Nothing
 * else in the program reads the environment.
 */
export interface Setting<Value> {
  readonly help: string;
  readonly example: string;
  /** Parses the text, or throws the end of a sentence that says what is wrong with it. */
  readonly parse: (text: string) => Value;
  /** The default as text: shown in the documentation, and parsed. A setting without one may stay unset. */
  readonly fallback?: string;
  /** Hidden when shown: all of it, or only the credentials of a URL. */
  readonly secret?: "all" | "credentials";
  /** Generates the secret on the first start of an embedded server; `salt`, if it has signed so far. */
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
    help: "Address to listen on. Behind a proxy on the same machine, use 127.0.0.1.",
    example: "127.0.0.1",
    fallback: "0.0.0.0",
    parse: ipAddress,
  }),
  QL_BASE_URL: setting({
    help: "Public URL that short links start with. Default: http://localhost:PORT.",
    example: "https://go.example.com",
    parse: baseUrl,
  }),
  QL_HOSTS: setting({
    help: "Additional host names this server answers to, besides the host of QL_BASE_URL and verified custom domains. Comma separated, without ports. IP addresses and names without a dot are always accepted. Once QL_BASE_URL is set, all other names get 421.",
    example: "s.example.com,quicklink.default.svc.cluster.local",
    fallback: "",
    parse: hostNames,
  }),
  DATABASE_URL: setting({
    help: "PostgreSQL database to use instead of the embedded SQLite file.",
    example: "postgres://quicklink:secret@db.internal:5432/quicklink",
    parse: url("postgres:", "postgresql:"),
    secret: "credentials",
  }),
  DATABASE_REPLICA_URL: setting({
    help: "Streaming replica of DATABASE_URL in this region; redirects read from it. All writes go to DATABASE_URL. Servers that share a REDIS_URL must use the same replica.",
    example: "postgres://quicklink:secret@replica.eu.internal:5432/quicklink",
    parse: url("postgres:", "postgresql:"),
    secret: "credentials",
  }),
  QL_DATABASE_POOL: setting({
    help: "PostgreSQL connections per process. Half are reserved for redirects that look up a link; a process with 1 uses it for both. With DATABASE_REPLICA_URL, each process opens the same number to the replica.",
    example: "20",
    fallback: "10",
    parse: integer(1, 500),
  }),
  QL_SQL_WAIT_MS: setting({
    help: "Maximum time a visitor waits for PostgreSQL, for the lookup and the limit together, in milliseconds. A later answer is cached for the next visitor. Time in which the server itself was busy does not count, up to ten times as long. Does not apply to SQLite, which waits up to 5 seconds.",
    example: "250",
    fallback: "100",
    parse: integer(10, 10_000),
  }),
  REDIS_URL: setting({
    help: "Redis shared by several processes: redis://, redis-sentinel:// with several hosts and the name of the primary, or redis-cluster:// with several hosts; rediss…:// for TLS. Requires DATABASE_URL. It caches links and counts limits.",
    example: "redis://cache.internal:6379",
    parse: redisUrl,
    secret: "credentials",
  }),
  LIMITS_REDIS_URL: setting({
    help: "Separate Redis for limits; use maxmemory-policy noeviction. The same for all regions. Same formats as REDIS_URL. Requires DATABASE_URL. Default: REDIS_URL.",
    example: "redis-sentinel://a.internal,b.internal,c.internal/limits",
    parse: redisUrl,
    secret: "credentials",
  }),
  QL_REDIS_WAIT_MS: setting({
    help: "Maximum time a visitor waits for Redis, for the lookup and the limit together, in milliseconds; after that, SQL is used. Time in which the server itself was busy does not count, up to ten times as long. If Redis is often slower, the circuit breaker stops using it for a while. If LIMITS_REDIS_URL is in another region, set this above the round-trip time.",
    example: "300",
    fallback: "50",
    parse: integer(5, 10_000),
  }),
  QL_BREAKER_FAILURES: setting({
    help: "Circuit breaker for Redis: it opens for a node after more than this many failures or late answers within QL_BREAKER_WINDOW_SECONDS, if they also exceed QL_BREAKER_SHARE of the calls.",
    example: "10",
    fallback: "5",
    parse: integer(1, 10_000),
  }),
  QL_BREAKER_SHARE: setting({
    help: "Share of calls to a Redis node that must fail before the circuit breaker opens, from 0 to 1.",
    example: "0.2",
    fallback: "0.1",
    parse: fraction(0, 1),
  }),
  QL_BREAKER_WINDOW_SECONDS: setting({
    help: "Window in which the circuit breaker counts failures, in seconds.",
    example: "30",
    fallback: "10",
    parse: integer(1, 300),
  }),
  QL_BREAKER_OPEN_SECONDS: setting({
    help: "Longest time the circuit breaker stays open before it tries one call, in seconds. It starts with 1 second and doubles.",
    example: "60",
    fallback: "30",
    parse: integer(1, 600),
  }),
  QL_HITS_OUTAGE: setting({
    help: "How to treat visits to links with a limit while Redis is unavailable: degrade (use SQL; 503 if SQL is unavailable too), open (allow and count), closed (503).",
    example: "closed",
    fallback: "degrade",
    parse: oneOf("degrade", "open", "closed"),
  }),
  QL_WORKERS: setting({
    help: "Number of processes serving on this port; `serve --workers N` overrides it. More than 1 requires DATABASE_URL and REDIS_URL or LIMITS_REDIS_URL.",
    example: "4",
    fallback: "1",
    parse: integer(1, 256),
  }),
  QL_DATA: setting({
    help: "Folder for the embedded database, uploaded files and generated secrets.",
    example: "/var/lib/quicklink",
    fallback: "./data",
    parse: (text) => resolve(text),
  }),
  QL_CODE_SALT: setting({
    help: "Secret that makes generated codes unpredictable. Generated in QL_DATA with the embedded database; with DATABASE_URL, set the same value on every machine. Keep a copy: a database works only with its salt.",
    example: "the output of: openssl rand -hex 32",
    parse: text(16, 1_000),
    secret: "all",
    generate: newSecret,
  }),
  QL_CODE_BLOCK: setting({
    help: "Number of code numbers a process reserves from SQL at once. A crash skips at most this many of 3.5 trillion.",
    example: "1000",
    fallback: "1000",
    parse: integer(1, 1_000_000),
  }),
  QL_LINK_DAYS: setting({
    help: "Days until a link expires if no expiry is given.",
    example: "90",
    fallback: "365",
    parse: integer(1, 36_500),
  }),
  QL_HISTORY_DAYS: setting({
    help: "Days for which the history (who changed what) is kept. That of a link is kept while the link exists.",
    example: "90",
    fallback: "400",
    parse: integer(1, 36_500),
  }),
  QL_CACHE_MB: setting({
    help: "Memory for cached links per process, in MB. A link with an address of 100 characters counts as 1.3 KB: 64 MB hold about 50,000.",
    example: "256",
    fallback: "64",
    parse: integer(1, 65_536),
  }),
  QL_CACHE_TTL_SECONDS: setting({
    help: "How long Redis keeps a link before it is read from SQL again, in seconds. Popular links that rarely change are kept longer, and links that change often shorter, in proportion.",
    example: "1800",
    fallback: "3600",
    parse: integer(10, 86_400),
  }),
  QL_CACHE_MISSING_TTL_SECONDS: setting({
    help: "How long Redis remembers that a code does not exist, in seconds.",
    example: "60",
    fallback: "300",
    parse: integer(1, 86_400),
  }),
  QL_CACHE_JITTER: setting({
    help: "Random spread of cache lifetimes, so that links cached together do not expire together: 0.08 is ±8 %. Lifetimes in memory are only shortened, by up to twice this.",
    example: "0.2",
    fallback: "0.08",
    parse: fraction(0, 0.5),
  }),
  QL_BODY_LIMIT: setting({
    help: "Largest accepted API request body, in bytes.",
    example: "1048576",
    fallback: "1048576",
    parse: integer(1_024, 1_073_741_824),
  }),
  QL_TRUSTED_PROXIES: setting({
    help: "Addresses of your proxies, whose X-Forwarded-For header is trusted. Comma-separated addresses or ranges. Default: none.",
    example: "127.0.0.1,10.0.0.0/8",
    fallback: "",
    parse: addressList,
  }),
  QL_COUNTRY_HEADER: setting({
    help: "Header in which the proxies of QL_TRUSTED_PROXIES pass the visitor's country, for routing rules. Default: the country is looked up by IP address.",
    example: "CF-IPCountry",
    parse: headerName,
  }),
  QL_CLICK_FACTS: setting({
    help: "Whether facts about visitors are recorded with clicks, such as country, browser and referrer: on or off. With off, only the time and the reason of each click are recorded, and visitors are not counted.",
    example: "off",
    fallback: "on",
    parse: oneOf("on", "off"),
  }),
  QL_CLICK_EVENTS_PER_SECOND: setting({
    help: "How many single clicks each server process stores in a second, at most. Further clicks are counted by value: totals stay exact, but reports with several filters lack them and say so. Links with few clicks keep theirs.",
    example: "4000",
    fallback: "1000",
    parse: integer(1, 1_000_000),
  }),
  QL_CITY_DATABASE: setting({
    help: "File with cities in MaxMind's format (.mmdb), such as GeoLite2-City or DB-IP City Lite, for region and city in reports. It is read into the memory of each process at the start. Default: only the country is known.",
    example: "/var/lib/quicklink/GeoLite2-City.mmdb",
    parse: (text) => resolve(text),
  }),
  QL_WORKSPACES: setting({
    help: "Who may create workspaces: operator (only operators of this server) or everyone (all people with an account).",
    example: "everyone",
    fallback: "operator",
    parse: oneOf("operator", "everyone"),
  }),
  QL_API_OUTAGE: setting({
    help: "How to treat API calls while Redis is unavailable: degrade (each process counts separately), open (allow all) or closed (503).",
    example: "closed",
    fallback: "degrade",
    parse: oneOf("degrade", "open", "closed"),
  }),
  QL_GUESSES_PER_MINUTE: setting({
    help: "Requests for unknown codes or keys that one IP address may make per minute; none for no limit. Behind a proxy, set QL_TRUSTED_PROXIES; otherwise all visitors share one address.",
    example: "20",
    fallback: "100",
    parse: orNone(integer(1, 1_000_000)),
  }),
  SMTP_URL: setting({
    help: "The platform's mail server: smtp:// (STARTTLS if offered) or smtps://. Without it, emails are written to the log, unless a workspace has its own SendGrid key.",
    example: "smtp://user:secret@mail.internal:587",
    parse: url("smtp:", "smtps:"),
    secret: "credentials",
  }),
  QL_MAIL_FROM: setting({
    help: "Sender of emails through SMTP_URL: an address, optionally with a name.",
    example: "QuickLink <links@example.com>",
    fallback: "QuickLink <quicklink@localhost>",
    parse: parseMailbox,
  }),
  QL_EMAILS_PER_HOUR: setting({
    help: "Emails per hour through SMTP_URL, for all workspaces together; none for no limit. The last fifth is reserved for emails about accounts, such as password resets: of 2000, other emails can use 1600.",
    example: "500",
    fallback: "2000",
    parse: orNone(integer(1, 10_000_000)),
  }),
  QL_SIGN_UP: setting({
    help: "Who may create an account without an invitation: invitation (no one), everyone, or people with an address of these email domains, comma separated. Requires SMTP_URL, because every address is verified first.",
    example: "example.com,example.org",
    fallback: "invitation",
    parse: signUp,
  }),
  QL_SENDGRID_URL: setting({
    help: "SendGrid API URL for workspaces with their own key; for the EU: https://api.eu.sendgrid.com.",
    example: "https://api.eu.sendgrid.com",
    fallback: "https://api.sendgrid.com",
    parse: baseUrl,
  }),
  QL_SECRET_KEYS: setting({
    help: "Keys that encrypt workspaces' secrets: name:64 hex digits, comma separated. The first key encrypts; all keys decrypt. Generated in QL_DATA with the embedded database; with DATABASE_URL, set the same value on every machine.",
    example: "the output of: echo k1:$(openssl rand -hex 32)",
    parse: parseKeys,
    secret: "all",
    generate: () => writeKeys([newKey()]),
  }),
  QL_SIGNING_KEYS: setting({
    help: "Keys that sign unsubscribe links, file URLs, cursors and password sessions: name:64 hex digits, comma separated. The first key signs; all keys verify, a previous key with @YYYY-MM-DD appended until that day. Generated in QL_DATA with the embedded database; with DATABASE_URL, set the same value on every machine. Default there: derived from QL_CODE_SALT.",
    example: "the output of: echo k1:$(openssl rand -hex 32)",
    parse: parseSigningKeys,
    secret: "all",
    generate: (salt) => writeSigningKeys(rotated(salt === undefined ? [] : [saltKey(salt)], systemClock.now())),
  }),
  QL_OIDC_ISSUER: setting({
    help: "Your company's OpenID provider: the address that its metadata name as `issuer`. Requires QL_OIDC_CLIENT_ID and QL_OIDC_DOMAINS. Register QL_BASE_URL/api/auth/oidc/callback there as redirect URI.",
    example: "https://login.example.com/realms/staff",
    parse: issuerUrl,
  }),
  QL_OIDC_CLIENT_ID: setting({
    help: "Client ID of this server at the OpenID provider.",
    example: "quicklink",
    parse: text(1, 255),
  }),
  QL_OIDC_CLIENT_SECRET: setting({
    help: "Client secret of this server at the OpenID provider. Without it, PKCE alone protects the sign-in.",
    example: "s3cret-of-the-provider",
    parse: text(1, 1_000),
    secret: "all",
  }),
  QL_OIDC_DOMAINS: setting({
    help: "Email domains whose people must sign in with the OpenID provider, comma separated; all for everybody. Their passwords and passkeys are kept but refused. The provider cannot sign in people of other domains.",
    example: "example.com,example.org",
    parse: mailDomains,
  }),
  QL_OIDC_NAME: setting({
    help: "What the button for the OpenID provider says.",
    example: "Example Inc.",
    fallback: "your company",
    parse: text(1, 60),
  }),
  QL_OIDC_SIGN_UP: setting({
    help: "Whether people of QL_OIDC_DOMAINS get an account without an invitation when they first sign in with the OpenID provider: on or off.",
    example: "on",
    fallback: "off",
    parse: oneOf("on", "off"),
  }),
  S3_URL: setting({
    help: "S3-compatible storage for uploaded files, instead of the files folder in QL_DATA: key ID, secret, host, bucket, and the region unless it is us-east-1.",
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
    help: "File with blocked destination hosts, one per line: example.com (including subdomains) or *.example.com. Reloaded when it changes. Must be the same on every machine.",
    example: "/etc/quicklink/blocklist",
    parse: (text) => resolve(text),
  }),
  QL_CHECK_TARGETS: setting({
    help: "Days between checks of a link's destination; none disables checks and title fetching.",
    example: "7",
    fallback: "1",
    parse: orNone(integer(1, 365)),
  }),
  QL_FETCH_ALLOW: setting({
    help: "Private addresses that may be contacted for titles and destination checks, such as your internal network. Comma-separated addresses or ranges.",
    example: "10.20.0.0/16",
    fallback: "",
    parse: addressList,
  }),
  QL_DNS_SERVERS: setting({
    help: "DNS servers for verifying custom domains and resolving destinations, instead of the system's. Comma separated, optionally with a port.",
    example: "9.9.9.9,[2620:fe::fe]:53",
    fallback: "",
    parse: nameServers,
  }),
  QL_FETCH_PORTS: setting({
    help: "Ports that may be contacted for titles and destination checks.",
    example: "80,443,8443",
    fallback: "80,443",
    parse: portList,
  }),
  QL_METRICS_TOKEN: setting({
    help: "Bearer token for /metrics. Without it, only direct requests from the same machine are answered.",
    example: "the output of: openssl rand -hex 32",
    parse: text(16, 1_000),
    secret: "all",
  }),
  QL_LOG_LEVEL: setting({
    help: "Log level: trace, debug, info, warn, error, fatal or silent.",
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
