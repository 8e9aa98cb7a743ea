import { Command } from "commander";
import { OperatorError } from "../base/errors.ts";
import { createRing, newKey, type SecretKey, writeKeys } from "../base/seal.ts";
import { replaceSecret } from "../base/secret-file.ts";
import { verifyDays } from "../base/signing-keys.ts";
import { type Config, loadConfig } from "../config/config.ts";
import { prepareDataFolder, secretPath, withSecrets } from "../config/data-folder.ts";
import { openSql } from "../core.ts";
import { type Resealed, resealAll } from "../email/settings/reseal.ts";
import { tryLockFolder } from "../sql/folder-lock.ts";
import { requireCurrentSchema } from "../sql/migrate.ts";
import type { Sql } from "../sql/sql.ts";
import { quietLog } from "./core.ts";
import { say } from "./print.ts";
import { rotateSigning } from "./signing.ts";

export function secretsCommand(): Command {
  const command = new Command("secrets");
  command
    .command("rotate")
    .description("replace the key that seals tenants' secrets, or with --signing the key that signs")
    .option("--signing", "the key that signs unsubscribe links, addresses of files, cursors and passes")
    .option("--forget", "with --signing: former keys stop verifying at once, for example after a leak")
    .addHelpText(
      "after",
      `
Sealing, where the server keeps its own keys (SQLite, and QL_SECRET_KEYS is not set): stop the server, run this, start it again.
A new key is made, everything is sealed with it, and the old one is removed.

Sealing, where you set QL_SECRET_KEYS: put the new key first and keep the old one behind it, restart every server, run this, and
then remove the old one.

Signing: run this at any time, and do what it prints. Former keys verify for ${verifyDays} days.`,
    )
    .action(async ({ signing, forget }: { signing?: true; forget?: true }) => {
      if (forget && !signing) throw new OperatorError("--forget goes with --signing.", 2);
      const config = loadConfig();
      if (signing) return rotateSigning(config, forget === true);
      if (!config.ownSecrets.has("QL_SECRET_KEYS")) return withSql(config, (sql) => rotateGiven(config, sql));
      prepareDataFolder(config);
      const lock = tryLockFolder(config.QL_DATA);
      if (lock === undefined) {
        throw new OperatorError("A server is running on this data folder. Stop it, run this again, and start it.");
      }
      try {
        await withSql(config, (sql) => rotateOwn(config, sql));
      } finally {
        lock.release();
      }
    });
  return command;
}

async function withSql(config: Config, work: (sql: Sql) => Promise<void>): Promise<void> {
  const sql = await openSql(config, quietLog());
  try {
    await requireCurrentSchema(sql);
    await work(sql);
  } finally {
    await sql.close();
  }
}

/**
 * The file has both keys before the first row has the new one, and loses the old one after the last: whenever this is
 * stopped, every row opens, and the next run ends what this one began. A running server would go on with the ring of its
 * start and seal with a key that is about to go, so there must be none.
 */
async function rotateOwn(config: Config, sql: Sql): Promise<void> {
  const path = secretPath(config.QL_DATA, "QL_SECRET_KEYS");
  const before = withSecrets(config).QL_SECRET_KEYS;
  const unfinished = before.length > 1;
  const [first = newKey(), ...others] = unfinished ? before : [newKey(), ...before];
  if (unfinished) say("An earlier run was stopped; this one ends it.");
  else replaceSecret(path, writeKeys([first, ...others]));
  report(await resealAll(sql, createRing([first, ...others])), first);
  replaceSecret(path, writeKeys([first]));
  say("The old key is removed. Start the server again.");
}

async function rotateGiven(config: Config, sql: Sql): Promise<void> {
  const [first, ...others] = config.QL_SECRET_KEYS ?? [];
  if (first === undefined) {
    throw new OperatorError(
      "QL_SECRET_KEYS is not set, so nothing is sealed with it.\n  Example: QL_SECRET_KEYS=k1:$(openssl rand -hex 32)",
      2,
    );
  }
  report(await resealAll(sql, createRing([first, ...others])), first);
  const names = others.map(({ id }) => `"${id}"`).join(", ");
  say(
    others.length === 0
      ? "There is one key only. To change it put a new one before it, restart every server, and run this again."
      : `When every server runs with "${first.id}" first, run this once more; if it has nothing to seal, remove ${names}.`,
  );
}

function report({ resealed, current, lost }: Resealed, { id }: SecretKey): void {
  say(`${resealed} sealed with "${id}" now, ${current} were already, ${lost.length} cannot be opened.`);
  for (const tenant of lost) say(`The SendGrid key of ${tenant} has to be saved again: no key here opens it.`);
}
