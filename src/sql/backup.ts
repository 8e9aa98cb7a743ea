import { Database } from "bun:sqlite";
import { closeSync, fsyncSync, openSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf, OperatorError } from "../base/errors.ts";

/**
 * A backup of the embedded database is one file: the database as it was at one moment, and in a table of its own the
 * secrets without which it is of no use. `vacuum into` reads that moment while servers go on writing, and leaves no trace
 * of rows that were deleted before.
 */
export type Secrets = Readonly<Record<string, string>>;

const table = "backup_secrets";
const busyMs = 5_000;

/** Writes to `draft`, which must not be there; nobody else can read it. Nothing is changed in the database itself. */
export function writeBackup(path: string, draft: string, secrets: Secrets): void {
  writeFileSync(draft, "", { mode: 0o600, flag: "wx" });
  const database = new Database(path, { readwrite: true, create: false });
  try {
    database.run(`pragma busy_timeout = ${busyMs}`);
    database.run("vacuum into ?", [draft]);
  } finally {
    database.close();
  }
  const copy = new Database(draft, { readwrite: true, create: false });
  try {
    copy.run(`create table ${table} (name text primary key, value text not null) strict`);
    for (const [name, value] of Object.entries(secrets)) copy.run(`insert into ${table} values (?, ?)`, [name, value]);
    requireWhole(copy, draft);
  } finally {
    copy.close();
  }
  toDisk(draft);
}

/** Makes the copy of a backup at `draft` a database to serve from, and answers the secrets that were in it. */
export function unpackBackup(draft: string, codesSkipped: number): Secrets {
  const database = openBackup(draft);
  try {
    requireWhole(database, "The backup");
    const secrets = database.query<{ name: string; value: string }, []>(`select name, value from ${table}`).all();
    database.run(`drop table ${table}`);
    // Codes that were given out after the backup are out in the world: no other link may get them.
    database.run("update counters set next = next + ? where name = 'codes'", [codesSkipped]);
    return Object.fromEntries(secrets.map(({ name, value }) => [name, value]));
  } finally {
    database.close();
    toDisk(draft);
  }
}

function openBackup(path: string): Database {
  const notOne = "This is no backup that `quicklink backup` has made";
  let database: Database | undefined;
  try {
    database = new Database(path, { readwrite: true, create: false });
    const found = database.query("select 1 from sqlite_schema where name = ?").get(table);
    if (found !== null) return database;
  } catch (error) {
    database?.close();
    throw new OperatorError(`${notOne}, or it is damaged: ${messageOf(error)}`);
  }
  database.close();
  throw new OperatorError(`${notOne}.`);
}

function requireWhole(database: Database, name: string): void {
  const [first] = database.query<{ integrity_check: string }, []>("pragma integrity_check(1)").all();
  if (first?.integrity_check === "ok") return;
  throw new OperatorError(`${name} is damaged: ${first?.integrity_check}. Use another one.`);
}

/** With its name: a crash of the machine must not take away what we said is there. */
function toDisk(path: string): void {
  for (const each of [path, dirname(path)]) {
    const file = openSync(each, "r");
    fsyncSync(file);
    closeSync(file);
  }
}

/** Everything that is still beside the database goes into it, so that it is one file that can be moved. */
export function settleDatabase(path: string): void {
  const database = new Database(path, { readwrite: true, create: false });
  try {
    database.run(`pragma busy_timeout = ${busyMs}`);
    database.run("pragma journal_mode = delete");
  } finally {
    database.close();
  }
}
