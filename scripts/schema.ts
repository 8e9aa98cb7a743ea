/**
 * `bun scripts/schema.ts`: writes the schema of both databases to src/sql/schema.*.txt, for a reviewer to read, and what a new
 * SQLite file has to src/sql/new-file.sql, from which the program makes one.
 */
import { join } from "node:path";
import { systemClock } from "../src/base/clock.ts";
import { createLog } from "../src/base/log.ts";
import { dumpNewFile, dumpSchema } from "../src/sql/dump.ts";
import { runSteps } from "../src/sql/migrate.ts";
import { openPostgres } from "../src/sql/postgres.ts";
import type { Sql } from "../src/sql/sql.ts";
import { openSqlite } from "../src/sql/sqlite.ts";
import { startPostgres } from "../test/ground/postgres.ts";
import { tempFolder } from "../test/ground/temp.ts";

async function write(sql: Sql): Promise<void> {
  try {
    await runSteps(sql);
    await show(`src/sql/schema.${sql.dialect}.txt`, await dumpSchema(sql));
    if (sql.dialect === "sqlite") await show("src/sql/new-file.sql", await dumpNewFile(sql));
  } finally {
    await sql.close();
  }
}

async function show(path: string, text: string): Promise<void> {
  await Bun.write(path, text);
  console.log(path);
}

await write(openSqlite(join(tempFolder("schema"), "quicklink.sqlite")));

const postgres = await startPostgres();
try {
  const log = createLog("silent", process.stderr, true, systemClock.now);
  await write(openPostgres(await postgres.createDatabase("schema"), { connections: 1 }, log));
} finally {
  await postgres.stop();
}
