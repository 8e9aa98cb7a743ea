/** Limits that several servers share, and API calls while Redis is unavailable. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { postgresAvailable } from "../ground/postgres.ts";
import { until } from "../ground/process.ts";
import { type RedisServer, redisAvailable, startRedis } from "../ground/redis.ts";
import { startServer } from "../ground/server.ts";
import { type Names, startNames } from "./posts.ts";
import { must, type ProblemBody, type Reply, type Site, siteOf, startSite } from "./servers.ts";

const count = (replies: readonly Reply[], status: number) => replies.filter((reply) => reply.status === status).length;

/** Calls that a limit holds for. */
const calls = (site: Site, key: string, times: number) =>
  Promise.all(Array.from({ length: times }, () => site.call("GET", "/api/tenant", { key })));

/** Until then a server rightly considers Redis unavailable. */
async function connected(site: Site): Promise<void> {
  interface Ready {
    dependencies: Record<string, { ok: boolean }>;
  }
  await until("Redis", async () => (await site.visit("/readyz")).json<Ready>().dependencies.redis?.ok || undefined);
}

async function limited(site: Site, slug: string, ...limits: string[]): Promise<string> {
  const key = await site.tenant(slug);
  must(await site.cli("tenant", "update", slug, ...limits));
  return key;
}

