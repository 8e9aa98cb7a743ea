import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { systemClock, toIso } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import { type Config, loadConfig, prepareDataFolder } from "../config.ts";
import { type Secrets, settleDatabase, unpackBackup } from "../sql/backup.ts";
import { lockFolder } from "../sql/folder-lock.ts";
import { refuseNewer, schemaState } from "../sql/migrate.ts";
import { openSqlite } from "../sql/sqlite.ts";
import { requireEmbedded } from "./backup.ts";
import { say } from "./print.ts";

/** More than anybody gives out between two backups, and nothing of 3.5 trillion. */
const codesSkipped = 1_000_000;

export function restoreCommand(): Command {
  return new Command("restore")
    .argument("<file>", "made by quicklink backup")
    .option("--force", "also if there is a database already; it is kept beside the restored one")
    .addHelpText("after", "\nExample:\n  $ QL_DATA=/var/lib/quicklink quicklink restore quicklink-2026-11-16.sqlite")
    .action(async (file: string, { force }: { force?: true }) => {
      const config = loadConfig();
      requireEmbedded(config, "pg_restore");
      const source = resolve(file);
      if (!existsSync(source) || !statSync(source).isFile()) throw new OperatorError(`There is no file ${source}.`, 2);
      prepareDataFolder(config);
      const lock = lockFolder(config.QL_DATA);
      try {
        await restore(config, source, force === true);
      } finally {
        lock.release();
      }
    });
}

async function restore(config: Config, source: string, force: boolean): Promise<void> {
  const folder = config.QL_DATA;
  const [database, secrets] = [join(folder, "quicklink.sqlite"), join(folder, "secrets")];
  if (!force && (existsSync(database) || existsSync(secrets))) {
    throw new OperatorError(`There is a database in ${folder} already. To put the backup in its place: --force`, 2);
  }
  const [databaseDraft, secretsDraft] = [`${database}.${process.pid}`, `${secrets}.${process.pid}`];
  try {
    copyFileSync(source, databaseDraft);
    chmodSync(databaseDraft, 0o600);
    const kept = unpackBackup(databaseDraft, codesSkipped);
    await requireKnown(databaseDraft);
    mkdirSync(secretsDraft, { mode: 0o700 });
    for (const [name, value] of Object.entries(kept)) {
      writeFileSync(join(secretsDraft, name), `${value}\n`, { mode: 0o600, flush: true });
    }
    // Everything is complete before anything is moved.
    const aside = putAside([database, secrets]);
    renameSync(secretsDraft, secrets);
    renameSync(databaseDraft, database);
    say(`The database of ${folder} is that of the backup.`);
    for (const path of aside) say(`What was there is kept: ${path}`);
    for (const name of contradicted(config, kept)) {
      say(`${name} is set to another value than the backup has: unset it, or no server will start.`);
    }
    say("Edits and hits since the backup are forgotten. Start the server now.");
  } finally {
    for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(`${databaseDraft}${end}`, { force: true });
    rmSync(secretsDraft, { recursive: true, force: true });
  }
}

/** Secrets that the operator sets otherwise than the backup has them; those in the data folder are replaced anyway. */
const contradicted = ({ shown, source }: Config, kept: Secrets): string[] =>
  shown
    .filter(
      ({ name, origin }) =>
        !origin.startsWith("generated") && name in kept && (source[name] ?? kept[name]) !== kept[name],
    )
    .map(({ name }) => name);

/** A newer program made it, and this one would not know what to do with it. */
async function requireKnown(path: string): Promise<void> {
  const sql = openSqlite(path);
  try {
    refuseNewer(await schemaState(sql));
  } finally {
    await sql.close();
  }
  settleDatabase(path);
}

/** Under other names; answers them. */
function putAside([database, secrets]: readonly [string, string]): string[] {
  const suffix = `.replaced-${toIso(systemClock.now()).replaceAll(":", "")}`;
  if (existsSync(database)) settleDatabase(database);
  return [database, secrets].flatMap((path) => {
    if (!existsSync(path)) return [];
    renameSync(path, `${path}${suffix}`);
    return [`${path}${suffix}`];
  });
}
