import { describe, expect, test } from "bun:test";
import { CompiledQuery } from "kysely";
import { utcDay } from "../../src/clicks/click.ts";
import { createClickWriter } from "../../src/clicks/events/writer.ts";
import { createPartitions, dropPartitions, partitions } from "../../src/sql/partitions.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { until } from "../ground/process.ts";
import { batchOf, clickTenant } from "./click-batches.ts";
import { onEachDatabase } from "./databases.ts";

const now = Date.UTC(2026, 10, 17, 12);
const today = utcDay(now);
const dayMs = 86_400_000;
const secret = new Uint8Array(32);

onEachDatabase(({ name, open }) => {
  const isPostgres = name === "PostgreSQL";
  const rowsIn = async (sql: Sql, table: string) =>
    Number(
      (await sql.db.executeQuery<{ n: number }>(CompiledQuery.raw(`select count(*) as n from ${table}`))).rows[0]?.n,
    );

  describe("partitions of clicks", () => {
    test("are made ahead, once; a late one takes its rows from the default partition; old ones are dropped", async () => {
      const sql = await open();
      const acme = await clickTenant(sql, "acme");
      let time = now;
      const writer = createClickWriter({ sql, secret, writerId: "p", databaseTime: () => time });
      const write = (n: number) =>
        writer.write(
          n,
          batchOf(Array.from({ length: 100 }, (_, i) => ({ link: acme.link(1), at: time - i, visitor: i + 1 }))),
        );
      await write(1);
      const made = await createPartitions(sql, today);
      expect(made.length).toBe(isPostgres ? 4 : 0);
      expect(await createPartitions(sql, today)).toEqual([]);
      expect(await rowsIn(sql, "clicks")).toBe(100);
      if (!isPostgres) return expect(await dropPartitions(sql, today + 1_000)).toEqual([]);

      expect(await rowsIn(sql, "clicks_rest")).toBe(0);
      expect(await rowsIn(sql, `clicks_day_${today - (today % 7)}`)).toBe(100);
      await write(2);
      expect(await rowsIn(sql, "clicks_rest")).toBe(0);
      time = now + 30 * dayMs; // nobody made this week
      await write(3);
      expect(await rowsIn(sql, "clicks_rest")).toBe(100);
      await createPartitions(sql, today + 30);
      expect(await rowsIn(sql, "clicks_rest")).toBe(0);
      expect(await rowsIn(sql, "clicks")).toBe(300);
      const weekEnd = today - (today % 7) + 7;
      expect(await dropPartitions(sql, weekEnd - 1)).toEqual([`clicks_day_${weekEnd - 14}`]);
      expect(await rowsIn(sql, "clicks")).toBe(300);
      expect(await dropPartitions(sql, weekEnd)).toEqual([`clicks_day_${weekEnd - 7}`]);
      expect(await rowsIn(sql, "clicks")).toBe(100);
      expect((await partitions(sql)).every(({ start }) => start >= weekEnd)).toBe(true);
    });

    test("let processes that start at the same time make them once", async () => {
      const sql = await open();
      const made = await Promise.all([1, 2, 3].map(() => createPartitions(sql, today)));
      expect(made.flat().length).toBe(isPostgres ? 4 : 0);
    });

    test("are read by index alone once they are vacuumed: a range of a link touches no row of the table", async () => {
      const sql = await open();
      if (sql.dialect === "sqlite") return;
      const acme = await clickTenant(sql, "acme");
      await createPartitions(sql, today);
      const writer = createClickWriter({ sql, secret, writerId: "p", databaseTime: () => now });
      for (let n = 1; n <= 3; n++) {
        const clicks = Array.from({ length: 6_000 }, (_, i) => ({ link: acme.link((i % 50) + 1), at: now - i }));
        await writer.write(n, batchOf(clicks));
      }
      const partition = `clicks_day_${today - (today % 7)}`;
      // Test servers do not wait for the disk at a commit, and a vacuum skips rows whose commit is not written yet.
      // Neither does it count rows that a snapshot of somebody else, such as autovacuum's, may not see yet.
      await until("every page to be visible to all", async () => {
        await sql.db.executeQuery(CompiledQuery.raw("checkpoint"));
        await sql.db.executeQuery(CompiledQuery.raw(`vacuum analyze ${partition}`));
        const pages = `select relpages > 0 and relallvisible = relpages as "all" from pg_class where relname = '${partition}'`;
        return (await sql.db.executeQuery<{ all: boolean }>(CompiledQuery.raw(pages))).rows[0]?.all || undefined;
      });
      const levels = Array.from({ length: 13 }, (_, level) => level).join(", ");
      const { rows } = await sql.db.executeQuery<{ "QUERY PLAN": string }>(
        CompiledQuery.raw(
          `explain (analyze, costs off) select at, reason, country, referrer from clicks where day = ${today}
           and tenant = ${acme.number} and level in (${levels}) and link = 7 and at >= ${now - dayMs} and at <= ${now}`,
        ),
      );
      const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
      expect(plan).toContain("Index Only Scan");
      expect(plan).toContain("Heap Fetches: 0");
      expect(plan).not.toContain("clicks_rest");
      const options = CompiledQuery.raw(
        `select array_to_string(reloptions, ' ') as o from pg_class where relname = '${partition}'`,
      );
      expect((await sql.db.executeQuery<{ o: string }>(options)).rows[0]?.o).toContain("insert_scale_factor=0.02");
    });
  });
});
