/** Statements that are compiled once: the same results as a query that is built on the spot, on both databases. */
import { beforeAll, describe, expect, test } from "bun:test";
import { CompiledQuery, sql as raw } from "kysely";
import { systemClock } from "../../src/base/clock.ts";
import type { FileId, LinkId, TenantId } from "../../src/base/ids.ts";
import { createLog } from "../../src/base/log.ts";
import { createDomainStore } from "../../src/domains/store.ts";
import { createEmailStore } from "../../src/email/outbox/store.ts";
import { createFileStore } from "../../src/files/store.ts";
import { detailsOf, passwordOf } from "../../src/links/read/details.ts";
import { createLinkStore } from "../../src/links/store.ts";
import { createSqlLeases } from "../../src/sql/leases.ts";
import { migrate } from "../../src/sql/migrate.ts";
import { openPostgres } from "../../src/sql/postgres.ts";
import { isUniqueViolation, type Sql } from "../../src/sql/sql.ts";
import { type Params, rowBatches, statement } from "../../src/sql/statement.ts";
import { type Db, ofTenant, type TenantDb } from "../../src/sql/tenant-db.ts";
import { createKeys } from "../../src/tenants/keys.ts";
import { usedInMonth } from "../../src/tenants/monthly-usage.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { postgresAvailable, sharedPostgres } from "../ground/postgres.ts";
import { onEachDatabase } from "./databases.ts";

interface Domain {
  readonly host: string;
  readonly token: string;
  readonly root_url: string | null;
  readonly created_at: number;
}

const insertDomains = statement((own: TenantDb, { domains }: Params<{ domains: readonly Domain[] }>) =>
  own.insertInto("domains").values(
    domains.map((domain) => ({
      ...domain,
      ...{ state: "pending" as const, is_default: 0 as const, root_blocked: 0 as const, missing_blocked: 0 as const },
    })),
  ),
);

const domainOf = statement((own: TenantDb, { host }: Params<{ host: string }>) =>
  own.selectFrom("domains").select(["host", "token", "root_url", "created_at"]).where("host", "=", host),
);

const domainsOf = statement((own: TenantDb, { hosts }: Params<{ hosts: readonly string[] }>) =>
  own.selectFrom("domains").select("host").where("host", "in", hosts).orderBy("host"),
);

const setRoot = statement((own: TenantDb, { host, url }: Params<{ host: string; url: string | null }>) =>
  own.updateTable("domains").set({ root_url: url }).where("host", "=", host),
);

const removeDomain = statement((own: TenantDb, { host }: Params<{ host: string }>) =>
  own.deleteFrom("domains").where("host", "=", host).returning("token"),
);

const insertPlan = statement((db: Db, { name, limits }: Params<{ name: string; limits: string }>) =>
  db.insertInto("plans").values({ name, limits, created_at: 0 }),
);

const planNamed = statement((db: Db, { name }: Params<{ name: string }>) =>
  db.selectFrom("plans").select(["name", "limits"]).where("name", "=", name),
);

const failure = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error("this should have failed");
    },
    (error: unknown) => error,
  );

const domain = (host: string, token = "t"): Domain => ({ host, token, root_url: null, created_at: 1 });

