/** From a redirect to the rows of its click, in a real server. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CompiledQuery } from "kysely";
import { systemClock } from "../../src/base/clock.ts";
import { createLog } from "../../src/base/log.ts";
import { openPostgres } from "../../src/sql/postgres.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { openSqlite } from "../../src/sql/sqlite.ts";
import { storedClicks } from "../conformance/click-batches.ts";
import { postgresAvailable, startPostgres } from "../ground/postgres.ts";
import { type Environment, until } from "../ground/process.ts";
import { cli, startServer } from "../ground/server.ts";
import { tempFolder } from "../ground/temp.ts";
import { databases, must, type Site, siteOf, startSite } from "./servers.ts";

const log = createLog("silent", { write() {} }, false, systemClock.now);
const planted = ["203.0.113.77", "planted@example.org", "planted-secret"];

const openAt = ({ DATABASE_URL, QL_DATA }: Environment): Sql =>
  DATABASE_URL === undefined
    ? openSqlite(join(String(QL_DATA), "quicklink.sqlite"))
    : openPostgres(DATABASE_URL, { connections: 1 }, log);

/** All clicks in the database. */
async function recorded(sql: Sql): Promise<number> {
  let sum = 0;
  for (const { number } of await sql.db.selectFrom("tenants").select("number").execute()) {
    for (const clicks of Object.values(await storedClicks(sql, number))) sum += clicks;
  }
  return sum;
}

/** How many were answered with a redirect. */
async function visitTimes(site: Site, path: string, times: number): Promise<number> {
  let answered = 0;
  for (let done = 0; done < times; done += 20) {
    const replies = await Promise.all(
      Array.from({ length: Math.min(20, times - done) }, (_, i) =>
        site.visit(path, {
          "x-forwarded-for": i % 2 === 0 ? (planted[0] ?? "") : `198.51.100.${i}`,
          referer: `https://news.example/${planted[1]}?token=${planted[2]}`,
          "accept-language": "de-DE,de;q=0.8",
          "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
        }),
      ),
    );
    answered += replies.filter(({ status }) => status === 302).length;
  }
  return answered;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

for (const database of databases) {
  describe(database, () => {
    test("every redirect is in the database when a stopped server has ended, and nothing of its visitor's address", async () => {
      const site = await startSite(database, { QL_TRUSTED_PROXIES: "127.0.0.1", QL_LOG_LEVEL: "info" });
      const { code } = await site.create({ url: "https://example.org/", tags: ["spring"] });
      const answered = await visitTimes(site, `/${code}`, 700);
      expect(answered).toBe(700);
      const metrics = await site.visit("/readyz");
      expect(metrics.status).toBe(200);
      expect(await site.server.stop()).toBe(0);

      const sql = openAt(site.env);
      expect(await recorded(sql)).toBe(answered);
      const events = await sql.db.selectFrom("clicks").selectAll().execute();
      expect(events.length).toBe(500);
      const values = await sql.db.selectFrom("click_values").select(["id", "dimension", "value"]).execute();
      const textOf = (id: number | undefined) => values.find((value) => value.id === id)?.value;
      expect([textOf(events[0]?.referrer), textOf(events[0]?.browser)]).toEqual(["news.example", "Firefox"]);
      expect(textOf(events[0]?.tags)).toBe('["spring"]');
      // Ten visitors with an address of their own, and one that they share.
      expect(events.filter(({ first }) => first === 3).length).toBe(11);

      const texts = values.map(({ value }) => value).join("\n") + site.server.output();
      for (const word of planted) expect(texts).not.toContain(word);
      for (const { name } of (await sql.db.introspection.getTables()).filter((table) => !table.isView)) {
        if (database === "SQLite") break;
        for (const word of planted) {
          const found = CompiledQuery.raw(`select 1 from "${name}" as t where t::text like '%${word}%' limit 1`);
          expect([name, (await sql.db.executeQuery(found)).rows.length]).toEqual([name, 0]);
        }
      }
      await sql.close();
      for (const path of filesBelow(String(site.env.QL_DATA))) {
        const content = readFileSync(path).toString("latin1");
        for (const word of planted) expect([path, content.includes(word)]).toEqual([path, false]);
      }
    }, 60_000);

    test("clicks are in the database about a second later, and the metrics count them", async () => {
      const site = await startSite(database);
      const { code } = await site.create({ url: "https://example.org/" });
      await visitTimes(site, `/${code}`, 40);
      const wanted = ['quicklink_clicks_recorded_total{as="event"} 40', "quicklink_clicks_failing 0"];
      await until("the metrics", async () => {
        const { text } = await site.visit("/metrics");
        return wanted.every((line) => text.includes(line)) || undefined;
      });
      const sql = openAt(site.env);
      expect(await recorded(sql)).toBe(40);
      await sql.close();
      await site.server.stop();
    }, 60_000);
  });
}

if (postgresAvailable()) {
  test("clicks of a time without PostgreSQL are recorded when it is back, each once", async () => {
    const postgres = await startPostgres({ durable: true });
    const env = { DATABASE_URL: await postgres.createDatabase("clicks"), QL_CODE_SALT: "a salt for tests of clicks" };
    must(await cli(["migrate"], { env }));
    const dataDir = tempFolder("data");
    const server = await startServer({
      dataDir,
      env: { ...env, QL_HITS_OUTAGE: "open", QL_TRUSTED_PROXIES: "127.0.0.1" },
    });
    const site = siteOf(server, { ...env, QL_DATA: dataDir });
    must(await site.cli("tenant", "update", "default", "--plan", "unlimited"));
    const { code } = await site.create({ url: "https://example.org/" });
    let answered = await visitTimes(site, `/${code}`, 200);
    await postgres.kill();
    const failing = async () => (await site.visit("/metrics")).text.includes("quicklink_clicks_failing 1");
    await until("batches to fail", async () => {
      answered += await visitTimes(site, `/${code}`, 20);
      return (await failing()) || undefined;
    });
    answered += await visitTimes(site, `/${code}`, 200);
    await postgres.restart();
    await site.reachOnceRecovered(`/${code}`);
    answered += 1 + (await visitTimes(site, `/${code}`, 100));
    expect((await site.visit("/readyz")).status).toBe(200);
    expect(await server.stop()).toBe(0);
    const sql = openAt(env);
    expect(answered).toBeGreaterThan(500);
    expect(await recorded(sql)).toBe(answered);
    await sql.close();
    await postgres.stop();
  }, 90_000);
}
