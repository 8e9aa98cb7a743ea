import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { CompiledQuery, sql as raw } from "kysely";
import { systemClock, toIso } from "../../src/base/clock.ts";
import { newId, type TenantId } from "../../src/base/ids.ts";
import { createLog } from "../../src/base/log.ts";
import { migrate } from "../../src/sql/migrate.ts";
import { openPostgres } from "../../src/sql/postgres.ts";
import { isConflict, isUnavailable, isUniqueViolation, type Sql } from "../../src/sql/sql.ts";
import { Interrupted, openSqlite } from "../../src/sql/sqlite.ts";
import { type Params, statement } from "../../src/sql/statement.ts";
import { acrossTenants, type Db } from "../../src/sql/tenant-db.ts";
import { undoInMemory } from "../../src/sql/undo-in-memory.ts";
import { freePort } from "../ground/ports.ts";
import { postgresAvailable, sharedPostgres } from "../ground/postgres.ts";
import { until } from "../ground/process.ts";
import { startProxy } from "../ground/proxy.ts";
import { tempFolder } from "../ground/temp.ts";
import { onEachDatabase } from "./databases.ts";

let names = 0;
const newName = () => `plan-${++names}`;
const plan = (name: string) => ({ name, limits: "{}", created_at: 0 });

const insertPlan = statement((db: Db, { name }: Params<{ name: string }>) =>
  db.insertInto("plans").values({ name, limits: "{}", created_at: 0 }),
);

async function planNames(sql: Sql, prefix: string): Promise<string[]> {
  const rows = await sql.db.selectFrom("plans").select("name").where("name", "like", `${prefix}%`).execute();
  return rows.map(({ name }) => name).toSorted();
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error("this should have failed");
    },
    (error: unknown) => error,
  );

