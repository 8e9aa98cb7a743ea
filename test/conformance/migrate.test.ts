import { expect, test } from "bun:test";
import { join } from "node:path";
import { CompiledQuery } from "kysely";
import { OperatorError } from "../../src/base/errors.ts";
import { dumpNewFile, dumpSchema } from "../../src/sql/dump.ts";
import { migrate, requireCurrentSchema, runSteps, schemaState } from "../../src/sql/migrate.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { onEachDatabase } from "./databases.ts";

const run = (sql: Sql, statement: string) => sql.db.executeQuery(CompiledQuery.raw(statement));

/** Without those in which Kysely keeps what has run. */
async function tables(sql: Sql): Promise<string[]> {
  const all = await sql.db.introspection.getTables();
  return all.map(({ name }) => name).filter((name) => !name.startsWith("schema_migrations"));
}

async function refusal(work: Promise<unknown>): Promise<OperatorError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof OperatorError) return error;
  throw new Error(`not an OperatorError: ${error}`);
}

onEachDatabase(({ create, open, openTwo }) => {
  test("a new database gets every step, once", async () => {
    const sql = (await create()).connect();
    const before = await schemaState(sql);
    expect(before).toEqual({ applied: [], pending: expect.any(Array), unknown: [] });
    expect(before.pending.length).toBeGreaterThan(0);

    expect(await migrate(sql)).toEqual(before.pending);
    expect(await schemaState(sql)).toEqual({ applied: before.pending, pending: [], unknown: [] });
    await requireCurrentSchema(sql);

    expect(await migrate(sql)).toEqual([]);
  });

  test("steps run once, however many start them at the same time", async () => {
    const place = await create();
    const clients = Array.from({ length: 4 }, () => place.connect());
    const ran = (await Promise.all(clients.map((client) => migrate(client)))).flat();
    expect(ran).toEqual((await schemaState(place.connect())).applied.slice());
    expect(new Set(ran).size).toBe(ran.length);
  });

  test("a step that fails leaves nothing behind, and can be run again", async () => {
    const sql = (await create()).connect();
    await run(sql, "create table changes (in_the_way integer)");
    await expect(migrate(sql)).rejects.toThrow("changes");
    expect(await tables(sql)).toEqual(["changes"]);
    expect((await schemaState(sql)).applied).toEqual([]);
    await run(sql, "drop table changes");
    expect(await migrate(sql)).not.toEqual([]);
  });

  test("an empty database is not served from, and the operator learns what to do", async () => {
    const sql = (await create()).connect();
    const { exitCode, message } = await refusal(requireCurrentSchema(sql));
    expect(exitCode).toBe(2);
    expect(message).toStartWith("The database is empty. Run `quicklink migrate`");
    expect(await tables(sql)).toEqual([]);
  });

  test("an older database is not served from, and the operator learns what to do", async () => {
    const sql = await open();
    const last = (await schemaState(sql)).applied.at(-1);
    await run(sql, `delete from schema_migrations where name = '${last}'`);
    const { exitCode, message } = await refusal(requireCurrentSchema(sql));
    expect(exitCode).toBe(2);
    expect(message).toContain("Run `quicklink migrate`");
  });

  test("a newer database is neither served from nor touched, and the operator learns what to do", async () => {
    const [sql, other] = await openTwo();
    await run(sql, "insert into schema_migrations (name, timestamp) values ('9999-future', 'later')");
    const before = await dumpSchema(sql);
    for (const attempt of [requireCurrentSchema, migrate]) {
      const { exitCode, message } = await refusal(attempt(other));
      expect(exitCode).toBe(2);
      expect(message).toStartWith(
        "The database is newer than this program (it contains: 9999-future). Start the newer",
      );
    }
    expect(await schemaState(sql)).toMatchObject({ unknown: ["9999-future"] });
    expect(await dumpSchema(sql)).toBe(before);
  });

  test("a database that is made at once is the same as one that went through every step", async () => {
    const [made, stepped] = [(await create()).connect(), (await create()).connect()];
    expect(await migrate(made)).toEqual(await runSteps(stepped));
    expect(await dumpSchema(made)).toBe(await dumpSchema(stepped));
    if (made.dialect !== "sqlite") return;
    const committed = Bun.file(join(import.meta.dir, "../../src/sql/new-file.sql"));
    expect(await dumpNewFile(made)).toBe(await committed.text());
    expect(await dumpNewFile(stepped)).toBe(await committed.text());
    const { rows } = await run(made, "select count(*) as empty from schema_migrations where timestamp not like '20%Z'");
    expect(rows).toEqual([{ empty: 0 }]);
  });

  test("several statements at once belong to their transaction", async () => {
    const sql = (await create()).connect();
    const text = "create table one (a integer);\ninsert into one values (1);\ncreate table two (a integer)";
    const undone = sql.transaction(async (trx) => {
      await sql.script(trx, text);
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    expect(await tables(sql)).toEqual([]);
    await sql.transaction((trx) => sql.script(trx, text));
    expect((await tables(sql)).toSorted()).toEqual(["one", "two"]);
    expect((await run(sql, "select a from one")).rows).toEqual([{ a: 1 }]);
  });

  test("the tables are those of the committed dump; `bun scripts/schema.ts` regenerates it", async () => {
    const sql = (await create()).connect();
    await migrate(sql);
    const committed = Bun.file(join(import.meta.dir, `../../src/sql/schema.${sql.dialect}.txt`));
    expect(await dumpSchema(sql)).toBe(await committed.text());
  });
});
