import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf, OperatorError } from "../base/errors.ts";

/**
 * A backup is one file: an archive of named entries, in SQLite, with the secrets that the data needs. Entries are a
 * snapshot of the database, and uploaded files. Each is stored in pieces of 1 MB with its SHA-256, so that neither side
 * has more than a piece in memory, and corruption is detected.
 *
 * Entry names are looked up, never used as paths: the reader decides where an entry goes.
 */
export type BackupSecrets = Readonly<Record<string, string>>;

export interface Entry {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface ArchiveWriter {
  /** An entry that is not as expected, or cannot be read, is dropped entirely. */
  put(name: string, pieces: AsyncIterable<Uint8Array>, expected?: Omit<Entry, "name">): Promise<Entry | undefined>;
  /** Completes the backup. `about`: what a restore must know. */
  finish(secrets: BackupSecrets, about: BackupContents): void;
  close(): void;
}

export interface ArchiveReader {
  readonly about: BackupContents;
  readonly secrets: BackupSecrets;
  find(name: string): Entry | undefined;
  /** In the order of their names. */
  entries(): Iterable<Entry>;
  /** Throws at the end if the bytes are not those that were stored. */
  pieces(entry: Entry): Generator<Uint8Array>;
  close(): void;
}

export interface BackupContents {
  /** Whether it contains uploaded files, or why not. */
  readonly files: "included" | "left_out" | "in_bucket";
}

export const databaseEntry = "quicklink.sqlite";

/** Maximum size of a piece. */
export const pieceBytes = 1_048_576;

const format = "2";
const busyMs = 5_000;

/** A consistent copy of the database while servers keep writing, without remains of deleted rows. */
export function snapshot(path: string, draft: string): void {
  reserve(draft);
  const database = new Database(path, { readwrite: true, create: false });
  try {
    database.run(`pragma busy_timeout = ${busyMs}`);
    database.run("vacuum into ?", [draft]);
  } finally {
    database.close();
  }
  const copy = new Database(draft, { readwrite: true, create: false });
  try {
    requireWhole(copy, path);
    forgetVisitors(copy);
  } finally {
    copy.close();
  }
}

/** Who visited today, and the salts of their hashes, are for today only: a backup lives longer. */
function forgetVisitors(copy: Database): void {
  if (copy.query("select 1 from sqlite_schema where name = 'click_visitors'").get() === null) return; // an older schema
  copy.run("pragma secure_delete = on"); // overwritten with zeros
  copy.run("update click_days set salt = null where salt is not null");
  copy.run("delete from click_visitors");
}

/** Writes to `draft`, which must not exist; readable only by the owner. */
export function createArchive(draft: string): ArchiveWriter {
  reserve(draft);
  const archive = new Database(draft, { readwrite: true, create: false });
  // An interrupted draft is thrown away, so it needs no journal.
  for (const setting of ["journal_mode = off", "synchronous = off", "cache_size = -8000"]) {
    archive.run(`pragma ${setting}`);
  }
  archive.run("create table backup (name text primary key, value text not null) strict");
  archive.run("create table backup_secrets (name text primary key, value text not null) strict");
  archive.run(
    `create table backup_entries (
      name text primary key, bytes integer not null, sha256 text not null, first integer not null, pieces integer not null
    ) strict`,
  );
  archive.run("create table backup_pieces (id integer primary key, bytes blob not null) strict");
  archive.run("begin");
  const addPiece = archive.prepare("insert into backup_pieces (id, bytes) values (?, ?)");
  const addEntry = archive.prepare("insert into backup_entries values (?, ?, ?, ?, ?)");
  let next = 1;

  return {
    async put(name, pieces, expected) {
      const first = next;
      const hash = createHash("sha256");
      let bytes = 0;
      try {
        for await (const piece of pieces) {
          hash.update(piece);
          bytes += piece.length;
          addPiece.run(next++, piece);
        }
        const sha256 = hash.digest("hex");
        if (expected === undefined || (expected.bytes === bytes && expected.sha256 === sha256)) {
          addEntry.run(name, bytes, sha256, first, next - first);
          return { name, bytes, sha256 };
        }
      } catch (error) {
        archive.run("delete from backup_pieces where id >= ?", [first]);
        next = first;
        throw error;
      }
      archive.run("delete from backup_pieces where id >= ?", [first]);
      next = first;
      return undefined;
    },

    finish(secrets, about) {
      for (const [name, value] of Object.entries(secrets)) {
        archive.run("insert into backup_secrets values (?, ?)", [name, value]);
      }
      for (const [name, value] of Object.entries({ format, ...about })) {
        archive.run("insert into backup values (?, ?)", [name, value]);
      }
      archive.run("commit");
      this.close();
      syncToDisk(draft);
    },

    close() {
      addPiece.finalize();
      addEntry.finalize();
      archive.close(); // closing twice is no error
    },
  };
}

/** Only a completed one. */
export function openArchive(path: string): ArchiveReader {
  const archive = openBackup(path);
  const text = (table: string): Record<string, string> =>
    Object.fromEntries(
      archive
        .query<{ name: string; value: string }, []>(`select name, value from ${table}`)
        .all()
        .map(({ name, value }) => [name, value]),
    );
  type Row = Entry & { first: number; pieces: number };
  const entryOf = archive.query<Row, [string]>("select * from backup_entries where name = ?");
  const after = archive.query<Row, [string]>("select * from backup_entries where name > ? order by name limit 1");
  const pieceOf = archive.query<{ bytes: Uint8Array }, [number]>("select bytes from backup_pieces where id = ?");

  return {
    about: { files: aboutFiles(text("backup").files) },
    secrets: text("backup_secrets"),
    find: (name) => entryOf.get(name) ?? undefined,
    *entries() {
      for (let row = after.get(""); row !== null; row = after.get(row.name)) yield row;
    },
    *pieces({ name, bytes, sha256 }) {
      const row = entryOf.get(name);
      const hash = createHash("sha256");
      let read = 0;
      for (let i = 0; row !== null && i < row.pieces; i++) {
        const piece = pieceOf.get(row.first + i)?.bytes;
        if (piece === undefined) break;
        hash.update(piece);
        read += piece.length;
        yield piece;
      }
      if (read === bytes && hash.digest("hex") === sha256) return;
      throw new OperatorError(`The backup is damaged: ${name} does not match its checksum. Use another backup.`);
    },
    close: () => archive.close(),
  };
}

const aboutFiles = (text: string | undefined): BackupContents["files"] =>
  text === "included" || text === "in_bucket" ? text : "left_out";

function openBackup(path: string): Database {
  const notOne = "Not a file created by `quicklink backup`";
  let archive: Database | undefined;
  try {
    archive = new Database(path, { readonly: true });
    if (archive.query("select 1 from sqlite_schema where name = 'backup'").get() !== null) {
      const found = archive.query<{ value: string }, []>("select value from backup where name = 'format'").get();
      if (found?.value === format) return archive;
      archive.close();
      const state = found === null ? "is incomplete" : "was created by another version of QuickLink";
      throw new OperatorError(`This backup ${state}.`);
    }
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    archive?.close();
    throw new OperatorError(`${notOne}, or it is damaged: ${messageOf(error)}`);
  }
  archive.close();
  throw new OperatorError(`${notOne}.`);
}

/** Turns the snapshot of a backup into a database to serve from. */
export function prepareSnapshot(path: string, codesSkipped: number): void {
  const database = new Database(path, { readwrite: true, create: false });
  try {
    requireWhole(database, "The database in the backup");
    // Codes issued after the backup are in use: no other link may get them.
    database.run("update counters set next = next + ? where name = 'codes'", [codesSkipped]);
  } finally {
    database.close();
  }
  syncToDisk(path);
}

function requireWhole(database: Database, name: string): void {
  const [first] = database.query<{ integrity_check: string }, []>("pragma integrity_check(1)").all();
  if (first?.integrity_check === "ok") return;
  throw new OperatorError(`${name} is damaged: ${first?.integrity_check}. Use another backup.`);
}

/** Creates an empty file that only the owner can read. */
function reserve(path: string): void {
  writeFileSync(path, "", { mode: 0o600, flag: "wx" });
}

/** Including its name: a crash of the machine must not lose what we reported as written. */
export function syncToDisk(path: string): void {
  for (const each of [path, dirname(path)]) {
    const file = openSync(each, "r");
    fsyncSync(file);
    closeSync(file);
  }
}

/** Merges everything beside the database into it, so that it is one file that can be moved. */
export function foldIntoOneFile(path: string): void {
  const database = new Database(path, { readwrite: true, create: false });
  try {
    database.run(`pragma busy_timeout = ${busyMs}`);
    database.run("pragma journal_mode = delete");
  } finally {
    database.close();
  }
}
