/** Several processes write clicks at the same time, and one is killed. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { sql as raw } from "kysely";
import { systemClock } from "../../src/base/clock.ts";
import { createLog } from "../../src/base/log.ts";
import { quarterOf } from "../../src/clicks/click.ts";
import { partsOf } from "../../src/clicks/events/parts.ts";
import { createClickWriter } from "../../src/clicks/events/writer.ts";
import { migrate } from "../../src/sql/migrate.ts";
import { openPostgres } from "../../src/sql/postgres.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { openSqlite } from "../../src/sql/sqlite.ts";
import { postgresAvailable, sharedPostgres } from "../ground/postgres.ts";
import { startProcess, until } from "../ground/process.ts";
import { tempFolder } from "../ground/temp.ts";
import { batchOf, clickTenant, storedClicks, type TestClick, type TestTenant } from "./click-batches.ts";

const secret = new Uint8Array(32).fill(7);
const log = createLog("silent", { write() {} }, false, systemClock.now);

const newPlaces: Readonly<Record<string, () => Promise<string>>> = {
  SQLite: async () => join(tempFolder("sqlite"), "quicklink.sqlite"),
  ...(postgresAvailable() && { PostgreSQL: async () => (await sharedPostgres()).createDatabase("writers") }),
};
const openAt = (place: string): Sql =>
  place.startsWith("postgres:") ? openPostgres(place, { connections: 2 }, log) : openSqlite(place, "normal");

/** Many tenants, links, tags and values that all processes share, in an order of its own for each of them. */
function clicksFor(tenants: readonly TestTenant[], process: number, round: number, now: number): TestClick[] {
  const clicks = Array.from({ length: 400 }, (_, i): TestClick => {
    const place = (i * 7 + process * 13 + round) % tenants.length;
    const tenant = tenants[place];
    if (tenant === undefined) throw new Error("no tenant");
    return {
      link: tenant.link(place * 100 + ((i * 31 + process) % 20) + 1, { tags: [`t${i % 3}`] }),
      at: now - (i % 4 === 0 ? 20 * 60_000 : i % 60_000),
      visitor: ((i * 17 + process * 5) % 90) + 1,
      facts: { referrer: `r${(i * 11 + round) % 40}.example`, country: `C${i % 30}` },
    };
  });
  return process % 2 === 0 ? clicks : clicks.toReversed();
}

/** The server may still be at the last statement of a process that is gone. */
async function isAlone(sql: Sql): Promise<true | undefined> {
  const { rows } = await raw`select 1 from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`.execute(sql.db);
  return rows.length === 0 || undefined;
}

