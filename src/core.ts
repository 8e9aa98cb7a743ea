import { createHmac } from "node:crypto";
import { join } from "node:path";
import { type Clock, systemClock } from "./base/clock.ts";
import { messageOf, OperatorError } from "./base/errors.ts";
import type { Logger } from "./base/log.ts";
import { createCodes } from "./codes/codes.ts";
import { createIssuer } from "./codes/issuer.ts";
import { type Config, prepareDataFolder, withSecrets } from "./config.ts";
import { createLinks, type Links } from "./links/links.ts";
import { createLinkStore, type LinkStore } from "./links/store.ts";
import { requireSalt, takeCodeBlock } from "./sql/counter.ts";
import { tryLockFolder } from "./sql/folder-lock.ts";
import { migrate, requireCurrentSchema, schemaState } from "./sql/migrate.ts";
import type { Sql } from "./sql/sql.ts";
import { createKeys, type Keys } from "./tenants/keys.ts";
import { createTenants, type Tenants } from "./tenants/tenants.ts";

/** What the server, its background thread and the command line have in common: SQL and the subjects on top of it. */
export interface Core {
  readonly config: Config;
  readonly sql: Sql;
  readonly tenants: Tenants;
  readonly keys: Keys;
  readonly store: LinkStore;
  readonly links: Links;
  readonly clock: Clock;
  /** A secret for one purpose, the same on every server of this database; the salt itself stays here. */
  secretFor(purpose: string): Uint8Array;
  close(): Promise<void>;
}

export interface CoreOptions {
  readonly log: Logger;
  /** Told after each commit, for whoever keeps a copy. */
  readonly changed?: (domain: string, code: string, version: number) => void;
  /** The caller holds the data folder's lock, so that nobody is serving from it. */
  readonly lockHeld?: boolean;
}

export async function openCore(config: Config, options: CoreOptions): Promise<Core> {
  const clock = systemClock;
  if (config.embedded) prepareDataFolder(config);
  const salt = (config.embedded ? withSecrets(config) : config).QL_CODE_SALT ?? "";
  const sql = await openSql(config, options.log);
  try {
    if (config.embedded) await migrateEmbedded(config, sql, options.lockHeld ?? false);
    else await requireCurrentSchema(sql);
    const codes = createCodes(salt);
    await requireSalt(sql, codes.fingerprint, clock);
    const store = createLinkStore(sql);
    return {
      config,
      sql,
      clock,
      store,
      tenants: createTenants(sql, clock),
      keys: createKeys(sql, clock),
      links: createLinks({
        store,
        issuer: createIssuer(codes, (size) => takeCodeBlock(sql, size), config.QL_CODE_BLOCK),
        clock,
        ownHosts: ownHosts(config),
        defaultDays: config.QL_LINK_DAYS,
        changed: options.changed ?? (() => {}),
      }),
      secretFor: (purpose) => createHmac("sha256", salt).update(purpose).digest(),
      close: () => sql.close(),
    };
  } catch (error) {
    await sql.close();
    throw error;
  }
}

/** The driver of the other database is not even loaded. */
export async function openSql(config: Config, log: Logger, patient = false): Promise<Sql> {
  if (config.DATABASE_URL !== undefined) return openAt(config, "DATABASE_URL", config.DATABASE_URL, log, patient);
  prepareDataFolder(config);
  const { openSqlite } = await import("./sql/sqlite.ts");
  return openSqlite(join(config.QL_DATA, "quicklink.sqlite"));
}

/** On SQLite one whose commits do not wait for the disk: safe through kill -9, not through a power cut. */
export async function openUnforced({ config, sql }: Core): Promise<Sql> {
  if (!config.embedded) return sql;
  const { openSqlite } = await import("./sql/sqlite.ts");
  return openSqlite(join(config.QL_DATA, "quicklink.sqlite"), "normal");
}

/** What this region reads from, if that is not where everything is written. */
export async function openReplica(config: Config, log: Logger): Promise<Sql | undefined> {
  const url = config.DATABASE_REPLICA_URL;
  return url === undefined ? undefined : await openAt(config, "DATABASE_REPLICA_URL", url, log, false);
}

async function openAt(config: Config, name: string, url: string, log: Logger, patient: boolean): Promise<Sql> {
  const { openPostgres } = await import("./sql/postgres.ts");
  const sql = openPostgres(url, config.QL_DATABASE_POOL, log, patient);
  try {
    await sql.ping();
    return sql;
  } catch (error) {
    await sql.close();
    throw new OperatorError(
      `PostgreSQL cannot be used: ${messageOf(error)}.\n  Check ${name}, and that the server is running and has this database.`,
    );
  }
}

async function migrateEmbedded(config: Config, sql: Sql, lockHeld: boolean): Promise<void> {
  if ((await schemaState(sql)).pending.length === 0) return requireCurrentSchema(sql);
  if (lockHeld) {
    await migrate(sql);
    return;
  }
  // A running server must not find its tables changed under it.
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

/** As people see it, and as somebody on the machine itself would write it. */
function ownHosts(config: Config): Set<string> {
  const local = ["localhost", "127.0.0.1", "[::1]"].map((host) => new URL(`http://${host}:${config.PORT}`).host);
  return new Set([new URL(config.baseUrl).host, ...local]);
}
