/** Links whose answer depends on who asks, on two servers with one Redis between them and the database. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { postgresAvailable } from "../ground/postgres.ts";
import { until } from "../ground/process.ts";
import { type RedisServer, redisAvailable, startRedis } from "../ground/redis.ts";
import { cli, startServer } from "../ground/server.ts";
import { metric, query, type Reply, type Site, siteOf, startSite } from "./servers.ts";

const https = "https://example.com/";
const rules = [{ when: { device: ["desktop"] }, url: `${https}rule` }];

if (postgresAvailable() && redisAvailable()) {
  describe("two servers with Redis", () => {
    let redis: RedisServer;
    let one: Site;
    let other: Site;

    beforeAll(async () => {
      redis = await startRedis();
      const env = { REDIS_URL: redis.url, QL_TRUSTED_PROXIES: "127.0.0.1" };
      one = await startSite("PostgreSQL", env);
      other = siteOf(await startServer({ key: one.server.key, env: { ...one.env, ...env } }), one.env);
      for (const site of [one, other]) {
        await until("Redis to be used", async () => {
          const { code } = await one.create({ url: https });
          await site.reach(`/${code}`);
          return (await hits(site, "redis")) + (await written(site)) > 0 || undefined;
        });
      }
    });

    afterAll(async () => {
      await other.server.stop();
      await one.server.stop();
      await redis.stop();
    });

    const figure = async (site: Site, series: string) => metric((await site.visit("/metrics")).text, series);
    const hits = (site: Site, tier: string) => figure(site, `quicklink_cache_hit_total{tier="${tier}"}`);
    const written = (site: Site) => figure(site, 'quicklink_cache_events_total{event="link_written"}');
    const place = ({ status, headers }: Reply) => `${status} ${headers.get("location")}`;
    /** A server answers first, and writes to Redis then. */
    const inRedis = (code: string, version = 1) =>
      until("the link to be in Redis", async () => {
        const text = await redis.command("GET", `ql:v6:link:{${code}}`);
        const value = text === "" ? {} : (JSON.parse(text) as { l?: Record<string, unknown>; v?: number });
        return value.l !== undefined && value.v === version ? value : undefined;
      });

    test("rules go through Redis with the link", async () => {
      const { code } = await one.create({ url: https, rules, forwardQuery: true });
      expect(place(await one.reach(`/${code}?a=1`))).toBe(`302 ${https}rule?a=1`);
      expect(await inRedis(code)).toMatchObject({ l: { u: https, c: { r: rules, q: 1 } }, v: 1 });
      // The other server serves what Redis has: the database differs by now, but no change was announced.
      await query(one.env, `update links set rules = null, url = 'https://example.com/sql' where code = '${code}'`);
      const before = await hits(other, "redis");
      expect(place(await other.reach(`/${code}`))).toBe(`302 ${https}rule`);
      expect((await hits(other, "redis")) - before).toBe(1);
    });

    test("a suspended link is suspended on the server that reads it from Redis", async () => {
      const { code } = await one.create({ url: https });
      await cli(["link", "suspend", code, "--reason", "phishing"], { env: one.env });
      // A command wakes no server: this one reads the feed within half a second.
      await until("it to be suspended", async () => (await one.reach(`/${code}`)).status === 451 || undefined);
      expect(await inRedis(code, 2)).toMatchObject({ l: { s: 1 } });
      const before = await hits(other, "redis");
      expect((await other.reach(`/${code}`)).status).toBe(451);
      expect((await hits(other, "redis")) - before).toBe(1);
    });

    test("what a server of the version before wrote is not read: it may have lost that the link is suspended", async () => {
      const { code } = await one.create({ url: https, rules });
      const now = Math.floor(Date.now() / 1_000);
      const former = JSON.stringify({ u: `${https}former`, p: false, t: now, x: now + 3_600, v: 1 });
      await redis.command("SET", `ql:v2:link:{${code}}`, former);
      expect(place(await other.reach(`/${code}`))).toBe(`302 ${https}rule`);
    });

    test("a plain link takes no room for what it has not", async () => {
      const { code } = await one.create({ url: https, expiresAt: null });
      await one.reach(`/${code}`);
      const { l, ...around } = await inRedis(code);
      expect(Object.keys(around).sort()).toEqual(["t", "v", "x"]);
      expect(Object.keys(l ?? {})).toEqual(["u", "n"]);
      expect(l?.n).toHaveLength(2);
    });

    test("tries of a password are counted together, and a pass is good on both", async () => {
      const link = await one.create({ url: https, password: "correct horse" });
      const knock = (site: Site, password: string, from: string) =>
        site.call("POST", `/${link.code}`, {
          key: null,
          text: new URLSearchParams({ password }).toString(),
          headers: {
            "content-type": "application/x-www-form-urlencoded",
            "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
            "x-forwarded-for": from,
          },
        });
      const statuses: number[] = [];
      for (let i = 0; i < 11; i++) {
        statuses.push((await knock(i % 2 === 0 ? one : other, "wrong", "203.0.113.9")).status);
      }
      expect(statuses).toEqual([...new Array(10).fill(403), 429]);
      const opened = await knock(one, "correct horse", "203.0.113.10");
      const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
      expect(place(await other.reach(`/${link.code}`, { cookie }))).toBe(`302 ${https}`);
      expect(JSON.stringify(await inRedis(link.code))).not.toContain("argon2");
      // One by one: only so many are checked at once.
      for (let i = 0; i < 40; i++)
        expect((await knock(i % 2 === 0 ? one : other, "wrong", `198.51.100.${i}`)).status).toBe(403);
      expect((await knock(other, "correct horse", "203.0.113.11")).status).toBe(429);
      expect((await knock(other, "wrong", "203.0.113.10")).status).toBe(403);
      expect((await knock(other, "correct horse", "203.0.113.10")).status).toBe(303);
    }, 60_000);
  });
}