for (const [name, newPlace] of Object.entries(newPlaces)) {
  describe(name, () => {
    test("four processes write to the same rows without a deadlock, and lose nothing", async () => {
      const place = await newPlace();
      const sql = openAt(place);
      await migrate(sql);
      const tenants = await Promise.all([..."abcde"].map((slug) => clickTenant(sql, slug)));
      const now = systemClock.now();
      const clients = [0, 1, 2, 3].map(() => openAt(place));
      await Promise.all(
        clients.map(async (client, process) => {
          const writer = createClickWriter({ sql: client, secret, writerId: `c${process}` });
          for (let round = 1; round <= 6; round++) {
            await writer.write(round, batchOf(clicksFor(tenants, process, round, now)));
          }
        }),
      );
      const stored = await Promise.all(tenants.map(({ number }) => storedClicks(sql, number)));
      expect(stored.flatMap((links) => Object.values(links)).reduce((sum, n) => sum + n, 0)).toBe(4 * 6 * 400);
      if (sql.dialect === "postgres") {
        const { rows } = await raw<{ deadlocks: number }>`
          select deadlocks from pg_stat_database where datname = current_database()`.execute(sql.db);
        expect(Number(rows[0]?.deadlocks)).toBe(0);
      }
      await Promise.all([sql, ...clients].map((one) => one.close()));
    }, 60_000);

    /** Clicks that share rows of one kind only: whoever waits for one of another kind meets nobody at these. */
    const shared: Record<
      string,
      (tenant: TestTenant, process: number, i: number, round: number) => Partial<TestClick>
    > = {
      values: (tenant, process, i, round) => ({
        link: tenant.link((process + 1) * 1_000 + (i % 50)),
        facts: { referrer: `r${round}-${i}.example` },
      }),
      domains: (tenant, process, i, round) => ({
        link: tenant.link((process + 1) * 100_000 + round * 1_000 + i, { domain: `d${round}-${i}.example` }),
      }),
      visitors: (tenant, process, i, round) => ({ link: tenant.link(process + 1), visitor: round * 10_000 + i + 1 }),
      totals: (tenant, process, i) => ({ link: tenant.link(i + 1), visitor: process * 10_000 + i + 1 }),
    };
    test.each(Object.keys(shared))(
      "two processes with the same %s in opposite orders do not deadlock",
      async (kind) => {
        const place = await newPlace();
        const [sql, other] = [openAt(place), openAt(place)];
        await migrate(sql);
        const tenant = await clickTenant(sql, "acme");
        const writers = [sql, other].map((on, n) => createClickWriter({ sql: on, secret, writerId: `c${n}` }));
        const at = systemClock.now();
        for (const writer of writers) await writer.write(1, batchOf([{ link: tenant.link(1), at, visitor: 1 }]));
        const count = 900;
        for (let round = 2; round <= 5; round++) {
          await Promise.all(
            writers.map(async (writer, process) => {
              const clicks = Array.from({ length: count }, (_, i) => ({
                ...{ link: tenant.link(1), at },
                ...shared[kind]?.(tenant, process, i, round),
              }));
              await writer.write(round, batchOf(process === 0 ? clicks : clicks.toReversed()));
            }),
          );
        }
        const stored = Object.values(await storedClicks(sql, tenant.number)).reduce((sum, n) => sum + n, 0);
        expect(stored).toBe(2 + 4 * 2 * count);
        await Promise.all([sql.close(), other.close()]);
      },
      60_000,
    );

    /** Clicks without facts come in any order, and are not sorted before they are stored. */
    const locked = {
      tenants: { table: "click_tenants", column: "tenant_id", late: true },
      totals: { table: "click_links", column: "link", late: false },
    } as const;
    // SQLite locks the whole file.
    const kinds = name === "PostgreSQL" ? (Object.keys(locked) as (keyof typeof locked)[]) : [];
    test.each(kinds)(
      "rows of %s are locked in the order of their keys",
      async (kind) => {
        const { table, column, late } = locked[kind];
        const place = await newPlace();
        const [sql, blocker, other] = [openAt(place), openAt(place), openAt(place)];
        await migrate(sql);
        const tenants = await Promise.all([..."abcde"].map((slug) => clickTenant(sql, slug)));
        const links = tenants.map((tenant, i) => tenant.link(i + 1));
        const quarter = quarterOf(systemClock.now() - (late ? 3_600_000 : 0));
        const bare = links.map((link) => ({ link, quarter, reasons: { counted: 1 } }));
        const writer = createClickWriter({ sql, secret, writerId: "w" });
        await writer.write(1, batchOf([], bare));
        const keys = (kind === "tenants" ? tenants.map(({ id }) => id) : links.map(({ link }) => link)).toSorted(
          (a, b) => (a < b ? -1 : 1),
        );
        const rows = raw.raw(`select ${column} as key from ${table}`);
        const orders = [bare, bare.toReversed()];
        for (const [turn, order] of orders.entries()) {
          let writing: Promise<unknown> = Promise.resolve();
          await blocker.db.transaction().execute(async (trx) => {
            await raw`${rows} where ${raw.ref(column)} = ${keys[2]} for update`.execute(trx);
            writing = writer.write(2 + turn, batchOf([], order));
            await until("the writer to wait", async () => {
              const waiting = await raw`select 1 from pg_stat_activity
                where datname = current_database() and wait_event_type = 'Lock'`.execute(trx);
              return waiting.rows.length > 0 || undefined;
            });
            const free = await other.db
              .transaction()
              .execute(async (third) => await raw<{ key: never }>`${rows} for update skip locked`.execute(third));
            expect(free.rows.map(({ key }) => key).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(
              keys.slice(3) as never[],
            );
          });
          await writing;
        }
        await Promise.all([sql, blocker, other].map((one) => one.close()));
      },
      60_000,
    );

    test("a process that is killed loses its last batch at most, and leaves a database that others write to", async () => {
      const place = await newPlace();
      const sql = openAt(place);
      await migrate(sql);
      const acme = await clickTenant(sql, "acme");
      const child = startProcess(
        [process.execPath, join(import.meta.dir, "click-writer-child.ts"), place, String(acme.number)],
        {
          cwd: join(import.meta.dir, "../.."),
          env: {},
        },
      );
      await until("five batches", () => child.output().includes("written 5\n") || undefined);
      await child.kill();
      if (sql.dialect === "postgres") await until("the end of its connection", () => isAlone(sql));
      const answered = Number(/written (\d+)\n(?!.*written)/s.exec(child.output())?.[1]);
      const stored = (await storedClicks(sql, acme.number))[1] ?? 0;
      // Whole transactions: as many parts as the child makes of a batch.
      const link = acme.link(1);
      const parts = partsOf(batchOf(Array.from({ length: 1_000 }, () => ({ link, at: 0 }))), 100);
      const ends = parts.map((_, end) => parts.slice(0, end).reduce((sum, { places }) => sum + places.length, 0));
      expect(ends).toContain(stored % 1_000);
      expect(stored / 1_000).toBeWithin(answered, answered + 2);
      const writer = createClickWriter({ sql, secret, writerId: "next" });
      await writer.write(1, batchOf([{ link: acme.link(1), at: systemClock.now(), visitor: 3 }]));
      expect((await storedClicks(sql, acme.number))[1]).toBe(stored + 1);
      await sql.close();
    }, 60_000);
  });
}
