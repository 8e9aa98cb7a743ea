import { join } from "node:path";
import { version } from "../package.json";
import { type Blocklist, createBlocklist } from "./abuse/blocklist.ts";
import { createReports, type Reports } from "./abuse/reports.ts";
import { createSuspensions, type Suspensions } from "./abuse/suspensions.ts";
import { type Clock, systemClock } from "./base/clock.ts";
import { messageOf, OperatorError } from "./base/errors.ts";
import type { PersonId } from "./base/ids.ts";
import type { Logger } from "./base/log.ts";
import { createPasswords, type Passwords } from "./base/passwords.ts";
import { createResources, type Resources } from "./base/resources.ts";
import { createRing, type Ring } from "./base/seal.ts";
import { createSigningKeys, type SigningKeys } from "./base/signature.ts";
import { saltKey } from "./base/signing-keys.ts";
import { type Cache, createCache, type Source } from "./cache/cache.ts";
import type { Publish } from "./cache/feed.ts";
import { uncounted } from "./cache/hit-counts.ts";
import { createCodes } from "./codes/codes.ts";
import { createIssuer } from "./codes/issuer.ts";
import type { Config } from "./config/config.ts";
import { prepareDataFolder, withSecrets } from "./config/data-folder.ts";
import { createDomains, type Domains } from "./domains/domains.ts";
import { createDomainStore } from "./domains/store.ts";
import { createEvidence } from "./domains/verify.ts";
import { createDisk } from "./files/storage/disk.ts";
import type { Storage } from "./files/storage/storage.ts";
import { createTokens } from "./files/storage/tokens.ts";
import { createHealthStore, type HealthStore } from "./link-health/store.ts";
import { createLinks, type Links } from "./links/links.ts";
import { createLinkPast, type LinkPast } from "./links/past/link-history.ts";
import { createLinkStore, type LinkStore } from "./links/store.ts";
import { createTrashStore, type TrashStore } from "./links/trash/trash-store.ts";
import { accessSource, type PersonAccess, sizeOfAccess } from "./people/access.ts";
import { createPeople, type People } from "./people/people.ts";
import { createSessions, type Sessions } from "./people/sessions.ts";
import { createSetUp, type SetUp } from "./people/sign-in/setup.ts";
import { createPersonTokens, type PersonTokens } from "./people/tokens.ts";
import { createDns } from "./safe-fetch/dns.ts";
import { createSafeFetch, type SafeFetch } from "./safe-fetch/safe-fetch.ts";
import { firstFingerprint, requireSalt, takeCodeBlock } from "./sql/code-counter.ts";
import { tryLockFolder } from "./sql/folder-lock.ts";
import { migrate, requireCurrentSchema, schemaState } from "./sql/migrate.ts";
import type { PostgresOptions } from "./sql/postgres.ts";
import { type Sql, statementMs } from "./sql/sql.ts";
import type { SqliteOptions } from "./sql/sqlite.ts";
import { type ApiKey, createKeys, type KeyHash, type Keys, keySource, sizeOfKey } from "./tenants/keys.ts";
import { createTenants, type Tenants } from "./tenants/tenants.ts";

/** What the server, its background thread and the command line share: SQL and the subjects on top of it. */
export interface Core {
  readonly config: Config;
  readonly sql: Sql;
  readonly tenants: Tenants;
  readonly keys: Keys;
  /** What decides about people: their account, sessions and memberships. */
  readonly access: Cache<PersonAccess, PersonId>;
  /** API keys that were used, by their hash. */
  readonly knownKeys: Cache<ApiKey, KeyHash>;
  readonly sessions: Sessions;
  readonly people: People;
  readonly personTokens: PersonTokens;
  readonly setUp: SetUp;
  readonly store: LinkStore;
  readonly links: Links;
  readonly trash: TrashStore;
  readonly past: LinkPast;
  readonly targets: HealthStore;
  readonly suspensions: Suspensions;
  readonly blocklist: Blocklist;
  readonly reports: Reports;
  readonly domains: Domains;
  /** For addresses named by strangers. */
  readonly safeFetch: SafeFetch;
  readonly passwords: Passwords;
  /** Resources shared by all callers of this process. */
  readonly resources: Resources;
  readonly storage: Storage;
  readonly clock: Clock;
  /** Signs URLs, cursors and password sessions. */
  readonly signing: SigningKeys;
  /**
   * A secret for hashes that are used for a day at most: the same on every server, and a different one after a key
   * rotation.
   */
  secretFor(purpose: string): Uint8Array;
  /**
   * For hashes that must never change. Derived from the database alone, so it is no secret to anyone who can read that.
   */
  readonly hashKey: Uint8Array;
  /** Encrypts tenants' secrets. `undefined` if the operator has set no keys. */
  readonly ring: Ring | undefined;
  close(): Promise<void>;
}

