import { Command } from "commander";
import { OperatorError } from "../base/errors.ts";
import { createRing, newKey, type SecretKey, writeKeys } from "../base/seal.ts";
import { replaceSecret } from "../base/secret-file.ts";
import { verifyDays } from "../base/signing-keys.ts";
import type { Config } from "../config/config.ts";
import { prepareDataFolder, secretPath, withSecrets } from "../config/data-folder.ts";
import { openSql } from "../core.ts";
import { resealAll } from "../email/settings/reseal.ts";
import { resealTotp } from "../people/factors/reseal-totp.ts";
import { tryLockFolder } from "../sql/folder-lock.ts";
import { requireCurrentSchema } from "../sql/migrate.ts";
import type { Sql } from "../sql/sql.ts";
import { quietLog } from "./core.ts";
import { say } from "./print.ts";
import { rotateSigning } from "./signing.ts";
import { readConfig } from "./terminal.ts";

export function secretsCommand(): Command {
  const command = new Command("secrets");
  command
    .command("rotate")
    .description("rotate the key that encrypts secrets of workspaces and people, or with --signing the signing key")
    .option("--signing", "rotate the key that signs unsubscribe links, file URLs, cursors and password sessions")
    .option("--forget", "with --signing: previous keys stop verifying at once, for example after a leak")
    .addHelpText(
      "after",
      `
Encryption keys managed by the server (SQLite, QL_SECRET_KEYS not set): stop the server, run this command, start the server.
A new key is created, all secrets are encrypted again with it, and the old key is removed.

Encryption keys set in QL_SECRET_KEYS: put the new key first and keep the old one after it, restart every server, run this
command, then remove the old key.

Signing keys: run this command at any time and follow the printed steps. Previous keys verify for ${verifyDays} days.`,
    )
    .action(async ({ signing, forget }: { signing?: true; forget?: true }) => {
      if (forget && !signing) throw new OperatorError("--forget requires --signing.", 2);
      const config = readConfig();
      if (signing) return rotateSigning(config, forget === true);
      if (!config.ownSecrets.has("QL_SECRET_KEYS")) return withSql(config, (sql) => rotateGiven(config, sql));
      prepareDataFolder(config);
      const lock = tryLockFolder(config.QL_DATA);
      if (lock === undefined) {
        throw new OperatorError(
          "A server is running on this data folder. Stop it, run this command again, then start the server.",
        );
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
 * The file has both keys before the first row uses the new one, and loses the old one after the last: whenever this is
 * interrupted, every row can be decrypted, and the next run finishes it. A running server would keep the ring of its
 * start and encrypt with a key that is about to be removed, so there must be none.
 */
async function rotateOwn(config: Config, sql: Sql): Promise<void> {
  const path = secretPath(config.QL_DATA, "QL_SECRET_KEYS");
  const before = withSecrets(config).QL_SECRET_KEYS;
  const unfinished = before.length > 1;
  const [first = newKey(), ...others] = unfinished ? before : [newKey(), ...before];
  if (unfinished) say("Finishing an earlier run that was interrupted.");
  else replaceSecret(path, writeKeys([first, ...others]));
  await reseal(sql, [first, ...others]);
  replaceSecret(path, writeKeys([first]));
  say("Removed the old key. Start the server again.");
}

async function rotateGiven(config: Config, sql: Sql): Promise<void> {
  const [first, ...others] = config.QL_SECRET_KEYS ?? [];
  if (first === undefined) {
    throw new OperatorError(
      "QL_SECRET_KEYS is not set, so no secrets are encrypted with it.\n  Example: QL_SECRET_KEYS=k1:$(openssl rand -hex 32)",
      2,
    );
  }
  await reseal(sql, [first, ...others]);
  const names = others.map(({ id }) => `"${id}"`).join(", ");
  say(
    others.length === 0
      ? "Only one key is set. To rotate, put a new key before it, restart every server, and run this command again."
      : `When every server runs with "${first.id}" first, run this command again. If nothing is left to encrypt, remove ${names}.`,
  );
}

async function reseal(sql: Sql, keys: readonly [SecretKey, ...SecretKey[]]): Promise<void> {
  const ring = createRing(keys);
  const [ofTenants, ofPeople] = [await resealAll(sql, ring), await resealTotp(sql, ring)];
  const resealed = ofTenants.resealed + ofPeople.resealed;
  const current = ofTenants.current + ofPeople.current;
  const lost = ofTenants.lost.length + ofPeople.lost.length;
  say(`Encrypted ${resealed} secrets with "${keys[0].id}"; ${current} were up to date; ${lost} cannot be decrypted.`);
  for (const tenant of ofTenants.lost) {
    say(`The SendGrid key of ${tenant} must be saved again: none of the keys decrypts it.`);
  }
  for (const person of ofPeople.lost) {
    say(`The second factor of ${person} must be reset (quicklink user reset-2fa): none of the keys decrypts it.`);
  }
}