onEachDatabase(({ open }) => {
  let sql: Sql;
  let ours: TenantId;
  let theirs: TenantId;

  beforeAll(async () => {
    sql = await open();
    const tenants = createTenants(sql, systemClock);
    ours = (await tenants.create("ours", "Ours", byCommand)).id;
    theirs = (await tenants.create("theirs", "Theirs", byCommand)).id;
  });

  const own = () => ofTenant(sql.db, ours);

  describe("a statement", () => {
    test("writes and reads null, large numbers and any text as a built query does", async () => {
      const domains = [
        { host: "a.example.com", token: "'; drop table links; --", root_url: null, created_at: 2 ** 53 - 1 },
        { host: "b.example.com", token: 'Größe 中文 \u{1f517} \\ " $1 ?', root_url: "", created_at: 0 },
      ];
      await insertDomains.run(own(), { domains });
      for (const row of domains) {
        expect(await domainOf.first(own(), { host: row.host })).toEqual(row);
        const built = own()
          .selectFrom("domains")
          .select(["host", "token", "root_url", "created_at"])
          .where("host", "=", row.host);
        expect(await built.executeTakeFirst()).toEqual(row);
      }
      expect(await domainOf.first(own(), { host: "nobody.example.com" })).toBeUndefined();
    });

    test("binds null and a value with the same text", async () => {
      await insertDomains.run(own(), { domains: [domain("null.example.com")] });
      const root = async () => (await domainOf.one(own(), { host: "null.example.com" })).root_url;
      expect(await setRoot.run(own(), { host: "null.example.com", url: "https://example.com/" })).toBe(1);
      expect(await root()).toBe("https://example.com/");
      expect(await setRoot.run(own(), { host: "null.example.com", url: null })).toBe(1);
      expect(await root()).toBeNull();
      expect(await setRoot.run(own(), { host: "nobody.example.com", url: null })).toBe(0);
    });

    test("reaches the rows of the handle's tenant only, although both tenants use the same statement", async () => {
      const host = "shared.example.com";
      for (const tenant of [ours, theirs]) {
        await insertDomains.run(ofTenant(sql.db, tenant), { domains: [domain(host, tenant)] });
      }
      const token = async (tenant: TenantId) => (await domainOf.first(ofTenant(sql.db, tenant), { host }))?.token;
      expect([await token(ours), await token(theirs), await token(ours)]).toEqual([ours, theirs, ours]);
      expect(await removeDomain.all(ofTenant(sql.db, theirs), { host })).toEqual([{ token: theirs }]);
      expect([await token(ours), await token(theirs)]).toEqual([ours, undefined]);
    });

    test("finds exactly what is in a list, whatever its length", async () => {
      const hosts = Array.from({ length: 9 }, (_, i) => `${i}.list.example.com`);
      for (const domains of rowBatches(hosts, 4)) {
        expect(await insertDomains.run(own(), { domains: domains.map((host) => domain(host)) })).toBe(domains.length);
      }
      for (let length = 1; length <= hosts.length; length++) {
        const some = hosts.slice(0, length);
        expect(await domainsOf.all(own(), { hosts: some })).toEqual(some.map((host) => ({ host })));
      }
      const twice = ["0.list.example.com", "none.example.com", "0.list.example.com"];
      expect(await domainsOf.all(own(), { hosts: twice })).toEqual([{ host: "0.list.example.com" }]);
    });

    test("is part of the transaction that it runs on", async () => {
      const undone = await failure(
        sql.transaction(async (trx) => {
          await insertPlan.run(trx, { name: "undone", limits: "{}" });
          expect(await planNamed.one(trx, { name: "undone" })).toEqual({ name: "undone", limits: "{}" });
          throw new Error("changed my mind");
        }),
      );
      expect(undone).toEqual(new Error("changed my mind"));
      expect(await planNamed.first(sql.db, { name: "undone" })).toBeUndefined();
      await sql.transaction((trx) => insertPlan.run(trx, { name: "done", limits: "{}" }));
      expect(await planNamed.first(sql.db, { name: "done" })).toBeDefined();
    });

    test("is seen by a plugin of its handle, as a built query is", async () => {
      const results: unknown[] = [];
      const db = sql.db.withPlugin({
        transformQuery: ({ node }) => node,
        async transformResult({ result }) {
          results.push(result.rows);
          return result;
        },
      });
      await insertPlan.run(sql.db, { name: "plugged", limits: "{}" });
      await planNamed.first(db as typeof sql.db, { name: "plugged" });
      expect(results).toEqual([[{ name: "plugged", limits: "{}" }]]);
    });

    test("fails as a built query does, and works again", async () => {
      await insertPlan.run(sql.db, { name: "once", limits: "{}" });
      expect(isUniqueViolation(await failure(insertPlan.run(sql.db, { name: "once", limits: "{}" })))).toBe(true);
      await insertPlan.run(sql.db, { name: "twice", limits: "{}" });
      const none = await failure(planNamed.one(sql.db, { name: "none" }));
      expect(none).toEqual(new Error("the statement returned no row"));
    });

    test("is compiled once for a database and its transactions, and once for each padded length", async () => {
      let built = 0;
      const count = statement((db: Db, { names }: Params<{ names: readonly string[] }>) => {
        built++;
        return db
          .selectFrom("plans")
          .select(({ fn }) => fn.countAll<number>().as("count"))
          .where("name", "in", names);
      });
      for (const names of [["a"], ["b"], ["a", "b", "c"], ["a", "b", "c", "d"], ["d", "c", "b"]]) {
        await count.one(sql.db, { names });
      }
      expect(built).toBe(2); // for 1 and for 4
      await sql.transaction((trx) => count.one(trx, { names: ["a"] }));
      // SQLite has a second connection for transactions.
      expect(built).toBe(sql.dialect === "sqlite" ? 3 : 2);
      await sql.transaction((trx) => count.one(trx, { names: ["a"] }));
      expect(built).toBe(sql.dialect === "sqlite" ? 3 : 2);
    });

    test("of plain SQL text takes values too", async () => {
      const next = statement(
        (_: Db, { number }: Params<{ number: number }>) =>
          raw<{
            next: number;
          }>`select cast(${number} as ${raw.raw(sql.dialect === "sqlite" ? "integer" : "int")}) + ${1} as next`,
      );
      expect([await next.one(sql.db, { number: 1 }), await next.one(sql.db, { number: 41 })]).toEqual([
        { next: 2 },
        { next: 42 },
      ]);
    });

    test("is refused where its text could go wrong later", async () => {
      const everything = statement((db: Db) => db.selectFrom("plans").selectAll());
      const returned = statement((own: TenantDb) => own.updateTable("domains").set({ token: "" }).returningAll());
      const joined = statement((db: Db) => db.selectFrom("plans as p").selectAll("p"));
      const message = "a statement names its columns: see sql/statement.ts";
      expect(await failure(everything.all(sql.db))).toEqual(new Error(message));
      expect(await failure(returned.all(own()))).toEqual(new Error(message));
      expect(await failure(joined.all(sql.db))).toEqual(new Error(message));

      const late = statement((db: Db) => db.selectFrom("plans").select("name").where("created_at", "<", Date.now()));
      expect(await failure(late.all(sql.db))).toEqual(new Error("a time is a parameter of a statement"));
      const frozen = statement((db: Db) => ofTenant(db, ours).selectFrom("domains").select("host"));
      expect(await failure(frozen.all(sql.db))).toEqual(new Error("an id is a parameter of a statement"));

      const padded = statement((own: TenantDb, { hosts }: Params<{ hosts: readonly string[] }>) =>
        own
          .insertInto("imports")
          .values(hosts.map((id) => ({ id, records: 0, line: 0, made: 0, present: 0, refused: 0, started_at: 0 }))),
      );
      expect(await failure(padded.run(own(), { hosts: ["a", "b", "c"] }))).toEqual(
        new Error("insert hosts as a list of rows"),
      );

      const lists = [
        [[], "a statement was given an empty list"],
        [Array.from({ length: 17 }, (_, i) => domain(String(i))), "17 rows need rowBatches"],
      ] as const;
      for (const [domains, problem] of lists) {
        expect(await failure(insertDomains.run(own(), { domains }))).toEqual(new Error(problem));
      }
      const incomplete = { host: "x.example.com" } as { host: string; url: null };
      await setRoot.run(own(), { host: "x.example.com", url: null });
      expect(await failure(setRoot.run(own(), incomplete))).toEqual(new Error("the statement has no value for url"));
    });
  });
});