export interface CoreOptions {
  readonly log: Logger;
  readonly publish?: Publish;
  /** Some connections are reserved for lookups, see `openLookups`; on SQLite, other threads move the log. */
  readonly serves?: boolean;
  /** The caller holds the data folder's lock, so that no server uses it. */
  readonly lockHeld?: boolean;
  /** Asked before each statement on SQLite; once true, work ends there. */
  readonly isStopping?: () => boolean;
  /** For a thread that does long work: see `sql/turns.ts`. */
  readonly givesWay?: boolean;
}

export async function openCore(config: Config, options: CoreOptions): Promise<Core> {
  const clock = systemClock;
  if (config.embedded) prepareDataFolder(config);
  const secrets = config.embedded ? withSecrets(config) : config;
  const { QL_CODE_SALT: salt = "", QL_SECRET_KEYS: keys } = secrets;
  const dividesPool = options.serves && config.DATABASE_REPLICA_URL === undefined; // lookups use the replica
  const connections = dividesPool ? otherConnections(config) : config.QL_DATABASE_POOL;
  const { isStopping, serves = false, givesWay = false } = options;
  const sql = await openSql(config, options.log, {
    ...{ connections, givesWay, leavesLog: serves },
    ...(isStopping && { isStopping }),
  });
  try {
    if (config.embedded) await migrateEmbedded(config, sql, options.lockHeld ?? false);
    else await requireCurrentSchema(sql);
    const codes = createCodes(salt);
    await requireSalt(sql, codes.fingerprint, clock);
    const store = createLinkStore(sql);
    const [trash, past, targets] = [createTrashStore(sql), createLinkPast(sql), createHealthStore(sql)];
    const blocklist = createBlocklist({ path: config.QL_BLOCKLIST, clock, log: options.log });
    const publish = options.publish ?? (() => {});
    const dns = createDns(config.QL_DNS_SERVERS);
    const safeFetch = createSafeFetch({
      allow: config.QL_FETCH_ALLOW,
      ports: config.QL_FETCH_PORTS,
      userAgent: `QuickLink/${version} (+${config.baseUrl})`,
      resolve: dns.addresses,
    });
    const resources = createResources({ embedded: config.embedded, pool: config.QL_DATABASE_POOL });
    const passwords = createPasswords(resources.passwords);
    const access = openCallers<PersonAccess, PersonId>(config, clock, accessSource(sql), sizeOfAccess);
    const knownKeys = openCallers<ApiKey, KeyHash>(config, clock, keySource(sql), sizeOfKey);
    const sessions = createSessions({ sql, clock, access, publish });
    const personTokens = createPersonTokens(clock);
    const people = createPeople({ sql, clock, sessions, tokens: personTokens });
    const signing = createSigningKeys(secrets.QL_SIGNING_KEYS ?? [saltKey(salt)], clock);
    return {
      config,
      sql,
      clock,
      store,
      tenants: createTenants(sql, clock, publish),
      targets,
      trash,
      past,
      suspensions: createSuspensions(sql, clock, publish),
      blocklist,
      reports: createReports(sql, clock),
      keys: createKeys({ sql, clock, known: knownKeys, publish }),
      access,
      knownKeys,
      sessions,
      people,
      personTokens,
      setUp: createSetUp({ sql, clock, people, tokens: personTokens }),
      passwords,
      resources,
      links: createLinks({
        ...{ store, trash, past },
        restored: ({ id }) => targets.checkSoon(id, clock.now()),
        passwords,
        issuer: createIssuer(codes, (size) => takeCodeBlock(sql, size), config.QL_CODE_BLOCK),
        clock,
        ownHosts: ownHosts(config),
        isBlocked: blocklist.isBlocked,
        defaultDays: config.QL_LINK_DAYS,
        publish,
      }),
      domains: createDomains({
        store: createDomainStore(sql),
        trash,
        evidence: createEvidence({ texts: dns.texts, page: (url) => pageOf(safeFetch, url) }),
        outgoing: resources.outgoing,
        ownHosts: ownHosts(config),
        isBlocked: blocklist.isBlocked,
        clock,
        publish,
      }),
      safeFetch,
      storage: await openStorage(config, signing, clock),
      signing,
      secretFor: (purpose) => signing.secretsFor(purpose).newest,
      hashKey: Buffer.from(await firstFingerprint(sql)),
      ring: keys && createRing(keys),
      close: () => sql.close(),
    };
  } catch (error) {
    await sql.close();
    throw error;
  }
}

const callerBytes = 8 * 1_048_576;

/**
 * What lets somebody in. When the database cannot say whether it still does, nobody is let in: `staleMs`. A call waits as long
 * as for its own statements, which are not a visitor's 100 ms.
 */
const openCallers = <Value extends object, Key extends string>(
  { wait }: Config,
  clock: Clock,
  source: Source<Value>,
  sizeOf: (value: Value) => number,
): Cache<Value, Key> =>
  createCache<Value, Key>({
    ...{ source, clock, counts: uncounted(), sizeBytes: callerBytes, sizeOf, staleMs: 0 },
    wait: { ...wait, sql: Math.max(wait.sql, statementMs) },
  });

async function pageOf(safeFetch: SafeFetch, url: string): Promise<string | undefined> {
  const answer = await safeFetch.fetch("GET", url);
  return answer.kind === "answered" && answer.status === 200 ? new TextDecoder().decode(answer.body) : undefined;
}

