import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { systemClock, toIso } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import type { Config } from "../config/config.ts";
import { prepareDataFolder } from "../config/data-folder.ts";
import { unarchiveFiles, writeAll } from "../files/archive.ts";
import {
  type ArchiveReader,
  type BackupContents,
  type BackupSecrets,
  databaseEntry,
  type Entry,
  foldIntoOneFile,
  openArchive,
  prepareSnapshot,
  syncToDisk,
} from "../sql/backup.ts";
import { lockFolder } from "../sql/folder-lock.ts";
import { refuseNewer, schemaState } from "../sql/migrate.ts";
import { openSqlite } from "../sql/sqlite.ts";
import { progressOf, requireEmbedded, secretName } from "./backup.ts";
import { say } from "./print.ts";
import { createProgress } from "./progress.ts";
import { readConfig, terminal } from "./terminal.ts";

/** More codes than are generated between two backups, and negligible in 3.5 trillion. */
const codesSkipped = 1_000_000;

interface RestoreOptions {
  readonly force?: true;
  readonly withoutFiles?: true;
}

export function restoreCommand(): Command {
  return new Command("restore")
    .argument("<file>", "file created by quicklink backup")
    .option("--force", "replace an existing database; it is kept beside the restored one")
    .option("--without-files", "do not restore uploaded files")
    .addHelpText("after", "\nExample:\n  $ QL_DATA=/var/lib/quicklink quicklink restore quicklink-2026-11-16.sqlite")
    .action(async (file: string, options: RestoreOptions) => {
      const config = readConfig();
      const source = resolve(file);
      if (!existsSync(source) || !statSync(source).isFile()) throw new OperatorError(`No such file: ${source}`, 2);
      const archive = openArchive(source);
      try {
        if (archive.find(databaseEntry) !== undefined) requireEmbedded(config, "pg_restore");
        prepareDataFolder(config);
        const lock = lockFolder(config.QL_DATA);
        try {
          await restore(config, archive, options);
        } finally {
          lock.release();
        }
      } finally {
        archive.close();
      }
    });
}

async function restore(config: Config, archive: ArchiveReader, options: RestoreOptions): Promise<void> {
  const folder = config.QL_DATA;
  const entry = archive.find(databaseEntry);
  const withFiles = archive.about.files === "included" && options.withoutFiles !== true;
  const parts: Part[] = [
    ...(withFiles ? [filesPart(config, archive)] : []),
    ...(entry === undefined ? [] : [secretsPart(folder, archive)]),
    ...(entry === undefined ? [] : [databasePart(folder, archive, entry)]),
  ];
  if (parts.length === 0) {
    throw new OperatorError("The backup contains only uploaded files, and --without-files excludes them.", 2);
  }
  const there = parts.filter(({ path }) => existsSync(path));
  if (options.force !== true && there.length > 0) {
    const what = there.map(({ what }) => what).join(", ");
    throw new OperatorError(`${folder} already contains: ${what}. To replace it with the backup: --force`, 2);
  }
  try {
    // Everything is prepared before anything is moved, the database last: without it nothing starts.
    for (const { make } of parts) await make();
    const suffix = `.replaced-${toIso(systemClock.now()).replaceAll(":", "")}`;
    const aside = there.map(({ path, beforeMove }) => {
      beforeMove?.();
      renameSync(path, `${path}${suffix}`);
      return `${path}${suffix}`;
    });
    for (const { draft, path } of parts) renameSync(draft, path);
    syncToDisk(folder);
    if (entry !== undefined) say(`Restored the database in ${folder}.`);
    for (const { done } of parts) if (done) say(done());
    for (const path of aside) say(`The previous data is kept: ${path}`);
    if (entry !== undefined) {
      for (const name of contradicted(config, archive.secrets)) {
        say(`${name} is set to a different value than in the backup. Unset it, or servers will not start.`);
      }
      if (!withFiles) say(noFiles(archive.about.files, options));
      say("Edits and hits made after the backup are lost. Start the server now.");
    }
  } finally {
    for (const { draft } of parts) {
      for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(`${draft}${end}`, { recursive: true, force: true });
    }
  }
}

/** A part of a restore that is moved into place. */
interface Part {
  readonly what: string;
  readonly path: string;
  readonly draft: string;
  make(): Promise<void> | void;
  /** Before the existing data is put aside. */
  beforeMove?(): void;
  done?(): string;
}

const draftOf = (path: string): string => `${path}.${process.pid}`;

function secretsPart(folder: string, { secrets }: ArchiveReader): Part {
  const path = join(folder, "secrets");
  const draft = draftOf(path);
  return {
    ...{ what: "secrets", path, draft },
    make() {
      mkdirSync(draft, { mode: 0o700 });
      for (const [name, value] of Object.entries(secrets)) {
        if (!secretName.test(name))
          throw new OperatorError("The backup is damaged: it has a secret with an invalid name.");
        writeFileSync(join(draft, name), `${value}\n`, { mode: 0o600, flush: true });
      }
    },
  };
}

function databasePart(folder: string, archive: ArchiveReader, entry: Entry): Part {
  const path = join(folder, "quicklink.sqlite");
  const draft = draftOf(path);
  return {
    ...{ what: "a database", path, draft },
    async make() {
      const handle = await open(draft, "wx", 0o600);
      const progress = createProgress(terminal().stderr, systemClock.elapsed);
      const wrote = progressOf(progress, entry.bytes, "of the database");
      try {
        for (const piece of archive.pieces(entry)) {
          await writeAll(handle, piece);
          wrote(piece.length);
        }
      } finally {
        progress.end();
        await handle.close();
      }
      prepareSnapshot(draft, codesSkipped);
      await requireKnown(draft);
    },
    beforeMove: () => foldIntoOneFile(path),
  };
}

function filesPart(config: Config, archive: ArchiveReader): Part {
  if (config.S3_URL !== undefined) {
    const detail = "The backup contains uploaded files, but S3_URL is set, so files belong in a bucket.";
    throw new OperatorError(`${detail} To restore the rest: --without-files`, 2);
  }
  const path = config.filesFolder;
  const draft = draftOf(path);
  let files = 0;
  return {
    ...{ what: "uploaded files", path, draft },
    async make() {
      const progress = createProgress(terminal().stderr, systemClock.elapsed);
      try {
        files = await unarchiveFiles(archive, draft, progressOf(progress, 0, "of files"));
      } finally {
        progress.end();
      }
    },
    done: () => `Restored ${files.toLocaleString("en")} uploaded files; all checksums match.`,
  };
}

function noFiles(files: BackupContents["files"], { withoutFiles }: RestoreOptions): string {
  if (files === "included" && withoutFiles) return "The uploaded files in the backup were not restored.";
  const where = files === "in_bucket" ? " They were in a bucket (S3_URL)." : "";
  return `The backup does not contain uploaded files. Files in the data folder are unchanged.${where}`;
}

/**
 * Secrets that the operator set to different values than the backup has; those in the data folder are replaced anyway.
 */
const contradicted = ({ shown, source }: Config, kept: BackupSecrets): string[] =>
  shown
    .filter(
      ({ name, origin }) =>
        !origin.startsWith("generated") && name in kept && (source[name] ?? kept[name]) !== kept[name],
    )
    .map(({ name }) => name);

/** Refuses a backup of a newer program, which this one could not read. */
async function requireKnown(path: string): Promise<void> {
  const sql = openSqlite(path);
  try {
    refuseNewer(await schemaState(sql));
  } finally {
    await sql.close();
  }
  foldIntoOneFile(path);
}