/** Lets timers and sockets have their turn. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

onEachDatabase(({ create, open, openTwo }) => {
  let sql: Sql;
  let other: Sql;
  beforeAll(async () => {
    [sql, other] = await openTwo();
  });

  describe("a transaction", () => {
    test("commits everything, for every client to see, and answers what its work answered", async () => {
      const name = newName();
      const answer = await sql.transaction(async (trx) => {
        await trx
          .insertInto("plans")
          .values([plan(`${name}-a`), plan(`${name}-b`)])
          .execute();
        return 42;
      });
      expect(answer).toBe(42);
      expect(await planNames(other, name)).toEqual([`${name}-a`, `${name}-b`]);
    });

    test("that fails leaves nothing, and its error is the caller's", async () => {
      const name = newName();
      const reason = new Error("changed my mind");
      const failed = await failure(
        sql.transaction(async (trx) => {
          await trx.insertInto("plans").values(plan(name)).execute();
          throw reason;
        }),
      );
      expect(failed).toBe(reason);
      expect(await planNames(sql, name)).toEqual([]);
    });

    test("that breaks a constraint at its end leaves nothing of its beginning", async () => {
      const name = newName();
      await sql.db.insertInto("plans").values(plan(name)).execute();
      const failed = await failure(
        sql.transaction(async (trx) => {
          await trx
            .insertInto("plans")
            .values(plan(`${name}-new`))
            .execute();
          await trx.insertInto("plans").values(plan(name)).execute();
        }),
      );
      expect(isUniqueViolation(failed)).toBe(true);
      expect(await planNames(sql, name)).toEqual([name]);
    });

    test("is never seen partially", async () => {
      const name = newName();
      const pair = (client: Sql, i: number) =>
        client.transaction(async (trx) => {
          await trx
            .insertInto("plans")
            .values(plan(`${name}-${i}-a`))
            .execute();
          await trx
            .insertInto("plans")
            .values(plan(`${name}-${i}-b`))
            .execute();
        });
      const writing = Promise.all(Array.from({ length: 20 }, (_, i) => pair(i % 2 === 0 ? sql : other, i)));
      let done = false;
      const finished = writing.finally(() => {
        done = true;
      });
      while (!done) {
        expect((await planNames(sql, name)).length % 2).toBe(0);
        await turns(1);
      }
      await finished;
      expect(await planNames(sql, name)).toHaveLength(40);
    });

    test("of many at once loses no other's writes, and a failed one stops no other", async () => {
      const name = newName();
      await sql.db.insertInto("counters").values({ name, next: 0 }).execute();
      const add = (client: Sql, i: number) =>
        client.transaction(async (trx) => {
          await trx
            .updateTable("counters")
            .set((expression) => ({ next: expression("next", "+", 1) }))
            .where("name", "=", name)
            .execute();
          if (i % 3 === 0) throw new Error("not this one");
        });
      const outcomes = await Promise.allSettled(
        Array.from({ length: 60 }, (_, i) => add(i % 2 === 0 ? sql : other, i)),
      );
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(40);
      const row = await sql.db.selectFrom("counters").select("next").where("name", "=", name).executeTakeFirst();
      expect(row?.next).toBe(40);
    });

    test("sees its own writes, which the statements beside it do not", async () => {
      const name = newName();
      await sql.transaction(async (trx) => {
        await trx.insertInto("plans").values(plan(name)).execute();
        expect(await trx.selectFrom("plans").select("name").where("name", "=", name).execute()).toHaveLength(1);
        expect(await planNames(sql, name)).toEqual([]);
      });
    });
  });

  describe("a unique violation is distinguished from everything else", () => {
    const tenant = (slug: string) => ({
      id: newId("tenant", systemClock),
      slug,
      name: slug,
      created_at: toIso(systemClock.now()),
    });
    const versionRow = {
      domain: "",
      code: "abc",
      version: 1,
      state: "live" as const,
      tenant_id: "ten_x" as TenantId,
    };
    const twice: [string, () => Promise<unknown>][] = [
      ["a unique column", () => sql.db.insertInto("tenants").values(tenant("same")).execute()],
      ["a primary key", () => sql.db.insertInto("plans").values(plan("same")).execute()],
      ["a primary key of two columns", () => sql.db.insertInto("link_versions").values(versionRow).execute()],
      [
        "a primary key that is a number",
        () => sql.db.insertInto("code_epochs").values({ epoch: 77, fingerprint: "f", created_at: 0 }).execute(),
      ],
    ];
    test.each(twice)("%s", async (_, insert) => {
      await insert();
      expect(isUniqueViolation(await failure(insert()))).toBe(true);
    });

    const others: [string, () => Promise<unknown>][] = [
      [
        "a reference to nothing",
        () =>
          acrossTenants(sql.db)
            .insertInto("api_keys")
            .values({
              id: newId("key", systemClock),
              tenant_id: newId("tenant", systemClock),
              name: "",
              hint: "",
              hash: newName(),
              scopes: "[]",
              created_at: 0,
              expires_at: null,
              revoked_at: null,
              last_used_at: null,
            })
            .execute(),
      ],
      [
        "a value that is not allowed",
        () =>
          sql.db
            .insertInto("link_versions")
            .values({ ...versionRow, code: "def", state: "gone" as "live" })
            .execute(),
      ],
      ["a table that is not there", () => sql.db.executeQuery(CompiledQuery.raw("select * from nowhere"))],
    ];
    test.each(others)("not %s", async (_, work) => {
      const error = await failure(work());
      expect([isUniqueViolation(error), isUnavailable(error)]).toEqual([false, false]);
    });

    test("not what is no error of a database", () => {
      const none = [undefined, null, "23505", { code: "23505" }, new Error("23505")];
      expect(none.filter(isUniqueViolation)).toEqual([]);
    });
  });

  describe("a value", () => {
    test("that is a number comes back as a number, also the largest one", async () => {
      const name = newName();
      await sql.db.insertInto("counters").values({ name, next: Number.MAX_SAFE_INTEGER }).execute();
      const row = await sql.db.selectFrom("counters").select("next").where("name", "=", name).executeTakeFirst();
      expect(row?.next).toBe(Number.MAX_SAFE_INTEGER);
    });

    test("that is text comes back as it went in, in any language", async () => {
      const text = "Zoë 例え 🙂 \u200b '\";--\\ \n end";
      const name = newName();
      await sql.db
        .insertInto("plans")
        .values({ ...plan(name), limits: text })
        .execute();
      const row = await sql.db.selectFrom("plans").select("limits").where("name", "=", name).executeTakeFirst();
      expect(row?.limits).toBe(text);
    });

    test("that is a key is ordered byte by byte, whatever the database's language", async () => {
      const prefix = newName();
      const ends = ["a", "B", "_", "-", "é", "Z", "0"];
      await sql.db
        .insertInto("plans")
        .values(ends.map((end) => plan(prefix + end)))
        .execute();
      const rows = await sql.db
        .selectFrom("plans")
        .select("name")
        .where("name", "like", `${prefix}%`)
        .orderBy("name")
        .execute();
      expect(rows.map(({ name }) => name.slice(prefix.length))).toEqual(["-", "0", "B", "Z", "_", "a", "é"]);
    });

    test("counts as changed in the answer to an update and a delete", async () => {
      const name = newName();
      await sql.db
        .insertInto("plans")
        .values([plan(`${name}-a`), plan(`${name}-b`)])
        .execute();
      const updated = await sql.db
        .updateTable("plans")
        .set({ limits: "[]" })
        .where("name", "like", `${name}%`)
        .executeTakeFirst();
      const deleted = await sql.db.deleteFrom("plans").where("name", "=", `${name}-a`).executeTakeFirst();
      expect([updated.numUpdatedRows, deleted.numDeletedRows]).toEqual([2n, 1n]);
    });
  });

  test("nothing is written by a transaction that has ended, whether it wrote before or not", async () => {
    const ended: Db[] = [];
    await sql.transaction(async (trx) => void ended.push(trx));
    const undone = sql.transaction(async (trx) => {
      await insertPlan.run(trx, { name: "ended-0" });
      ended.push(trx);
      throw new Error("undo");
    });
    expect(await failure(undone)).toEqual(new Error("undo"));
    await sql.transaction(async () => {
      for (const trx of ended) {
        expect(await failure(insertPlan.run(trx, { name: "ended-1" }))).toBeInstanceOf(Error);
        expect(await failure(trx.insertInto("plans").values(plan("ended-2")).execute())).toBeInstanceOf(Error);
      }
    });
    expect(await planNames(sql, "ended-")).toEqual([]);
  });

  test("ping answers while the database is open, and fails when it is closed", async () => {
    const mine = await open();
    await mine.ping();
    await mine.close();
    expect(await failure(mine.ping())).toHaveProperty("message");
  });

  test("nothing can be written through a client that was closed, whether it wrote before or not", async () => {
    const mine = await open();
    await mine.close();
    const name = newName();
    await failure(mine.transaction((trx) => trx.insertInto("plans").values(plan(name)).execute()));
  });

  test("closing one client leaves the others open", async () => {
    const place = await create();
    const [one, two] = [place.connect(), place.connect()];
    await migrate(one);
    await one.close();
    await two.ping();
    expect(await planNames(two, "")).toEqual([]);
  });
});

test("an unavailable database is distinguished from a bug, by its driver's error", () => {
  const coded = (code: string) => Object.assign(new Error("no"), { code });
  const away = [
    "ECONNREFUSED",
    "ECONNRESET",
    "ETIMEDOUT",
    "ENOTFOUND",
    "EAI_AGAIN",
    "08006",
    "53300",
    "57P01",
    "57014",
    "25P03",
  ];
  expect(away.filter((code) => !isUnavailable(coded(code)))).toEqual([]);
  expect(
    ["SQLITE_BUSY", "SQLITE_BUSY_SNAPSHOT", "SQLITE_FULL", "SQLITE_IOERR_WRITE"].map(coded).every(isUnavailable),
  ).toBe(true);
  const mistakes = ["23505", "42601", "22P02", "SQLITE_CONSTRAINT_UNIQUE", "SQLITE_ERROR", "ERR_INVALID_ARG_TYPE"];
  expect(mistakes.filter((code) => isUnavailable(coded(code)))).toEqual([]);
  expect([undefined, null, "ECONNREFUSED", { code: "ECONNREFUSED" }, new Error("no")].filter(isUnavailable)).toEqual(
    [],
  );
});

describe("SQLite, shared with another process", () => {
  /** Another process, for all that SQLite knows: a connection that is not ours. */
  async function setUp() {
    const path = join(tempFolder("sqlite"), "quicklink.sqlite");
    const sql = openSqlite(path);
    await migrate(sql);
    return { path, sql, stranger: new Database(path) };
  }

  test.each([
    ["a statement", (sql: Sql) => sql.db.insertInto("plans").values(plan("mine")).execute()],
    ["a compiled statement", (sql: Sql) => insertPlan.run(sql.db, { name: "mine" })],
    ["a transaction", (sql: Sql) => sql.transaction((trx) => trx.insertInto("plans").values(plan("mine")).execute())],
  ])("%s that meets a writer waits without holding up the thread", async (_, write) => {
    const { sql, stranger } = await setUp();
    stranger.run("begin immediate");
    stranger.run("insert into plans values ('theirs', '{}', 0)");
    let written = false;
    const writing = write(sql).then(() => {
      written = true;
    });
    await turns(200);
    expect(written).toBe(false);
    stranger.run("commit");
    await writing;
    expect(await planNames(sql, "")).toEqual(["mine", "theirs"]);
    stranger.close();
    await sql.close();
  });

  test("a read does not wait for a writer, and sees what was committed", async () => {
    const { sql, stranger } = await setUp();
    stranger.run("begin immediate");
    stranger.run("insert into plans values ('theirs', '{}', 0)");
    expect(await planNames(sql, "")).toEqual([]);
    stranger.run("commit");
    expect(await planNames(sql, "")).toEqual(["theirs"]);
    stranger.close();
    await sql.close();
  });

  test("a transaction keeps other writers out from its beginning, so that what it has read is true when it writes", async () => {
    const { sql, stranger } = await setUp();
    stranger.run("pragma busy_timeout = 0");
    await sql.transaction(async (trx) => {
      expect(await trx.selectFrom("plans").select("name").execute()).toEqual([]);
      expect(() => stranger.run("insert into plans values ('theirs', '{}', 0)")).toThrow("locked");
      await trx.insertInto("plans").values(plan("mine")).execute();
    });
    expect(await planNames(sql, "")).toEqual(["mine"]);
    stranger.close();
    await sql.close();
  });

  test("a writer that gives up blocks no other", async () => {
    const { sql, stranger } = await setUp();
    stranger.run("begin immediate");
    const writing = sql.transaction((trx) => trx.insertInto("plans").values(plan("mine")).execute());
    await turns(20);
    stranger.run("rollback");
    await writing;
    expect(await planNames(sql, "")).toEqual(["mine"]);
    stranger.close();
    await sql.close();
  });

  test("once the process is stopping no statement runs, and an open transaction is rolled back, or ends if it is done", async () => {
    const path = join(tempFolder("sqlite"), "quicklink.sqlite");
    const other = openSqlite(path);
    await migrate(other);
    let isStopping = false;
    const sql = openSqlite(path, "full", { isStopping: () => isStopping });
    const add = (trx: Sql["db"], name: string) => trx.insertInto("plans").values(plan(name)).execute();
    const interrupted = sql.transaction(async (trx) => {
      await add(trx, "test-first");
      isStopping = true;
      await add(trx, "test-second");
    });
    await expect(interrupted).rejects.toThrow(Interrupted);
    await expect(add(sql.db, "test-third")).rejects.toThrow(Interrupted);
    await expect(insertPlan.run(sql.db, { name: "test-compiled" })).rejects.toThrow(Interrupted);
    await expect(sql.transaction((trx) => add(trx, "test-fourth"))).rejects.toThrow(Interrupted);
    isStopping = false;
    await sql.transaction(async (trx) => {
      await add(trx, "test-fifth");
      isStopping = true;
    });
    expect(await planNames(other, "test-")).toEqual(["test-fifth"]);
    await add(other.db, "test-sixth"); // no lock is left
    await sql.close();
    await other.close();
  });

  test.each([
    ["full", 2],
    ["normal", 1],
  ] as const)(
    "a commit is as durable as was asked, and SQLite itself never waits: %s",
    async (durability, synchronous) => {
      const sql = openSqlite(join(tempFolder("sqlite"), "new", "quicklink.sqlite"), durability);
      const pragma = async (query: { execute(on: Sql["db"]): Promise<{ rows: unknown[] }> }) =>
        (await query.execute(sql.db)).rows[0];
      expect(await pragma(raw`pragma synchronous`)).toEqual({ synchronous });
      expect(await pragma(raw`pragma journal_mode`)).toEqual({ journal_mode: "wal" });
      expect(await pragma(raw`pragma busy_timeout`)).toEqual({ timeout: 0 }); // SQLite would wait on our thread
      expect(await sql.transaction(async (trx) => (await raw`pragma synchronous`.execute(trx)).rows)).toEqual([
        { synchronous },
      ]);
      await sql.close();
    },
  );

  test("what a statement may have to undo is in memory for the transactions of an import, and for nothing else", async () => {
    const sql = openSqlite(join(tempFolder("sqlite"), "quicklink.sqlite"));
    await undoInMemory(sql);
    const storeOf = async (db: Sql["db"]) => (await raw`pragma temp_store`.execute(db)).rows;
    expect(await sql.transaction((trx) => storeOf(trx))).toEqual([{ temp_store: 2 }]);
    expect(await storeOf(sql.db)).toEqual([{ temp_store: 0 }]);
    await sql.close();
  });

  test.each([
    ["full", 0],
    ["normal", 2],
  ] as const)(
    "what a statement may have to undo is in memory only where statements are short: %s",
    async (durability, temp_store) => {
      const sql = openSqlite(join(tempFolder("sqlite"), "quicklink.sqlite"), durability);
      const rows = await sql.transaction(async (trx) => (await raw`pragma temp_store`.execute(trx)).rows);
      expect(rows).toEqual([{ temp_store }]);
      await sql.close();
    },
  );
});

