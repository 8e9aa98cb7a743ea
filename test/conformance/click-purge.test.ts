/** What is deleted, at the edges: rows that nothing points to any more. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { sql as raw } from "kysely";
import { systemClock } from "../../src/base/clock.ts";
import { utcDay } from "../../src/clicks/click.ts";
import { createClickWriter } from "../../src/clicks/events/writer.ts";
import { parseReport } from "../../src/clicks/reports/query.ts";
import { reportOn } from "../../src/clicks/reports/report.ts";
import { purgeClicks } from "../../src/clicks/rollups/purge.ts";
import { forgetVisitors } from "../../src/clicks/rollups/purge-visitors.ts";
import { condense } from "../../src/clicks/rollups/rounds.ts";
import { migrate } from "../../src/sql/migrate.ts";
import { dropPartitions } from "../../src/sql/partitions.ts";
import type { TenantNumber } from "../../src/sql/schema.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants, ofTenant } from "../../src/sql/tenant-db.ts";
import { until } from "../ground/process.ts";
import { batchOf, clickTenant, storedClicks, type TestTenant } from "./click-batches.ts";
import { onEachDatabase } from "./databases.ts";

const secret = new Uint8Array(32).fill(7);
const dayMs = 86_400_000;
const noon = Date.UTC(2026, 10, 17, 12);

/** The rows of all tables that have the number of a tenant, a link or a group of it. */
async function rowsOf({ db }: Sql, tenant: TenantNumber, subjects: readonly number[]): Promise<Record<string, number>> {
  const counted: Record<string, number> = {};
  for (const table of ["clicks", "click_overflow", "click_days", "click_values"] as const) {
    counted[table] = (await db.selectFrom(table).select("tenant").where("tenant", "=", tenant).execute()).length;
  }
  const rollups = db.selectFrom("click_rollups").select("subject");
  counted.click_rollups = (await rollups.where("subject", "in", subjects as never).execute()).length;
  return counted;
}

/** A hash as SQLite stores it, if it is large. */
function storedNumber(hash: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(hash));
  return bytes;
}

