import { Command } from "commander";
import { systemClock } from "../base/clock.ts";
import { createCodes } from "../codes/codes.ts";
import { loadConfig, withSecrets } from "../config.ts";
import { openSql } from "../core.ts";
import { rotateSalt } from "../sql/counter.ts";
import { requireCurrentSchema } from "../sql/migrate.ts";
import { quietLog } from "./core.ts";
import { say } from "./print.ts";

export function codesCommand(): Command {
  const command = new Command("codes");
  command
    .command("rotate")
    .description("accept the salt in QL_CODE_SALT from now on; existing links stay as they are")
    .action(async () => {
      const config = loadConfig();
      const sql = await openSql(config, quietLog());
      try {
        await requireCurrentSchema(sql);
        const { fingerprint } = createCodes(withSecrets(config).QL_CODE_SALT);
        const epoch = await rotateSalt(sql, fingerprint, systemClock);
        say(
          epoch === undefined
            ? "This salt is in force already."
            : `Epoch ${epoch} begins with the new salt. Restart every server with it.`,
        );
      } finally {
        await sql.close();
      }
    });
  return command;
}