/** Does not connect yet. */
async function openStorage(config: Config, signing: SigningKeys, clock: Clock): Promise<Storage> {
  if (config.S3_URL !== undefined)
    return (await import("./files/storage/s3.ts")).createS3({ bucket: config.S3_URL, clock });
  const tokens = createTokens(signing.signerFor("files"), clock);
  return createDisk({ root: config.filesFolder, baseUrl: config.baseUrl, tokens });
}

/** The driver of the other database is not loaded. */
export async function openSql(
  config: Config,
  log: Logger,
  options: SqliteOptions & { readonly connections?: number; readonly patient?: boolean } = {},
): Promise<Sql> {
  const { DATABASE_URL: url } = config;
  const { connections = config.QL_DATABASE_POOL, patient = false } = options;
  if (url !== undefined) return openAt("DATABASE_URL", url, log, { connections, patient });
  prepareDataFolder(config);
  const { openSqlite } = await import("./sql/sqlite.ts");
  return openSqlite(databasePath(config), "full", options);
}

/** Of SQLite. */
export const databasePath = ({ QL_DATA }: Config): string => join(QL_DATA, "quicklink.sqlite");

/** On SQLite, connections of the server whose commits do not wait for the disk: safe through kill -9, not through a power cut. */
export async function openUnforced({ config, sql }: Core): Promise<Sql> {
  if (!config.embedded) return sql;
  const { openSqlite } = await import("./sql/sqlite.ts");
  return openSqlite(databasePath(config), "normal", { leavesLog: true });
}

/** Looks up links and counts hits. On SQLite the same, on one connection. */
export async function openVisits({ config, sql }: Core): Promise<Sql> {
  if (!config.embedded) return sql;
  const { openSqlite } = await import("./sql/sqlite.ts");
  return openSqlite(databasePath(config), "normal", { leavesLog: true, oneConnection: true });
}

/** The replica of this region, if there is one. */
export async function openReplica(config: Config, log: Logger): Promise<Sql | undefined> {
  const { DATABASE_REPLICA_URL: url } = config;
  if (url === undefined) return undefined;
  return await openAt("DATABASE_REPLICA_URL", url, log, { connections: otherConnections(config) });
}

/** The connections of a server that only lookups use; a single connection is not divided. */
export const lookupConnections = ({ QL_DATABASE_POOL: all }: Config): number => Math.max(1, Math.floor(all / 2));
/** Of those, open whether or not anybody comes. A lookup is for up to 256 links, so a crowd needs no more at once. */
export const lookupsKeptOpen = (config: Config): number => Math.min(lookupConnections(config), 10);
const otherConnections = (config: Config): number => Math.max(1, config.QL_DATABASE_POOL - lookupConnections(config));

/**
 * The same database with connections for lookups only: however slow they are, they take none from writes and the feed,
 * nor the other way round. A lookup may take a second there; visitors wait for less.
 */
export async function openLookups(config: Config, sql: Sql, log: Logger): Promise<Sql> {
  const url = config.DATABASE_REPLICA_URL ?? config.DATABASE_URL;
  if (url === undefined || config.QL_DATABASE_POOL === 1) return sql;
  const { openPostgres } = await import("./sql/postgres.ts");
  return openPostgres(
    url,
    {
      connections: lookupConnections(config),
      keptOpen: lookupsKeptOpen(config),
      statementMs: lookupMs,
      name: "quicklink lookups",
    },
    log,
  );
}

const lookupMs = 1_000;

async function openAt(name: string, url: string, log: Logger, options: PostgresOptions): Promise<Sql> {
  const { openPostgres } = await import("./sql/postgres.ts");
  const sql = openPostgres(url, options, log);
  try {
    await sql.ping();
    return sql;
  } catch (error) {
    await sql.close();
    throw new OperatorError(
      `Cannot use PostgreSQL: ${messageOf(error)}.\n  Check ${name}, and that the server is running and has this database.`,
    );
  }
}

async function migrateEmbedded(config: Config, sql: Sql, lockHeld: boolean): Promise<void> {
  if ((await schemaState(sql)).pending.length === 0) return requireCurrentSchema(sql);
  if (lockHeld) {
    await migrate(sql);
    return;
  }
  // A running server must not find its tables changed.
  const lock = tryLockFolder(config.QL_DATA);
  if (!lock) {
    throw new OperatorError("A server of an older version is running on this data folder. Stop it, then try again.", 2);
  }
  try {
    await migrate(sql);
  } finally {
    lock.release();
  }
}

/** The public host, and the names used on the machine itself. */
function ownHosts(config: Config): Set<string> {
  const local = ["localhost", "127.0.0.1", "[::1]"].map((host) => new URL(`http://${host}:${config.PORT}`).host);
  const { host, port } = new URL(config.baseUrl);
  const others = config.QL_HOSTS.flatMap((name) => (port === "" ? [name] : [name, `${name}:${port}`]));
  return new Set([host, ...others, ...local]);
}