if (postgresAvailable() && redisAvailable()) {
  describe("two servers on one Redis", () => {
    let redis: RedisServer;
    let names: Names;
    let one: Site;
    let two: Site;

    beforeAll(async () => {
      redis = await startRedis();
      names = await startNames();
      const more = {
        QL_DNS_SERVERS: names.address,
        REDIS_URL: redis.url,
        QL_GUESSES_PER_MINUTE: "6",
        QL_TRUSTED_PROXIES: "127.0.0.1",
      };
      one = await startSite("PostgreSQL", more);
      const env = { ...one.env, ...more };
      two = siteOf(await startServer({ dataDir: one.server.dataDir, key: one.server.key, env }), env);
      await Promise.all([connected(one), connected(two)]);
    });

    afterAll(async () => {
      expect(await Promise.all([one.server.stop(), two.server.stop()])).toEqual([0, 0]);
      await redis.stop();
      names.stop();
    });

    test("a link that is moved away and back has the hits of both places, on both servers", async () => {
      const host = "moved.example.com";
      const claim = (await one.call("POST", "/api/domains", { body: { host } })).json<{
        proof: { txt: { name: string; value: string } };
      }>();
      names.published.set(claim.proof.txt.name, claim.proof.txt.value);
      expect((await one.call("POST", `/api/domains/${host}/verify`)).status).toBe(200);
      const link = await one.create({ url: "https://example.com/", hitsPerMonth: 40 });
      const move = async (domain: string | null) => {
        const body = { ids: [link.id], action: "move", domain };
        expect((await one.call("PATCH", "/api/links/bulk", { body })).json<{ changed: number }>().changed).toBe(1);
      };
      let visitors = 0;
      // Each from another address: an old place answers 404, which counts as a guess.
      const visit = async (site: Site, more: Record<string, string> = {}) => {
        const from = { "x-forwarded-for": `198.51.${++visitors % 250}.7` };
        return (await site.visit(`/${link.code}`, { ...from, ...more })).status;
      };
      const visits = async (site: Site, times: number, more: Record<string, string> = {}) => {
        let served = 0;
        for (let i = 0; i < times; i++) if ((await visit(site, more)) === 302) served++;
        return served;
      };
      expect(await visits(one, 20)).toBe(20);
      await move(host);
      expect(await visits(one, 60, { host })).toBeGreaterThan(0);
      await move(null);
      await until("the other server to see the move", async () => ((await visit(two)) === 404 ? undefined : true));
      // What the first server still holds of an earlier lease is its own; the second gets nothing.
      expect(await visits(two, 30)).toBe(0);
    }, 60_000);

    test("grant together what the limit allows", async () => {
      const key = await limited(one, "shared", "--api", "30");
      const replies = (await Promise.all([calls(one, key, 25), calls(two, key, 25)])).flat();
      expect([count(replies, 200), count(replies, 429)]).toEqual([30, 20]);
      const [next] = await calls(two, key, 1);
      expect(next?.headers.get("ratelimit")).toMatch(/^"tenant";r=0;t=\d\d?$/);
    });

    test("count guesses together, under no address", async () => {
      const from = { "x-forwarded-for": "203.0.113.7" };
      const statuses: number[] = [];
      for (let i = 0; i < 8; i++) statuses.push((await (i % 2 ? one : two).visit(`/guess-${i}`, from)).status);
      expect(statuses).toEqual([404, 404, 404, 404, 404, 404, 429, 429]);
      const keys = await redis.command("EVAL", "return table.concat(redis.call('KEYS', '*'), ' ')", "0");
      expect(keys).toContain("guesses:{");
      expect(keys).not.toContain("203.0.113");
    });

    test("have their figures on the command line", async () => {
      const key = await limited(one, "watched", "--api", "30");
      await calls(one, key, 4);
      const run = await two.cli("usage", "--tenant", "watched");
      expect(must(run).split("\n")[0]?.split("\t").slice(0, 6)).toEqual(["apiPerMinute", "-", "4", "0", "30", "known"]);
    });
  });

  describe("while Redis is unavailable", () => {
    const away = "cannot check API rate limits";
    const back = "checking API rate limits works again";
    const said = (site: Site, words: string) => site.server.output().split(words).length - 1;

    /** A server with one granted call of ten, and its Redis dead. */
    async function bereft(policy: string): Promise<{ site: Site; redis: RedisServer; key: string }> {
      const redis = await startRedis();
      const more = { REDIS_URL: redis.url, QL_API_OUTAGE: policy, QL_LOG_LEVEL: "info", QL_GUESSES_PER_MINUTE: "3" };
      const site = await startSite("PostgreSQL", more);
      await connected(site);
      const key = await limited(site, "bereft", "--api", "10");
      expect(count(await calls(site, key, 1), 200)).toBe(1);
      await redis.kill();
      return { site, redis, key };
    }

    async function end(site: Site, redis: RedisServer): Promise<void> {
      expect(await site.server.stop()).toBe(0);
      await redis.stop();
    }

    test("degrade: each process counts by itself, and logs it once", async () => {
      const { site, redis, key } = await bereft("degrade");
      const replies = await calls(site, key, 30);
      expect([count(replies, 200), count(replies, 429)]).toEqual([9, 21]);
      expect(replies[29]?.headers.get("ratelimit")).toMatch(/^"tenant";r=0;t=\d\d?$/);
      expect([said(site, away), said(site, back)]).toEqual([1, 0]);
      expect((await site.visit("/metrics")).text).toContain('quicklink_api_limit_total{answer="degraded"} 30');

      // Guesses are not held up by an outage either.
      for (let i = 0; i < 6; i++) expect((await site.visit(`/guess-${i}`)).status).toBe(404);
      const usage = await site.call("GET", "/api/usage");
      expect(usage.status).toBe(200);
      const { limits } = usage.json<{ limits: { name: string; state: string; used: number | null }[] }>();
      expect(limits.find(({ name }) => name === "storageBytes")).toMatchObject({ state: "unavailable", used: null });
      expect(limits.find(({ name }) => name === "linksPerMonth")).toMatchObject({ state: "known", used: 0 });

      await redis.restart();
      await until("an answer from Redis", async () => {
        await calls(site, key, 1);
        return said(site, back) === 1 || undefined;
      });
      expect([said(site, away), said(site, back)]).toEqual([1, 1]);
      await end(site, redis);
    });

    test("open: every call is allowed", async () => {
      const { site, redis, key } = await bereft("open");
      const replies = await calls(site, key, 30);
      expect(count(replies, 200)).toBe(30);
      expect(replies[0]?.headers.get("ratelimit-policy")).toBe('"tenant";q=10;w=60');
      expect(replies[0]?.headers.get("ratelimit")).toBeNull();
      expect(said(site, away)).toBe(1);
      await end(site, redis);
    });

    test("closed: no call is, and it is never reported as the caller's fault", async () => {
      const { site, redis, key } = await bereft("closed");
      const replies = await calls(site, key, 30);
      expect(count(replies, 503)).toBe(30);
      expect(replies[0]?.json<ProblemBody>().code).toBe("unavailable");
      expect(Number(replies[0]?.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      expect((await site.call("GET", "/api/tenant")).status).toBe(200);
      expect(said(site, away)).toBe(1);
      await end(site, redis);
    });
  });
}
