/** What an attack leaves behind: rows, bytes and memory. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { sql as raw } from "kysely";
import { readTallyText } from "../../src/clicks/rollups/packed.ts";
import { clicksOf } from "../../src/clicks/rollups/tally.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants } from "../../src/sql/tenant-db.ts";
import type { Environment } from "../../test/ground/process.ts";
import { look } from "../database.ts";

export interface Rows {
  /** Of the dictionary. */
  readonly values: number;
  /** Single clicks of the attacked link. */
  readonly events: number;
  /** Overflow rows of the attacked link. */
  readonly overflow: number;
  /** The largest of them. */
  readonly overflowBytes: number;
  /** Quarters of an hour with clicks of it. */
  readonly quarters: number;
  /** Clicks of it, in both. */
  readonly clicks: number;
  readonly visitors: number;
  /** Of the whole database. */
  readonly bytes: number;
}

const quarterMs = 900_000;

export async function measureRows(env: Environment, code: string): Promise<Rows> {
  return await look(env, async ({ db, dialect }) => {
    const links = acrossTenants(db).selectFrom("links").select("number").where("code", "=", code);
    const link = (await links.executeTakeFirst())?.number;
    if (link === undefined || link === null) throw new Error(`there is no link ${code}`);
    const countOf = async (table: "click_values" | "click_visitors") =>
      Number(
        (
          await db
            .selectFrom(table)
            .select((row) => row.fn.countAll<number>().as("rows"))
            .executeTakeFirstOrThrow()
        ).rows,
      );
    const events = await db.selectFrom("clicks").select("at").where("link", "=", link).execute();
    const overflow = await db
      .selectFrom("click_overflow")
      .select(["quarter", "tally", "tenant_tally"])
      .where("link", "=", link)
      .execute();
    const quarters = new Set([
      ...events.map(({ at }) => at - (at % quarterMs)),
      ...overflow.map(({ quarter }) => quarter),
    ]);
    const beyond = overflow.reduce((sum, { tally, quarter }) => sum + clicksOf(readTallyText(tally, quarter)), 0);
    return {
      values: await countOf("click_values"),
      events: events.length,
      overflow: overflow.length,
      overflowBytes: Math.max(0, ...overflow.map((row) => Buffer.byteLength(row.tally + row.tenant_tally))),
      quarters: quarters.size,
      clicks: events.length + beyond,
      visitors: await countOf("click_visitors"),
      bytes: dialect === "sqlite" ? await sqliteBytes(String(env.QL_DATA), db) : await postgresBytes(db),
    };
  });
}

async function sqliteBytes(folder: string, db: Sql["db"]): Promise<number> {
  await raw`pragma wal_checkpoint(truncate)`.execute(db);
  return statSync(join(folder, "quicklink.sqlite")).size;
}

async function postgresBytes(db: Sql["db"]): Promise<number> {
  const { rows } = await raw<{ bytes: string }>`select pg_database_size(current_database()) as bytes`.execute(db);
  return Number(rows[0]?.bytes);
}

/** The memory of a process that is in RAM. */
export function residentBytes(pid: number): number {
  const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(found?.[1] ?? 0) * 1_024;
}
