import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { systemClock } from "../base/clock.ts";
import { messageOf, OperatorError } from "../base/errors.ts";
import { createCodes } from "../codes/codes.ts";
import type { Config } from "../config/config.ts";
import { openSql } from "../core.ts";
import { type Archived, archiveFiles, bytesOfAllTenants, markDeleted, piecesOf } from "../files/archive.ts";
import {
  type BackupContents,
  type BackupSecrets,
  createArchive,
  databaseEntry,
  foldIntoOneFile,
  snapshot,
  syncToDisk,
} from "../sql/backup.ts";
import { latestEpoch } from "../sql/code-counter.ts";
import { openSqlite } from "../sql/sqlite.ts";
import { quietLog } from "./core.ts";
import { lowerPriority } from "./low-priority.ts";
import { complain, say } from "./print.ts";
import { createProgress, type ProgressBar } from "./progress.ts";
import { readConfig, terminal } from "./terminal.ts";

interface BackupOptions {
  /** False with `--without-files`. */
  readonly files: boolean;
  readonly onlyFiles?: true;
}

export function backupCommand(): Command {
  return new Command("backup")
    .argument("<file>", "file to create; it contains secrets, so only you can read it")
    .option("--without-files", "leave out uploaded files")
    .option("--only-files", "back up uploaded files only; use after pg_dump on PostgreSQL")
    .addHelpText(
      "after",
      "\nServers can keep running. Uploaded files on disk are included; files in a bucket (S3_URL) are not.\n" +
        "Exits with 1 if a file was missing or damaged; the backup is then written without that file.\n" +
        '\nExample:\n  $ quicklink backup "/backups/quicklink-$(date +%F).sqlite"',
    )
    .action(async (file: string, given: { withoutFiles?: true; onlyFiles?: true }) => {
      lowerPriority();
      const config = readConfig();
      const options = { files: given.withoutFiles !== true, ...(given.onlyFiles && { onlyFiles: given.onlyFiles }) };
      refuseContradictions(config, options);
      const path = join(config.QL_DATA, "quicklink.sqlite");
      const target = resolve(file);
      if (config.embedded && !existsSync(path)) {
        throw new OperatorError(`No database in ${config.QL_DATA}. Check QL_DATA.`, 2);
      }
      if (existsSync(target)) throw new OperatorError(`${target} already exists. Choose another file name.`, 2);
      const draft = `${target}.${process.pid}`;
      const progress = createProgress(terminal().stderr, systemClock.elapsed);
      try {
        const written = await write(config, draft, options, progress);
        renameSync(draft, target);
        syncToDisk(target);
        progress.end();
        report(target, written, options);
      } catch (error) {
        progress.end();
        if (error instanceof OperatorError) throw error;
        throw new OperatorError(`The backup could not be written: ${messageOf(error)}`);
      } finally {
        for (const end of ["", "-journal", ".db", ".db-wal", ".db-shm", ".db-journal"]) {
          rmSync(`${draft}${end}`, { force: true });
        }
      }
    });
}

function refuseContradictions(config: Config, { files, onlyFiles }: BackupOptions): void {
  if (onlyFiles && !files)
    throw new OperatorError("--only-files and --without-files exclude each other. Give one of them.", 2);
  if (onlyFiles && config.S3_URL !== undefined) {
    throw new OperatorError(
      "Uploaded files are in the bucket of S3_URL. Back up the bucket with your storage provider's tools.",
      2,
    );
  }
  if (!onlyFiles) requireEmbedded(config, "pg_dump, then `quicklink backup --only-files` for uploaded files");
}

interface Written {
  readonly about: BackupContents;
  readonly files: Archived | undefined;
}

/**
 * First the snapshot, then the files it lists, then the snapshot is updated with the files that were deleted meanwhile.
 */
