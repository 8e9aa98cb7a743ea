import { join } from "node:path";
import { migrate } from "../../src/sql/migrate.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { openSqlite } from "../../src/sql/sqlite.ts";
import { tempFolder } from "../../test/ground/temp.ts";

/** One database for all seeds, emptied before each: to create it takes longer than to run one. */
export async function openGround(): Promise<Sql> {
  const sql = openSqlite(join(tempFolder("simulation"), "quicklink.sqlite"), "normal");
  await migrate(sql);
  return sql;
}
