/** The databases on which every store must behave alike. PostgreSQL is left out only if it is not installed. */
import { afterAll, afterEach, describe } from "bun:test";
import { join } from "node:path";
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

const poolSize = 8;
const log = createLog("silent", { write() {} }, false, systemClock.now);

const places: readonly (readonly [name: string, create: () => Promise<Place>])[] = [
  [
    "SQLite",
    async () => {
      const path = join(tempFolder("sqlite"), "quicklink.sqlite");
      return { connect: () => openSqlite(path) };
    },
  ],
  ...(postgresAvailable()
    ? [
        [
          "PostgreSQL",
          async () => {
            const url = await (await sharedPostgres()).createDatabase("conformance");
            return { connect: () => openPostgres(url, { connections: poolSize }, log) };
          },
        ] as const,
      ]
    : []),
];

export const databases: readonly TestDatabase[] = places.map(([name, create]) => ({
  name,
  create,
  async open() {
    const sql = (await create()).connect();
    await migrate(sql);
    await addTwin(sql);
    return watched(sql);
  },
}));

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
  for (const { name, create } of databases) {
    describe(name, () => {
      const opened: Sql[] = [];
      const withTwin = new Set<Sql>();
      afterEach(async () => {
        for (const sql of withTwin) await requireUntouchedTwin(sql);
      });
      afterAll(async () => {
        await Promise.all(opened.map((sql) => sql.close()));
      });

      async function createTracked(): Promise<Place> {
        const place = await create();
        return {
          connect() {
            const sql = place.connect();
            opened.push(sql);
            return sql;
          },
        };
      }

      async function openTwo(): Promise<readonly [Sql, Sql]> {
        const place = await createTracked();
        const sql = place.connect();
        await migrate(sql);
        await addTwin(sql);
        withTwin.add(sql);
        return [watched(sql, () => withTwin.delete(sql)), place.connect()];
      }

      suite({ name, create: createTracked, openTwo, open: async () => (await openTwo())[0] });
    });
  }
}
