/** The databases on which every store must behave alike. PostgreSQL is left out only if it is not installed. */
import { afterAll, afterEach, describe } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { sql as raw } from "kysely";
import { systemClock } from "../../src/base/clock.ts";
import { createLog } from "../../src/base/log.ts";
import { migrate } from "../../src/sql/migrate.ts";
import { openPostgres } from "../../src/sql/postgres.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { openSqlite } from "../../src/sql/sqlite.ts";
import { postgresAvailable, sharedPostgres } from "../ground/postgres.ts";
import { tempFolder } from "../ground/temp.ts";
import { addTwin, requireUntouchedTwin } from "./two-tenants.ts";

export interface Place {
  /** A path or a URL, for another process. */
  readonly address: string;
  /** Another client of the same database, as another process would be. */
  connect(): Sql;
}

export interface TestDatabase {
  readonly name: string;
  /** A new database with no table in it. */
  create(): Promise<Place>;
  /** A new database with the tables of today, and a second tenant in them: see `two-tenants.ts`. */
  open(): Promise<Sql>;
}

interface Kind {
  readonly name: string;
  create(): Promise<Place>;
  /** With the tables of today and the twin: a copy of one that was made once. */
  createWithTwin(): Promise<Place>;
}

const poolSize = 8;
const log = createLog("silent", { write() {} }, false, systemClock.now);

async function fill(sql: Sql): Promise<void> {
  await migrate(sql);
  await addTwin(sql);
  await sql.close();
}

const newFile = (): string => join(tempFolder("sqlite"), "quicklink.sqlite");
/** Without waiting for the disk: a test kills processes and no machines. */
const open = (path: string): Sql => openSqlite(path, "normal");
const fileAt = (path: string): Place => ({ address: path, connect: () => open(path) });
let filledFile: Promise<string> | undefined;

async function fillFile(): Promise<string> {
  const path = newFile();
  await fill(open(path));
  return path;
}

const sqlite: Kind = {
  name: "SQLite",
  create: async () => fileAt(newFile()),
  async createWithTwin() {
    filledFile ??= fillFile();
    const path = newFile();
    copyFileSync(await filledFile, path);
    return fileAt(path);
  },
};

/** The database at the address of a `Place`. */
export const connectAt = (address: string): Sql =>
  address.startsWith("postgres") ? connectTo(address) : open(address);

const connectTo = (url: string): Sql => openPostgres(url, { connections: poolSize }, log);
const databaseAt = (url: string): Place => ({ address: url, connect: () => connectTo(url) });

const postgres: Kind = {
  name: "PostgreSQL",
  create: async () => databaseAt(await (await sharedPostgres()).createDatabase("conformance")),
  async createWithTwin() {
    const filled = (url: string) => fill(connectTo(url));
    return databaseAt(await (await sharedPostgres()).createFilled("with_twin", filled, "conformance"));
  },
};

const kinds: readonly Kind[] = postgresAvailable() ? [sqlite, postgres] : [sqlite];

export const databases: readonly TestDatabase[] = kinds.map(({ name, create, createWithTwin }) => ({
  name,
  create,
  open: async () => watched(await connected(await createWithTwin())),
}));

/** With a connection in its pool already, so that what a case starts first does not wait for one and come second. */
async function connected(place: Place): Promise<Sql> {
  const sql = place.connect();
  await raw`select 1`.execute(sql.db);
  return sql;
}

/** The same, but closing it fails if the twin was touched. */
function watched(sql: Sql, closed: () => void = () => {}): Sql {
  return {
    ...sql,
    async close() {
      closed();
      await requireUntouchedTwin(sql);
      await sql.close();
    },
  };
}

export interface OpenDatabases {
  readonly name: string;
  /** A new empty database. */
  create(): Promise<Place>;
  /** Two clients of one new database with the tables of today, and a second tenant in them: see `two-tenants.ts`. */
  openTwo(): Promise<readonly [Sql, Sql]>;
  open(): Promise<Sql>;
}

/** Runs the suite once for each database, and closes whatever it opened. */
export function onEachDatabase(suite: (database: OpenDatabases) => void): void {
  for (const { name, create, createWithTwin } of kinds) {
    describe(name, () => {
      const opened: Sql[] = [];
      const withTwin = new Set<Sql>();
      afterEach(async () => {
        for (const sql of withTwin) await requireUntouchedTwin(sql);
      });
      afterAll(async () => {
        await Promise.all(opened.map((sql) => sql.close()));
      });

      function tracked(place: Place): Place {
        return {
          address: place.address,
          connect() {
            const sql = place.connect();
            opened.push(sql);
            return sql;
          },
        };
      }

      async function openTwo(): Promise<readonly [Sql, Sql]> {
        const place = tracked(await createWithTwin());
        const sql = await connected(place);
        withTwin.add(sql);
        return [watched(sql, () => withTwin.delete(sql)), place.connect()];
      }

      suite({ name, create: async () => tracked(await create()), openTwo, open: async () => (await openTwo())[0] });
    });
  }
}
