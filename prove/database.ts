import { createLog } from "../src/base/log.ts";
import { loadConfig } from "../src/config/config.ts";
import { openSql } from "../src/core.ts";
import type { Sql } from "../src/sql/sql.ts";
import { cleanEnvironment, type Environment } from "../test/ground/process.ts";

const silent = createLog("silent", { write() {} }, false, () => 0);

/** Reads the database of these settings directly, without the server. */
export async function look<Result>(env: Environment, at: (sql: Sql) => Promise<Result>): Promise<Result> {
  const sql = await openSql(loadConfig(cleanEnvironment(env), String(env.QL_DATA)), silent, { patient: true });
  try {
    return await at(sql);
  } finally {
    await sql.close();
  }
}