onEachDatabase(({ name, create, open, openTwo }) => {
  const deleteTenant = async (sql: Sql, { id }: TestTenant) => {
    await acrossTenants(sql.db).deleteFrom("tenants").where("id", "=", id).execute();
  };

  describe("of a deleted tenant", () => {
    /** Two tenants with the same names, and with events, overflow and roll-ups of three days. */
    async function filled(sql: Sql) {
      let now = noon;
      const tenants = [await clickTenant(sql, "acme"), await clickTenant(sql, "globex")] as const;
      const writer = createClickWriter({ sql, secret, writerId: "w", databaseTime: () => now });
      let sequence = 0;
      for (let day = 0; day < 3; day++) {
        now = noon + day * dayMs;
        for (const [place, tenant] of tenants.entries()) {
          const link = tenant.link(place + 1, { domain: "go.example", tags: ["spring"] });
          const clicks = Array.from({ length: 20 }, (_, i) => ({
            ...{ link, at: now - i, visitor: i + 1, facts: { referrer: `r${i}.example`, country: "DE" } },
          }));
          const bare = [{ link, quarter: now - (now % 900_000), reasons: { counted: 2 } }];
          await writer.write(++sequence, batchOf(clicks, bare));
        }
      }
      await condense(sql, { now: noon + 4 * dayMs });
      const subjects = async (tenant: TestTenant, link: number) => {
        const groups = acrossTenants(sql.db)
          .selectFrom("click_groups")
          .select("number")
          .where("tenant_id", "=", tenant.id);
        return [link, tenant.number, ...(await groups.execute()).map(({ number }) => number)];
      };
      return {
        ...{ writer, acme: tenants[0], globex: tenants[1], next: () => ++sequence },
        ...{ ofAcme: await subjects(tenants[0], 1), ofGlobex: await subjects(tenants[1], 2) },
        rest: async () =>
          await sql.db
            .selectFrom("click_values")
            .select("id")
            .where("tenant", "=", 0 as never)
            .execute(),
      };
    }

    test("everything is deleted, and nothing of another", async () => {
      const sql = await open();
      const { acme, globex, ofAcme, ofGlobex, rest } = await filled(sql);
      const before = await rowsOf(sql, globex.number, ofGlobex);
      const shared = await rest();
      for (const count of Object.values(await rowsOf(sql, acme.number, ofAcme))) expect(count).toBeGreaterThan(0);
      await deleteTenant(sql, acme);
      await purgeClicks(sql, noon + 4 * dayMs);
      expect(await rowsOf(sql, acme.number, ofAcme)).toEqual({
        ...{ clicks: 0, click_overflow: 0, click_days: 0, click_values: 0, click_rollups: 0 },
      });
      expect(await rowsOf(sql, globex.number, ofGlobex)).toEqual(before);
      expect(await rest()).toEqual(shared);
    });

    test("values are deleted even if its days are gone already", async () => {
      const sql = await open();
      const { acme, ofAcme } = await filled(sql);
      await deleteTenant(sql, acme);
      for (const table of ["clicks", "click_overflow", "click_days"] as const) {
        await sql.db.deleteFrom(table).where("tenant", "=", acme.number).execute();
      }
      await purgeClicks(sql, noon + 4 * dayMs);
      expect((await rowsOf(sql, acme.number, ofAcme)).click_values).toBe(0);
    });

    test("no click is stored by a writer that still knows the tenant", async () => {
      const sql = await open();
      const { acme, globex, writer, ofAcme, next } = await filled(sql);
      await deleteTenant(sql, acme);
      await purgeClicks(sql, noon + 4 * dayMs);
      const before = (await storedClicks(sql, globex.number))[2];
      const at = noon + 2 * dayMs;
      const batch = batchOf([
        { link: acme.link(1, { tags: ["spring"] }), at },
        { link: globex.link(2), at },
      ]);
      const sequence = next();
      await writer.write(sequence, batch).catch(() => writer.write(sequence, batch)); // as the recorder does
      expect(await rowsOf(sql, acme.number, ofAcme)).toMatchObject({ clicks: 0, click_days: 0, click_values: 0 });
      expect((await storedClicks(sql, globex.number))[2]).toBe(Number(before) + 1);
    });
  });

  test("reports rely on the events that are kept from the moment when others may be gone, and the next purge deletes what is left", async () => {
    const sql = await open();
    let now = noon;
    const acme = await clickTenant(sql, "acme");
    const writer = createClickWriter({ sql, secret, writerId: "w", databaseTime: () => now });
    for (let day = 0; day < 10; day++) {
      now = noon + day * dayMs;
      const facts = (i: number) => ({
        country: i % 2 === 0 ? "DE" : "FR",
        browser: i % 4 === 0 ? "Firefox" : "Chrome",
      });
      const clicks = Array.from({ length: 40 }, (_, i) => ({
        link: acme.link(1),
        at: now - i,
        visitor: i,
        facts: facts(i),
      }));
      await writer.write(day + 1, batchOf(clicks));
    }
    await ofTenant(sql.db, acme.id).updateTable("click_tenants").set({ event_days: 5 }).execute();
    await condense(sql, { now });
    const counted = async () => (await rowsOf(sql, acme.number, [acme.number])).clicks;
    const report = async () => {
      const params = { from: "2026-11-01", to: "2026-11-30", filter: ["country=DE", "browser=Firefox"] };
      const query = parseReport(params, "UTC", now);
      const { totals, itemised } = await reportOn(sql, systemClock, acme.id, { kind: "tenant" }, query);
      return { clicks: totals.clicks, itemised: itemised?.clicks, of: itemised?.of };
    };
    expect(await report()).toEqual({ clicks: 100, itemised: 400, of: 400 });
    await expect(purgeClicks(sql, now, AbortSignal.abort())).rejects.toThrow();
    const kept = { clicks: 60, itemised: 240, of: 400 };
    expect(await report()).toEqual(kept);
    if (sql.dialect === "sqlite") expect(await counted()).toBe(400);
    await purgeClicks(sql, now);
    expect(await counted()).toBe(240);
    expect(await report()).toEqual(kept);
  });

  test("no file has a salt or hash after its day, though pages were split and rows moved", async () => {
    const place = await create();
    const sql = place.connect();
    await migrate(sql);
    const tenants: TestTenant[] = [];
    for (let i = 0; i < 120; i++) tenants.push(await clickTenant(sql, `tenant-${i}`));
    let now = noon;
    const background = place.connect();
    const writer = createClickWriter({ sql, secret, writerId: "w", databaseTime: () => now });
    const salts = new Set<string>();
    const hashes = new Set<number>();
    for (let day = 0; day < 4; day++) {
      now = noon + day * dayMs;
      const clicks = tenants.map((tenant, i) => ({ link: tenant.link(i + 1), at: now, visitor: i + 1 }));
      await writer.write(day + 1, batchOf(day % 2 === 0 ? clicks : clicks.toReversed()));
      for (const { salt } of await sql.db.selectFrom("click_days").select("salt").execute()) if (salt) salts.add(salt);
      for (const { hash } of await sql.db.selectFrom("click_visitors").select("hash").execute()) hashes.add(hash);
      await forgetVisitors(background, now);
    }
    await forgetVisitors(background, noon + 5 * dayMs);
    expect(await sql.db.selectFrom("click_days").select("salt").where("salt", "is not", null).execute()).toEqual([]);
    expect(await sql.db.selectFrom("click_visitors").select("hash").execute()).toEqual([]);
    if (name === "PostgreSQL") return;
    const secrets = [...salts, ...[...hashes].filter((hash) => hash >= 2 ** 47).map(storedNumber)];
    expect(salts.size).toBe(480);
    expect(secrets.length).toBeGreaterThan(900);
    for (const file of [place.address, `${place.address}-wal`]) {
      const bytes = readFileSync(file);
      expect(secrets.filter((one) => bytes.includes(one))).toEqual([]);
    }
  });

  describe("a value that a writer has in memory, and no event any more", () => {
    /** Used once, 200 days ago, by a writer that is still there. */
    async function unused(sql: Sql, on: Sql = sql) {
      const acme = await clickTenant(sql, "acme");
      const time = { now: noon };
      const writer = createClickWriter({ sql: on, secret, writerId: "w", databaseTime: () => time.now });
      const visit = () =>
        batchOf([{ link: acme.link(1), at: time.now, facts: { referrer: "news.example", country: "DE" } }]);
      await writer.write(1, visit());
      time.now = noon + 200 * dayMs;
      await condense(sql, { now: time.now });
      return {
        now: time.now,
        write: () => writer.write(2, visit()),
        ids: async () => (await sql.db.selectFrom("click_values").select("id").where("id", ">", 1).execute()).length,
        /** The names of the values of the last event. */
        async names(): Promise<(string | undefined)[]> {
          const events = sql.db.selectFrom("clicks").select(["referrer", "country"]).where("tenant", "=", acme.number);
          const event = await events.orderBy("at", "desc").executeTakeFirstOrThrow();
          const values = sql.db.selectFrom("click_values").select(["id", "value"]);
          const known = await values.where("id", "in", [event.referrer, event.country]).execute();
          return [event.referrer, event.country].map((id) => known.find((one) => one.id === id)?.value);
        },
      };
    }
    const waits = (sql: Sql) =>
      until("somebody waits for a lock", async () => {
        const { rows } = await raw`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(sql.db);
        return rows.length > 0 || undefined;
      });

    test("is added again if it was collected before", async () => {
      const sql = await open();
      const { now, write, ids, names } = await unused(sql);
      await purgeClicks(sql, now);
      expect(await ids()).toBe(0);
      await write();
      expect(await names()).toEqual(["news.example", "DE"]);
    });

    test("is added again if it is collected while the writer waits for it", async () => {
      const [sql, other] = await openTwo();
      const { write, names } = await unused(sql);
      let written: Promise<unknown> = Promise.resolve();
      await other.transaction(async (trx) => {
        await trx.deleteFrom("click_values").where("id", ">", 1).execute();
        written = write();
        if (sql.dialect === "postgres") await waits(sql);
      });
      await written;
      expect(await names()).toEqual(["news.example", "DE"]);
    });

    test("is not collected while the writer's transaction uses it", async () => {
      const [sql, other] = await openTwo();
      let purged: (() => Promise<unknown>) | undefined;
      let purging: Promise<unknown> = Promise.resolve();
      const interrupted: Sql = {
        ...sql,
        transaction: (work) =>
          sql.transaction(async (trx) => {
            const result = await work(trx);
            if (purged !== undefined) purging = purged();
            if (purged !== undefined && sql.dialect === "postgres") await waits(sql);
            return result;
          }),
      };
      const { now, write, names } = await unused(sql, interrupted);
      // Purged but for the values: so the next run waits for nothing else.
      const markAll = (seen_day: number) =>
        sql.db.updateTable("click_values").set({ seen_day }).where("id", ">", 1).execute();
      await markAll(utcDay(now));
      await purgeClicks(sql, now);
      await markAll(utcDay(noon));
      purged = () => purgeClicks(other, now);
      await write();
      await purging;
      expect(await names()).toEqual(["news.example", "DE"]);
    });
  });

  test("old clicks in the default partition are deleted with the partitions, and no later ones", async () => {
    const [sql] = await openTwo();
    if (name !== "PostgreSQL") return expect(await dropPartitions(sql, utcDay(noon))).toEqual([]);
    const acme = await clickTenant(sql, "acme");
    let now = noon;
    const writer = createClickWriter({ sql, secret, writerId: "w", databaseTime: () => now });
    for (let day = 0; day < 3; day++) {
      now = noon + day * dayMs;
      await writer.write(day + 1, batchOf([{ link: acme.link(1), at: now }]));
    }
    const days = async () =>
      (await raw<{ day: number }>`select day from clicks_rest order by day`.execute(sql.db)).rows.map(({ day }) => day);
    const first = utcDay(noon);
    expect(await days()).toEqual([first, first + 1, first + 2]);
    await dropPartitions(sql, first + 1);
    expect(await days()).toEqual([first + 1, first + 2]);
  });
});
