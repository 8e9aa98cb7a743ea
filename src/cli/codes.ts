import { Command } from "commander";
import { systemClock } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import { newSecret, replaceSecret } from "../base/secret-file.ts";
import { createCodes } from "../codes/codes.ts";
import type { Config } from "../config/config.ts";
import { secretPath, withSecrets } from "../config/data-folder.ts";
import { openSql } from "../core.ts";
import { rotateSalt } from "../sql/code-counter.ts";
import { tryLockFolder } from "../sql/folder-lock.ts";
import { requireCurrentSchema } from "../sql/migrate.ts";
import type { Sql } from "../sql/sql.ts";
import { quietLog } from "./core.ts";
import { say } from "./print.ts";
import { readConfig } from "./terminal.ts";

export function codesCommand(): Command {
  const command = new Command("codes");
  command
    .command("rotate")
    .description("generate new codes with another salt; existing links keep working")
    .addHelpText(
      "after",
      `
On SQLite: stop the server, run this command, start the server. If you set QL_CODE_SALT yourself, set the new salt first.

On PostgreSQL: set the new salt, run this command with it, and restart every server with it. Until then, servers keep using
the previous salt.`,
    )
    .action(async () => {
      const config = readConfig();
      requireSigningKeys(config);
      const lock = config.embedded ? tryLockFolder(config.QL_DATA) : undefined;
      if (config.embedded && lock === undefined) {
        throw new OperatorError(
          "A server is running on this data folder. Stop it, run this command again, then start the server.",
        );
      }
      const sql = await openSql(config, quietLog());
      try {
        await requireCurrentSchema(sql);
        const epoch = await rotate(config, sql);
        say(
          epoch === undefined
            ? "This salt is already in use."
            : `Epoch ${epoch} starts with the new salt. Restart every server with it.`,
        );
      } finally {
        await sql.close();
        lock?.release();
      }
    });
  return command;
}

/** While signatures are derived from the salt, changing the salt would silently invalidate them. */
function requireSigningKeys({ embedded, QL_SIGNING_KEYS: keys }: Config): void {
  if (embedded || keys !== undefined) return;
  throw new OperatorError(
    "QL_SIGNING_KEYS is not set, so signatures are derived from QL_CODE_SALT and would become invalid with it.\n" +
      "  With the previous salt, run `quicklink secrets rotate --signing`, set QL_SIGNING_KEYS as printed, then run this command again.",
    2,
  );
}

/** The server's salt is replaced before the epoch starts: if interrupted in between, the next run continues with it. */
async function rotate(config: Config, sql: Sql): Promise<number | undefined> {
  // Before the salt is replaced: it may have signed so far.
  const { QL_CODE_SALT: salt } = withSecrets(config);
  const begin = (one: string) => rotateSalt(sql, createCodes(one).fingerprint, systemClock);
  const epoch = await begin(salt);
  if (epoch !== undefined || !config.ownSecrets.has("QL_CODE_SALT")) return epoch;
  const fresh = newSecret();
  replaceSecret(secretPath(config.QL_DATA, "QL_CODE_SALT"), fresh);
  return begin(fresh);
}