test("rows are split into as few lists as possible, in order, and of few lengths", () => {
  const lengths = (count: number) => {
    const rows = Array.from({ length: count }, (_, i) => i);
    const batches = rowBatches(rows, 256);
    expect(batches.flat()).toEqual(rows);
    return batches.map(({ length }) => length);
  };
  expect([0, 1, 7, 16, 17, 100, 300].map(lengths)).toEqual([[], [1], [7], [16], [16, 1], [64, 32, 4], [256, 32, 12]]);
  const all = Array.from({ length: 600 }, (_, i) => lengths(i)).flat();
  expect(new Set(all).size).toBe(20);
});

test("the types refuse values that could change the text, and a tenant's statement without its tenant", () => {
  // Checked by the compiler, never run.
  const refused = (db: Db, own: TenantDb) => [
    // @ts-expect-error a tenant's statement runs on the tenant's handle
    () => domainOf.first(db, { host: "a" }),
    // @ts-expect-error and a shared one does not
    () => planNamed.first(own, { name: "a" }),
    // @ts-expect-error every value is given
    () => setRoot.run(own, { host: "a" }),
    // @ts-expect-error
    () => domainOf.first(own),
    // @ts-expect-error of its type
    () => domainOf.first(own, { host: 1 }),
    // @ts-expect-error a statement that returns no rows has none to read
    async () => (await setRoot.first(own, { host: "a", url: null }))?.host,
    () =>
      // @ts-expect-error a value is never missing: that would be another text
      statement((db: Db, _: Params<{ name?: string }>) => db.selectFrom("plans").select("name")),
    // @ts-expect-error a flag is 0 or 1
    () => statement((db: Db, _: Params<{ flag: boolean }>) => db.selectFrom("plans").select("name")),
    () =>
      statement((db: Db, { name }: Params<{ name: number }>) =>
        // @ts-expect-error a parameter has the type of its column
        db.selectFrom("plans").select("name").where("name", "=", name),
      ),
  ];
  expect(refused).toBeFunction();
});

