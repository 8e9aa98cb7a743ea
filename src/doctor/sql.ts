import { existsSync } from "node:fs";
import { join } from "node:path";
import { sql as raw } from "kysely";
import { systemClock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import { createCodes } from "../codes/codes.ts";
import type { Config } from "../config/config.ts";
import { openReplica, openSql } from "../core.ts";
import { latestEpoch } from "../sql/code-counter.ts";
import { schemaState } from "../sql/migrate.ts";
import type { Sql } from "../sql/sql.ts";
import { type Check, clockFinding, type Finding, fail, ok } from "./finding.ts";
import { jobsOf } from "./jobs.ts";
import { connections, encoding, replicaOf } from "./postgres.ts";

const reach = "database";
const schema = "database schema";

export const checkDatabase: Check = async (config) => {
  const silent = createLog("silent", { write() {} }, false, systemClock.now);
  if (config.embedded && !existsSync(join(config.QL_DATA, "quicklink.sqlite"))) {
    return [ok(reach, "none yet; the first start creates it")];
  }
  const onPostgres = config.embedded ? [] : [encoding, connections(config)];
  return examine(reach, () => openSql(config, silent), [
    reached(config),
    schemaOf(config),
    saltOf(config),
    clockOf(config),
    jobsOf,
    ...onPostgres,
    (primary) => examine("database replica", () => openReplica(config, silent), [replicaOf(primary)]),
  ]);
};

type Look = (sql: Sql) => Promise<Finding[]>;

async function examine(name: string, open: () => Promise<Sql | undefined>, looks: readonly Look[]): Promise<Finding[]> {
  let opened: Sql | undefined;
  try {
    opened = await open();
    const findings: Finding[] = [];
    if (opened) for (const look of looks) findings.push(...(await look(opened)));
    return findings;
  } catch (error) {
    return [fail(name, error, "Start the database, or fix its address. Nothing works without it.")];
  } finally {
    await opened?.close();
  }
}

const reached =
  ({ embedded }: Config): Look =>
  async ({ ping }) => {
    const started = systemClock.elapsed();
    await ping();
    const ms = (systemClock.elapsed() - started).toFixed(1);
    return [ok(reach, `${embedded ? "SQLite" : "PostgreSQL"} answers in ${ms} ms`)];
  };

const schemaOf =
  ({ embedded }: Config): Look =>
  async (database) => {
    const { pending, unknown } = await schemaState(database);
    if (unknown.length > 0) {
      return [
        fail(
          schema,
          `newer than this program: it contains ${unknown.join(", ")}`,
          "Run the newer version of QuickLink.",
        ),
      ];
    }
    if (pending.length === 0) return [ok(schema, "up to date")];
    const found = `missing: ${pending.join(", ")}`;
    return [embedded ? ok(schema, `${found}; the next start adds it`) : fail(schema, found, "Run: quicklink migrate")];
  };

/** Codes belong to one salt, and a server with another salt is refused. */
const saltOf =
  ({ embedded, QL_CODE_SALT: salt }: Config): Look =>
  async (database) => {
    if (!(await schemaState(database)).applied.includes("0001-foundation")) return [];
    const epoch = await latestEpoch(database);
    if (epoch === undefined) return [];
    if (salt !== undefined && createCodes(salt).fingerprint === epoch.fingerprint) {
      return [ok("code salt", "matches this database")];
    }
    const lost = embedded ? "Restore secrets/QL_CODE_SALT in QL_DATA from a backup, or set" : "Set";
    const advice = `${lost} QL_CODE_SALT to the salt the database was created with. If it is lost, run once: quicklink codes rotate`;
    const found = salt === undefined ? "is missing: the database was created with one" : "does not match this database";
    return [fail("code salt", found, advice)];
  };

/** SQLite uses this machine's clock. */
const clockOf =
  ({ embedded }: Config): Look =>
  async ({ db, now }) => {
    if (embedded) return [];
    const asked = systemClock.now();
    const { rows } = await raw<{ now: number }>`select ${now} as now`.execute(db);
    return [clockFinding("database clock", Number(rows[0]?.now) - (asked + systemClock.now()) / 2)];
  };