async function write(config: Config, draft: string, options: BackupOptions, progress: ProgressBar): Promise<Written> {
  const { files: wanted, onlyFiles } = options;
  const about: BackupContents = {
    files: !wanted ? "left_out" : config.S3_URL !== undefined ? "in_bucket" : "included",
  };
  const secrets = onlyFiles ? {} : secretsOf(config);
  if (!onlyFiles) await requireOwnSalt(config, secrets);
  const copy = `${draft}.db`;
  const archive = createArchive(draft);
  const live = await openSql(config, quietLog());
  try {
    if (!onlyFiles) takeSnapshot(config, copy, progress);
    const snapshotSql = onlyFiles ? live : openSqlite(copy);
    let files: Archived | undefined;
    try {
      if (about.files === "included") {
        const all = await bytesOfAllTenants(snapshotSql);
        const read = progressOf(progress, all, "of files");
        files = await archiveFiles({ snapshot: snapshotSql, live, root: config.filesFolder, archive, progress: read });
        if (!onlyFiles) await markDeleted(snapshotSql, files.deleted);
      }
    } finally {
      if (snapshotSql !== live) await snapshotSql.close();
    }
    if (!onlyFiles) {
      foldIntoOneFile(copy);
      await archive.put(databaseEntry, piecesOf(copy, progressOf(progress, statSync(copy).size, "of the database")));
    }
    archive.finish(secrets, about);
    return { about, files };
  } catch (error) {
    archive.close();
    throw error;
  } finally {
    await live.close();
  }
}

const slowBytes = 100_000_000;

/** A single SQLite statement: it reports no progress. */
function takeSnapshot(config: Config, copy: string, progress: ProgressBar): void {
  const path = join(config.QL_DATA, "quicklink.sqlite");
  const { size } = statSync(path);
  if (size > slowBytes) progress.say(`Copying the database, ${megabytes(size)} …`);
  snapshot(path, copy);
}

/** Returns a function to call with the size of each piece. */
export function progressOf(progress: ProgressBar, all: number, what: string): (bytes: number) => void {
  let done = 0;
  return (bytes) => {
    done += bytes;
    const share = all === 0 ? undefined : Math.min(1, done / all);
    progress.show(share, `${megabytes(done)} ${what}`);
  };
}

const megabytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MB`;

function report(target: string, { about, files }: Written, { onlyFiles }: BackupOptions): void {
  const parts = [
    ...(onlyFiles ? [] : ["the database and its secrets"]),
    ...(files === undefined ? [] : [`${files.files.toLocaleString("en")} uploaded files, ${megabytes(files.bytes)}`]),
  ];
  say(`${target}: ${parts.join("; ")}. Total: ${megabytes(statSync(target).size)}.`);
  if (about.files === "left_out") say("Uploaded files are not included.");
  if (about.files === "in_bucket") {
    say("Uploaded files are in the bucket of S3_URL and are not included. Back up the bucket separately.");
  }
  if (files !== undefined && files.deleted.length > 0) {
    say(`${files.deleted.length} files were deleted during the backup and are not included.`);
  }
  if (files !== undefined && files.damaged > 0) {
    complain(`${files.damaged} files are missing or damaged on disk and are not included:`);
    for (const key of files.named) complain(`  ${key}`);
    terminal().exitCode = 1;
  }
}

export function requireEmbedded(config: Config, tool: string): void {
  if (config.embedded) return;
  throw new OperatorError(
    `This command works with the embedded database only. On PostgreSQL, use ${tool}, and store QL_CODE_SALT with the backup. See docs/runbook.md.`,
    2,
  );
}

/** Names of secret files. */
export const secretName = /^[A-Z0-9_]{1,64}$/;

/** The secrets in use, wherever they come from, and any others in the folder. */
function secretsOf(config: Config): BackupSecrets {
  const folder = join(config.QL_DATA, "secrets");
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => secretName.test(name)) : [];
  const kept = names.map((name) => [name, readFileSync(join(folder, name), "utf8").trim()]);
  const inForce = ["QL_CODE_SALT", "QL_SECRET_KEYS", "QL_SIGNING_KEYS"].flatMap((name) => {
    const value = config.source[name];
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries([...kept, ...inForce]);
}

/** A backup with another salt could be restored, but not served. */
async function requireOwnSalt(config: Config, secrets: BackupSecrets): Promise<void> {
  const sql = await openSql(config, quietLog());
  try {
    const epoch = await latestEpoch(sql);
    if (epoch === undefined || epoch.fingerprint === createCodes(secrets.QL_CODE_SALT ?? "").fingerprint) return;
  } finally {
    await sql.close();
  }
  throw new OperatorError(
    "QL_CODE_SALT does not match this database. Set it to the salt the database was created with.",
    2,
  );
}
