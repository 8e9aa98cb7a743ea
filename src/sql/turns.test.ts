import { expect, test } from "bun:test";
import { join } from "node:path";
import { tempFolder } from "../../test/ground/temp.ts";
import { systemClock } from "../base/clock.ts";
import { openSqlite } from "./sqlite.ts";
import { statement } from "./statement.ts";
import type { Db } from "./tenant-db.ts";
import { createTurns } from "./turns.ts";

test("others have their turn every eight milliseconds of work", async () => {
  let now = 100;
  const turns = createTurns(() => now);
  expect(turns.isDue()).toBe(true);
  let others = 0;
  setImmediate(() => others++);
  await turns.give();
  expect(others).toBe(1);
  expect(turns.isDue()).toBe(false);
  now += 7;
  expect(turns.isDue()).toBe(false);
  now += 1;
  expect(turns.isDue()).toBe(true);
});

const selectWalks = statement((db: Db) => db.selectFrom("walks").select("position"));

/** Statements for longer than a turn, and whether other work of the thread came in between. */
async function othersCameDuring(work: () => Promise<unknown>): Promise<boolean> {
  let came = false;
  const others = setImmediate(() => {
    came = true;
  });
  const end = systemClock.elapsed() + 30;
  do await work();
  while (systemClock.elapsed() < end);
  clearImmediate(others);
  return came;
}

test("work made of statements lets others have their turn where it is said, and not while it holds the lock", async () => {
  for (const givesWay of [true, false]) {
    const sql = openSqlite(join(tempFolder("turns"), "turns.sqlite"), "normal", { givesWay });
    await sql.db.schema.createTable("walks").addColumn("name", "text").addColumn("position", "text").execute();
    const built = () => sql.db.selectFrom("walks").select("position").execute();
    const compiled = () => selectWalks.all(sql.db);
    const transaction = () => sql.transaction((trx) => selectWalks.all(trx));
    for (const work of [built, compiled, transaction]) expect(await othersCameDuring(work)).toBe(givesWay);
    const held = sql.transaction((trx) => othersCameDuring(() => trx.selectFrom("walks").select("position").execute()));
    expect(await held).toBe(false);
    await sql.close();
  }
});
