/** `bun scripts/schema.ts`: writes the schema of both databases to src/sql/schema.*.txt, for a reviewer to read. */
import { join } from "node:path";
import { systemClock } from "../src/base/clock.ts";
import { createLog } from "../src/base/log.ts";
import { dumpSchema } from "../src/sql/dump.ts";
import { migrate } from "../src/sql/migrate.ts";
import { openPostgres } from "../src/sql/postgres.ts";
import type { Sql } from "../src/sql/sql.ts";
import { openSqlite } from "../src/sql/sqlite.ts";
import { startPostgres } from "../test/ground/postgres.ts";
import { tempFolder } from "../test/ground/temp.ts";

async function write(sql: Sql): Promise<void> {
  const path = `src/sql/schema.${sql.dialect}.txt`;
  try {
    await migrate(sql);
    await Bun.write(path, await dumpSchema(sql));
  } finally {
    await sql.close();
  }
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
