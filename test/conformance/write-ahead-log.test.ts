import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { sql as raw } from "kysely";
import { createLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/config.ts";
import { openCore, openUnforced } from "../../src/core.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { openSqlite, type SqliteOptions } from "../../src/sql/sqlite.ts";
import { hasLongLog, logMostPages, moveLog } from "../../src/sql/write-ahead-log.ts";
import { until } from "../ground/process.ts";
import { startServer } from "../ground/server.ts";
import { tempFolder } from "../ground/temp.ts";

const log = createLog("silent", { write() {} }, false, () => 0);
const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

function open(path: string, options?: SqliteOptions): Sql {
  const sql = openSqlite(path, "normal", options);
  opened.push(sql);
  return sql;
}

const newPath = (): string => join(tempFolder("log"), "quicklink.sqlite");

/** Each in a transaction of its own, with at least a page each. */
async function writePages(sql: Sql, count: number): Promise<void> {
  await raw`create table if not exists filler (bytes blob)`.execute(sql.db);
  for (let i = 0; i < count; i += 100) {
    await raw`insert into filler (bytes) select zeroblob(4000) from (with recursive n(i) as (select 1 union all select i + 1 from n where i < 100) select i from n)`.execute(
      sql.db,
    );
  }
}

async function pagesLeft(sql: Sql): Promise<number> {
  const { rows } = await raw<{ log: number; checkpointed: number }>`pragma wal_checkpoint(noop)`.execute(sql.db);
  return (rows[0]?.log ?? 0) - (rows[0]?.checkpointed ?? 0);
}

test("a commit of the serving thread leaves the log to others, and those move it", async () => {
  const path = newPath();
  const serving = open(path, { leavesLog: true });
  await writePages(serving, 3_000);
  expect(await pagesLeft(serving)).toBeGreaterThanOrEqual(3_000);
  const writer = open(path);
  await writePages(writer, 100);
  expect(await pagesLeft(serving)).toBe(0);
});

test("a log that no thread moves does not grow without bound", async () => {
  const serving = open(newPath(), { leavesLog: true });
  await writePages(serving, logMostPages);
  expect(await pagesLeft(serving)).toBeLessThan(logMostPages / 2);
});

test("a log is long once threads that write would have moved it, and not any more when it was moved", async () => {
  const path = newPath();
  const [serving, background] = [open(path, { leavesLog: true }), open(path)];
  expect(await hasLongLog(serving)).toBe(false);
  await writePages(serving, 1_500);
  expect(await hasLongLog(serving)).toBe(false);
  await writePages(serving, 1_000);
  expect(await hasLongLog(serving)).toBe(true);
  await moveLog(background);
  expect(await hasLongLog(serving)).toBe(false);
});

test("a log that is moved while others go on writing begins again from its start", async () => {
  const path = newPath();
  const [serving, background] = [open(path, { leavesLog: true }), open(path)];
  await writePages(serving, 500);
  // It has the lock of writers when the log is moved, and gives it back soon.
  const begun = Promise.withResolvers<void>();
  const writing = serving.transaction(async (trx) => {
    await raw`insert into filler (bytes) values (zeroblob(4000))`.execute(trx);
    begun.resolve();
    await new Promise((resolve) => setTimeout(resolve, 5));
  });
  await begun.promise;
  await Promise.all([writing, moveLog(background)]);
  await writePages(serving, 100);
  const { rows } = await raw<{ log: number }>`pragma wal_checkpoint(noop)`.execute(serving.db);
  expect(rows[0]?.log).toBeLessThan(200); // and not those of before as well
});

test("both pairs of connections of a server leave the log alone, and those of its background thread and of commands do not", async () => {
  const config = loadConfig({ QL_DATA: tempFolder("data") }, "/");
  const pages = async (sql: Sql) => (await raw`pragma wal_autocheckpoint`.execute(sql.db)).rows[0];
  const core = await openCore(config, { log, serves: true, lockHeld: true });
  opened.push(core);
  const unforced = await openUnforced(core);
  opened.push(unforced);
  for (const sql of [core.sql, unforced]) expect(await pages(sql)).toEqual({ wal_autocheckpoint: logMostPages });
  const other = await openCore(config, { log });
  opened.push(other);
  expect(await pages(other.sql)).toEqual({ wal_autocheckpoint: 1_000 });
});

test("a server whose threads write nothing has its background thread move the log", async () => {
  const server = await startServer();
  opened.push({ close: async () => void (await server.stop()) });
  const writer = open(join(server.dataDir, "quicklink.sqlite"), { leavesLog: true });
  await writePages(writer, 3_000);
  await until("the log to be moved", async () => (await pagesLeft(writer)) === 0 || undefined);
});
