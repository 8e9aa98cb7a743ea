/** How long a visitor waits, and what continues without them: on a real PostgreSQL and Redis that are made slow. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client } from "pg";
import { postgresAvailable } from "../ground/postgres.ts";
import { until } from "../ground/process.ts";
import { startProxy } from "../ground/proxy.ts";
import { redisAvailable, startRedis } from "../ground/redis.ts";
import { metric, type Site, startSite } from "./servers.ts";

const target = "https://example.com/";
const figure = async (site: Site, series: string) => metric((await site.visit("/metrics")).text, series);

if (postgresAvailable()) {
  describe("lookups that PostgreSQL does not answer", () => {
    let site: Site;
    let operator: Client;
    /** Apart: in a transaction PostgreSQL shows what others did when it first looked. */
    let watcher: Client;

    beforeAll(async () => {
      site = await startSite("PostgreSQL", { QL_DATABASE_POOL: "4", QL_SQL_WAIT_MS: "100" });
      const connectionString = String(site.env.DATABASE_URL);
      [operator, watcher] = [new Client({ connectionString }), new Client({ connectionString })];
      await Promise.all([operator.connect(), watcher.connect()]);
    });

    afterAll(async () => {
      await Promise.all([operator.end(), watcher.end()]);
      await site.server.stop();
    });

    /** All reads and writes of links wait until it is over. */
    async function whileLocked<Result>(work: () => Promise<Result>): Promise<Result> {
      await operator.query("begin");
      await operator.query("lock table links in access exclusive mode");
      try {
        return await work();
      } finally {
        await operator.query("rollback");
      }
    }

    async function waitingLookups(): Promise<number> {
      const { rows } = await watcher.query(
        "select pid from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'quicklink lookups'",
      );
      return rows.length;
    }

    const newCodes = async (count: number) => {
      const codes: string[] = [];
      for (let i = 0; i < count; i++) codes.push((await site.create({ url: target })).code);
      return codes;
    };

    test("have their connections before the first visitor comes, and have run on each", async () => {
      const { rows } = await watcher.query<{ query: string }>(
        "select query from pg_stat_activity where application_name = 'quicklink lookups' and datname = current_database()",
      );
      expect(rows).toHaveLength(2);
      for (const { query } of rows) expect(query).toContain("plans"); // what is run last
    });

    test("take no connection from anything else", async () => {
      const codes = await newCodes(12);
      await whileLocked(async () => {
        const visits = codes.map((code) => site.visit(`/${code}`));
        await until("lookups to wait", async () => (await waitingLookups()) > 0 || undefined);
        expect((await site.call("GET", "/api/tenant")).status).toBe(200);
        expect(await waitingLookups()).toBeLessThanOrEqual(2);
        expect((await Promise.all(visits)).map(({ status }) => status)).toEqual(codes.map(() => 503));
      });
    });

    test("are answered 503 in time, and what comes later is there for the next visitor", async () => {
      await site.reachOnceRecovered(`/${(await newCodes(1))[0]}`); // lookups are not left alone any more
      const [code = ""] = await newCodes(1);
      const inMemoryBefore = await figure(site, "quicklink_cache_links");
      await whileLocked(async () => expect((await site.visit(`/${code}`)).status).toBe(503));
      // No new request: the answer requested before the lock was released has arrived.
      await until("it to be in memory", async () => (await waitingLookups()) === 0 || undefined);
      const inMemory = () => figure(site, 'quicklink_cache_hit_total{tier="memory"}');
      const hits = await inMemory();
      const arrived = async () => (await figure(site, "quicklink_cache_links")) > inMemoryBefore || undefined;
      await until("the late answer", arrived);
      await whileLocked(async () => {
        const reply = await site.visit(`/${code}`);
        expect([reply.status, reply.headers.get("location")]).toEqual([302, target]);
      });
      expect(await inMemory()).toBe(hits + 1);
    });

    test("are ended after a second, long before a write would be", async () => {
      await site.reachOnceRecovered(`/${(await newCodes(1))[0]}`);
      const [code = ""] = await newCodes(1);
      const { id } = await site.create({ url: target });
      await whileLocked(async () => {
        let over = false;
        const write = site.call("PATCH", `/api/links/${id}`, { body: { title: "later" } }).finally(() => {
          over = true;
        });
        const visit = site.visit(`/${code}`);
        await until("the lookup to wait", async () => (await waitingLookups()) === 1 || undefined);
        expect((await visit).status).toBe(503);
        await until("the lookup to be ended", async () => (await waitingLookups()) === 0 || undefined);
        expect(over).toBe(false);
        void write.catch(() => {});
      });
    });
  });
}

if (postgresAvailable() && redisAvailable()) {
  test("a Redis that takes 200 ms is not waited for: after a few late answers visitors are served by SQL", async () => {
    const redis = await startRedis();
    const proxy = await startProxy(redis.port);
    const site = await startSite("PostgreSQL", {
      REDIS_URL: redis.url,
      LIMITS_REDIS_URL: proxy.url(redis.url),
      QL_REDIS_WAIT_MS: "50",
    });
    const visit = async () => {
      const { code } = await site.create({ url: target, hitsPerMonth: 1_000_000 });
      return (await site.reach(`/${code}`)).status;
    };
    expect(await visit()).toBe(302);
    proxy.delay(200, "back");
    await until("visitors to leave it alone", async () => {
      expect(await visit()).toBe(302);
      return (await figure(site, 'quicklink_breaker_open{of="limits_visitors"}')) === 1 || undefined;
    });
    const [byRedis, bySql] = await Promise.all(
      ["redis", "sql"].map((by) => figure(site, `quicklink_leases_total{by="${by}"}`)),
    );
    for (let i = 0; i < 5; i++) expect(await visit()).toBe(302);
    expect(await figure(site, 'quicklink_leases_total{by="sql"}')).toBeGreaterThanOrEqual((bySql ?? 0) + 4);
    expect(await figure(site, 'quicklink_leases_total{by="redis"}')).toBeLessThanOrEqual((byRedis ?? 0) + 1);
    // It answers, late: limits as such still use it.
    expect(await figure(site, 'quicklink_breaker_open{of="limits"}')).toBe(0);
    await site.server.stop();
    proxy.stop();
    await redis.stop();
  }, 60_000);
}