if (postgresAvailable()) {
  describe("PostgreSQL, over a network", () => {
    const silent = createLog("silent", { write() {} }, false, systemClock.now);

    /** Two pools of one connection each, of which the second can end the first's. */
    async function setUp() {
      const url = await (await sharedPostgres()).createDatabase("network");
      const [sql, operator] = [
        openPostgres(url, { connections: 1 }, silent),
        openPostgres(url, { connections: 1 }, silent),
      ];
      const pidOf = async (db: Sql["db"]) =>
        (await raw<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid;
      const end = async (pid: number | undefined) => {
        await raw`select pg_terminate_backend(${pid}::int)`.execute(operator.db);
        const gone = raw<{ left: number }>`select count(*)::int as left from pg_stat_activity where pid = ${pid}`;
        await until(
          "the connection to end",
          async () => (await gone.execute(operator.db)).rows[0]?.left === 0 || undefined,
        );
        await turns(20); // for the news to reach us
      };
      const close = () => Promise.all([sql.close(), operator.close()]);
      return { sql, pidOf, end, close };
    }

    test("statements and transactions have a time limit, which the database enforces", async () => {
      const { sql, close } = await setUp();
      const { rows } = await raw`select
        current_setting('statement_timeout') as statement,
        current_setting('idle_in_transaction_session_timeout') as idle`.execute(sql.db);
      expect(rows).toEqual([{ statement: "5s", idle: "5s" }]);
      await close();
    });

    test("a statement that takes too long is cancelled, and that is not the caller's error", async () => {
      const { sql, close } = await setUp();
      const error = await failure(
        sql.transaction(async (trx) => {
          await raw`set local statement_timeout = 20`.execute(trx);
          await raw`select pg_sleep(5)`.execute(trx);
        }),
      );
      expect(isUnavailable(error)).toBe(true);
      await close();
    });

    test("a transaction that paused too long, in a process that was too busy to notice, is not the caller's error", async () => {
      const { sql, close } = await setUp();
      const error = await failure(
        sql.transaction(async (trx) => {
          await raw`set local idle_in_transaction_session_timeout = 20`.execute(trx);
          Bun.sleepSync(300); // the news is there, and nobody has read it
          await raw`select 1`.execute(trx);
        }),
      );
      expect(isUnavailable(error)).toBe(true);
      await sql.ping();
      await close();
    });

    test("two transactions that wait for each other are not the caller's error", async () => {
      const sql = openPostgres(await (await sharedPostgres()).createDatabase("deadlock"), { connections: 2 }, silent);
      const lock = (trx: Sql["db"], key: number) => raw`select pg_advisory_xact_lock(${key}::int)`.execute(trx);
      const both = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
      const outcomes = await Promise.allSettled(
        [0, 1].map((own) =>
          sql.transaction(async (trx) => {
            await raw`set local deadlock_timeout = 20`.execute(trx);
            await lock(trx, own);
            both[own]?.resolve();
            await both[1 - own]?.promise;
            await lock(trx, 1 - own);
          }),
        ),
      );
      const [lost] = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
      expect(lost).toMatchObject({ code: "40P01" });
      expect([isConflict(lost), isUnavailable(lost)]).toEqual([true, false]);
      await sql.close();
    });

    test("an idle connection that is lost is replaced, and the process continues", async () => {
      const { sql, pidOf, end, close } = await setUp();
      const lost = await pidOf(sql.db);
      await end(lost);
      const found = await until("a new connection", () => pidOf(sql.db).catch(() => undefined));
      expect(found).not.toBe(lost);
      await close();
    });

    test("a connection that is lost within a transaction fails that transaction, and the process continues", async () => {
      const { sql, pidOf, end, close } = await setUp();
      const error = await failure(
        sql.transaction(async (trx) => {
          await end(await pidOf(trx));
          await pidOf(trx);
        }),
      );
      expect(isUnavailable(error)).toBe(true);
      await sql.ping();
      await close();
    });

    test("a connection that the network has dropped is replaced as soon as it does not answer", async () => {
      const postgres = await sharedPostgres();
      const proxy = await startProxy(Number(new URL(postgres.base).port));
      const url = proxy.url(await postgres.createDatabase("network"));
      const sql = openPostgres(`${url}?query_timeout=200`, { connections: 1 }, silent);
      await sql.ping();
      proxy.drop();
      expect(
        isUnavailable(await failure(sql.transaction(async (trx) => void (await raw`select 1`.execute(trx))))),
      ).toBe(true);
      proxy.pass();
      await until("an answer", () =>
        sql.ping().then(
          () => true,
          () => undefined,
        ),
      );
      await sql.close();
      proxy.stop();
    });

    test("an unreachable server is an error, not a wait", async () => {
      const nowhere = `postgres://nobody@127.0.0.1:${freePort()}/none`;
      const sql = openPostgres(nowhere, { connections: 1 }, silent);
      const error = await failure(sql.ping());
      expect(error).toHaveProperty("code", "ECONNREFUSED");
      expect(isUnavailable(error)).toBe(true);
      await sql.close();
    });
  });
}