if (postgresAvailable()) {
  describe("on PostgreSQL", () => {
    const warnings: string[] = [];
    const log = createLog("warn", { write: (line: string) => void warnings.push(line) }, false, systemClock.now);

    /** With one connection, so that every statement meets the same one. */
    async function openOne(connections = 1): Promise<Sql> {
      const url = await (await sharedPostgres()).createDatabase("statements");
      const sql = openPostgres(url, { connections }, log);
      await migrate(sql);
      return sql;
    }

    const prepared = async ({ db }: Sql) => {
      const text = "select name, statement, parameter_types::text from pg_prepared_statements";
      return (await db.executeQuery<Record<"name" | "statement" | "parameter_types", string>>(CompiledQuery.raw(text)))
        .rows;
    };
    const run = ({ db }: Sql, text: string) => db.executeQuery(CompiledQuery.raw(text));

    const recentPlans = statement((db: Db, { since }: Params<{ since: number }>) =>
      db.selectFrom("plans").select(["name", "created_at"]).where("created_at", ">=", since),
    );

    test("a statement is prepared under a name made from its text, a built query is not", async () => {
      const sql = await openOne();
      for (let i = 0; i < 3; i++) await planNamed.first(sql.db, { name: "a" });
      await sql.db.selectFrom("plans").select("name").where("limits", "=", "x").execute();
      const [row, ...more] = await prepared(sql);
      expect(more).toEqual([]);
      expect(row).toMatchObject({ statement: 'select "name", "limits" from "plans" where "name" = $1' });
      expect(row?.name).toMatch(/^ql_[0-9a-f]{16}$/);
      await sql.close();
    });

    test("a migration that adds a column while a server runs is not noticed", async () => {
      const sql = await openOne();
      const pid = async () => (await run(sql, "select pg_backend_pid() as pid")).rows;
      await insertPlan.run(sql.db, { name: "a", limits: "{}" });
      for (let i = 0; i < 7; i++) await planNamed.one(sql.db, { name: "a" });
      const before = await pid();
      await run(sql, "alter table plans add column colour text not null default 'red'");
      await insertPlan.run(sql.db, { name: "b", limits: "{}" });
      expect(await planNamed.one(sql.db, { name: "b" })).toEqual({ name: "b", limits: "{}" });
      await sql.transaction((trx) => planNamed.one(trx, { name: "b" }));
      expect(await pid()).toEqual(before);
      await sql.close();
    });

    test("a column whose type changes costs a connection, and at most one transaction on it", async () => {
      const sql = await openOne();
      await insertPlan.run(sql.db, { name: "a", limits: "{}" });
      await recentPlans.one(sql.db, { since: 0 });
      await run(sql, "alter table plans alter column created_at type integer");
      // Sent again without its name.
      expect(await recentPlans.one(sql.db, { since: 0 })).toEqual({ name: "a", created_at: 0 });
      expect(await recentPlans.one(sql.db, { since: 0 })).toEqual({ name: "a", created_at: 0 });
      await run(sql, "alter table plans alter column created_at type bigint");
      const read = () => sql.transaction((trx) => recentPlans.one(trx, { since: 0 }));
      expect(String(await failure(read()))).toContain("cached plan must not change result type");
      expect(await read()).toEqual({ name: "a", created_at: 0 });
      await sql.close();
    });

    test("every lookup of a request has an index in its generic plan", async () => {
      const sql = await openOne();
      const tenant = (await createTenants(sql, systemClock).create("ours", "Ours", byCommand)).id;
      const place = { domain: "", code: "a" };
      const [links, domains, files, emails] = [
        createLinkStore(sql),
        createDomainStore(sql),
        createFileStore(sql),
        createEmailStore(sql),
      ];
      const leases = createSqlLeases(
        sql,
        systemClock,
        [],
        (code) => ({ domain: "", code }),
        () => 1,
      );
      const lookups: readonly (() => Promise<unknown>)[] = [
        () => links.target("", "a"),
        () => links.get(tenant, "lnk" as LinkId),
        () => links.byCode(tenant, "", "a"),
        () => detailsOf(sql, place.domain, place.code),
        () => passwordOf(sql, place.domain, place.code),
        () => createKeys({ sql: sql, clock: systemClock }).authenticate(`ql_${"a".repeat(43)}`),
        () => createTenants(sql, systemClock).bySlug("ours"),
        () => domains.get(tenant, "a.example.com"),
        () => domains.defaultHost(tenant),
        () => domains.verified("a.example.com"),
        () => files.get(tenant, "fil" as FileId),
        () => files.byId("fil" as FileId),
        () => files.several(tenant, ["a", "b", "c"] as FileId[]),
        () => emails.find(tenant, "key"),
        () => emails.look(),
        () => emails.claim("us", 10),
        () => leases.total({ key: "a", draws: "hits", month: "2026-11" }),
        () => leases.acquire({ id: "l", key: "a", draws: "hits", want: 1, max: 10 }),
        () => usedInMonth(sql.db, { tenant, name: "links", month: "2026-11" }),
      ];
      // A small table is read whole in any case: what counts is that it need not be. Plans are made at the first run.
      await run(sql, "set enable_seqscan = off");
      await run(sql, "set plan_cache_mode = force_generic_plan");
      for (const lookup of lookups) for (let i = 0; i < 7; i++) await lookup();
      const plans: string[] = [];
      for (const { name, statement, parameter_types } of await prepared(sql)) {
        const count = parameter_types.replace(/[{}]/g, "").split(",").filter(Boolean).length;
        const values = count === 0 ? "" : `(${Array.from({ length: count }, () => "null").join(", ")})`;
        const { rows } = await run(sql, `explain execute ${name}${values}`);
        const plan = rows.map((row) => (row as { "QUERY PLAN": string })["QUERY PLAN"]).join("\n");
        if (plan.includes("Seq Scan")) plans.push(`${statement}\n${plan}`);
      }
      expect(plans).toEqual([]);
      expect((await prepared(sql)).length).toBeGreaterThanOrEqual(lookups.length);
      await sql.close();
    });

    test("behind a pooler that forgets names, statements are sent without them, and a warning says so once", async () => {
      const sql = await openOne();
      await insertPlan.run(sql.db, { name: "a", limits: "{}" });
      await planNamed.one(sql.db, { name: "a" });
      warnings.length = 0;
      await run(sql, "deallocate all");
      expect(await planNamed.one(sql.db, { name: "a" })).toEqual({ name: "a", limits: "{}" });
      expect(await sql.transaction((trx) => planNamed.one(trx, { name: "a" }))).toEqual({ name: "a", limits: "{}" });
      await insertPlan.run(sql.db, { name: "b", limits: "{}" });
      expect(await prepared(sql)).toEqual([]);
      expect(warnings.filter((line) => line.includes("connection pooler"))).toHaveLength(1);
      await sql.close();
    });
  });
}
