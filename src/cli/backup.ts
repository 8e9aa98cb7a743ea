import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { messageOf, OperatorError } from "../base/errors.ts";
import { createCodes } from "../codes/codes.ts";
import { type Config, loadConfig } from "../config.ts";
import { openSql } from "../core.ts";
import { type Secrets, writeBackup } from "../sql/backup.ts";
import { quietLog } from "./core.ts";
import { stepBack } from "./step-back.ts";

export function backupCommand(): Command {
  return new Command("backup")
    .argument("<file>", "a new file; only you can read it, for the secrets are in it")
    .addHelpText(
      "after",
      "\nA server may run meanwhile. Uploaded files are not in it: copy the folder files in QL_DATA after it.\n" +
        '\nExample:\n  $ quicklink backup "/backups/quicklink-$(date +%F).sqlite"',
    )
    .action(async (file: string) => {
      stepBack();
      const config = loadConfig();
      requireEmbedded(config, "pg_dump");
      const path = join(config.QL_DATA, "quicklink.sqlite");
      const target = resolve(file);
      if (!existsSync(path)) throw new OperatorError(`There is no database in ${config.QL_DATA} yet.`, 2);
      if (existsSync(target)) throw new OperatorError(`${target} is there already, and is left as it is.`, 2);
      const secrets = secretsOf(config);
      await requireOwnSalt(config, secrets);
      const draft = `${target}.${process.pid}`;
      try {
        writeBackup(path, draft, secrets);
        renameSync(draft, target);
      } catch (error) {
        if (error instanceof OperatorError) throw error;
        throw new OperatorError(`The backup could not be written: ${messageOf(error)}`);
      } finally {
        rmSync(draft, { force: true });
      }
      const megabytes = (statSync(target).size / 1_048_576).toFixed(1);
      const files = existsSync(join(config.QL_DATA, "files")) ? " Uploaded files are not in it." : "";
      console.log(`${target} has all that is in the database, and its secrets: ${megabytes} MB.${files}`);
    });
}

export function requireEmbedded(config: Config, tool: string): void {
  if (config.embedded) return;
  throw new OperatorError(
    `This is for the embedded database. On PostgreSQL use ${tool}, and keep QL_CODE_SALT with it: see docs/runbook.md.`,
    2,
  );
}

/** Those in force, wherever they come from, and whatever else lies beside them. */
function secretsOf(config: Config): Secrets {
  const folder = join(config.QL_DATA, "secrets");
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^[A-Z0-9_]+$/.test(name)) : [];
  const kept = names.map((name) => [name, readFileSync(join(folder, name), "utf8").trim()]);
  const inForce = ["QL_CODE_SALT", "QL_SECRET_KEYS", "QL_SIGNING_KEYS"].flatMap((name) => {
    const value = config.source[name];
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries([...kept, ...inForce]);
}

/** A backup with another salt could be restored, and then not be served from. */
async function requireOwnSalt(config: Config, secrets: Secrets): Promise<void> {
  const sql = await openSql(config, quietLog());
  try {
    const epoch = await sql.db
      .selectFrom("code_epochs")
      .select("fingerprint")
      .orderBy("epoch", "desc")
      .limit(1)
      .executeTakeFirst();
    if (epoch === undefined || epoch.fingerprint === createCodes(secrets.QL_CODE_SALT ?? "").fingerprint) return;
  } finally {
    await sql.close();
  }
  throw new OperatorError(
    "QL_CODE_SALT is not the salt this database was made with: set it back to that one first.",
    2,
  );
}
