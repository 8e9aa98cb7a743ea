import { Command } from "commander";
import { dayMs, systemClock } from "../base/clock.ts";
import { prepareDataFolder } from "../config/data-folder.ts";
import { openSql } from "../core.ts";
import { lockFolder } from "../sql/folder-lock.ts";
import { migrate, schemaState } from "../sql/migrate.ts";
import { createPartitions } from "../sql/partitions.ts";
import { quietLog } from "./core.ts";
import { say } from "./print.ts";
import { readConfig } from "./terminal.ts";

export function migrateCommand(): Command {
  return new Command("migrate")
    .option("--status", "list the migrations that have run, without running any")
    .action(async ({ status }: { status?: boolean }) => {
      const config = readConfig();
      if (config.embedded) prepareDataFolder(config);
      const lock = config.embedded && !status ? lockFolder(config.QL_DATA) : undefined;
      const sql = await openSql(config, quietLog(), { patient: true });
      try {
        if (status) {
          const state = await schemaState(sql);
          for (const name of state.applied) say(`${name}\tapplied`);
          for (const name of state.pending) say(`${name}\tpending`);
          return;
        }
        const ran = await migrate(sql);
        await createPartitions(sql, Math.floor(systemClock.now() / dayMs));
        say(ran.length === 0 ? "The database is up to date." : ran.map((name) => `applied ${name}`).join("\n"));
      } finally {
        await sql.close();
        lock?.release();
      }
    });
}
