import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { postgresAvailable } from "../ground/postgres.ts";
import { type Environment, until } from "../ground/process.ts";
import { type RedisServer, redisAvailable, startRedis } from "../ground/redis.ts";
import { startServer } from "../ground/server.ts";
import { query, type Site, siteOf, startSite } from "./servers.ts";

interface Ready {
  readonly status: string;
  readonly dependencies: Record<string, { readonly ok: boolean }>;
}

const target = "https://example.com/";
/** A crowd of 200 takes a hundred leases of a small limit, each recorded before the next. */
const crowded = { QL_SQL_WAIT_MS: "10000" };
const ready = async (site: Site) => (await site.visit("/readyz")).json<Ready>();

if (postgresAvailable() && redisAvailable()) {
  describe("with Redis", () => {
    let redis: RedisServer;
    let site: Site;

    beforeAll(async () => {
      redis = await startRedis();
      site = await startSite("PostgreSQL", { REDIS_URL: redis.url, ...crowded });
    });

    afterAll(async () => {
      await site.server.stop();
      await redis.stop();
    });

    beforeEach(async () => {
      await untilReady(site);
    });

    /** Another server on the same database and Redis. */
    async function another(env: Environment = {}): Promise<Site> {
      const { key } = site.server;
      const server = await startServer({
        key,
        env: { ...site.env, REDIS_URL: redis.url, ...crowded, ...env },
      });
      const other = siteOf(server, site.env);
      await untilReady(other);
      return other;
    }

    const untilReady = (one: Site) =>
      until("Redis to be there", async () => (await ready(one)).status === "ready" || undefined);

    async function state(one: Site): Promise<number> {
      const { text } = await one.visit("/metrics");
      return Number(/^quicklink_hit_limits_state (\d)$/m.exec(text)?.[1]);
    }

    const said = (one: Site, text: string) => one.server.output().split(text).length - 1;
    const statusOf = async (one: Site, code: string) => (await one.visit(`/${code}`)).status;

    /** Visits again and again, for limits are seen to be asked only when they are. */
    const untilState = (one: Site, code: string, wanted: number) =>
      until(`limits to be in state ${wanted}`, async () => {
        await one.visit(`/${code}`);
        return (await state(one)) === wanted || undefined;
      });

    async function counted(code: string): Promise<number> {
      const rows = await query(site.env, `select counted from quotas where code = '${code}' and draws = 'hits'`);
      return Number((rows as { counted: number }[])[0]?.counted ?? 0);
    }

    test("its state is shown, and its death degrades nothing but that, until it is back", async () => {
      const link = await site.create({ url: target });
      expect((await site.reach(`/${link.code}`)).status).toBe(302);
      await redis.kill();
      await until("the loss", async () => (await ready(site)).dependencies.redis?.ok === false || undefined);
      expect((await ready(site)).status).toBe("degraded");
      expect((await site.reach(`/${link.code}`)).status).toBe(302);
      await redis.restart();
      await untilReady(site);
    });

    test("two servers let through exactly what the limit says, however many come at once", async () => {
      // On a machine so busy that Redis misses its deadlines, SQL would lend as well: over by two leases for each server. Closed,
      // such a visit gets a 503, spends nothing, and is repeated.
      const closed = { QL_HITS_OUTAGE: "closed" };
      const servers = [await another(closed), await another(closed)];
      const { code } = await site.create({ url: target, hitsPerMonth: 250 });
      const visit = async (one: Site) => (await one.reachOnceRecovered(`/${code}`)).status;
      const statuses = await Promise.all(
        servers.flatMap((one) => Array.from({ length: 200 }, async () => await visit(one))),
      );
      let led = statuses.filter((status) => status === 302).length;
      expect(led + statuses.filter((status) => status === 429).length).toBe(400);
      expect(led).toBeLessThanOrEqual(250);
      // What one held while the other refused comes back within a lease's life.
      await until("all of it to be spent", async () => {
        for (const one of servers) if ((await visit(one)) === 302) led++;
        return led >= 250 || undefined;
      });
      for (const one of servers) for (let i = 0; i < 10; i++) expect(await visit(one)).toBe(429);
      expect(led).toBe(250);
      for (const { server } of servers) await server.stop();
      await until("all of it to be written down", async () => (await counted(code)) === 250 || undefined);
    });

    test("degrade: SQL lends while it is unavailable, which is logged once, and the limit still holds", async () => {
      const one = await another({ QL_HITS_OUTAGE: "degrade" });
      const { code } = await site.create({ url: target, hitsPerMonth: 1_000_000 });
      const short = await site.create({ url: target, hitsPerMonth: 20 });
      expect(await statusOf(one, code)).toBe(302);
      expect(await state(one)).toBe(0);
      await redis.kill();
      await untilState(one, code, 1);
      const statuses: number[] = [];
      for (let i = 0; i < 60; i++) statuses.push((await one.reach(`/${short.code}`)).status);
      expect(statuses.filter((status) => status === 302)).toHaveLength(20);
      expect(statuses.filter((status) => status === 429)).toHaveLength(40);
      expect(said(one, "limiting hits by SQL")).toBe(1);
      await redis.restart();
      await untilState(one, code, 0);
      expect(said(one, "limiting hits by SQL")).toBe(1);
      await one.server.stop();
    });

    test("open: visitors are allowed while it is unavailable, and every one of them is counted", async () => {
      const one = await another({ QL_HITS_OUTAGE: "open" });
      const { code } = await site.create({ url: target, hitsPerMonth: 20 });
      let led = 0;
      for (let i = 0; i < 20; i++) if ((await one.reach(`/${code}`)).status === 302) led++;
      expect(led).toBe(20);
      await redis.kill();
      await until("visitors to be let through", async () => {
        const status = await statusOf(one, code);
        if (status === 302) led++;
        return status === 302 || undefined;
      });
      for (let i = 0; i < 30; i++) {
        expect(await statusOf(one, code)).toBe(302);
        led++;
      }
      expect(await state(one)).toBe(2);
      expect(said(one, "allowed and counted")).toBe(1);
      await redis.restart();
      // Counted beyond its limit, so there is nothing left of it when it can be asked again.
      await until("the limit to hold again", async () => {
        const status = await statusOf(one, code);
        if (status === 302) led++;
        return status === 429 || undefined;
      });
      await one.server.stop();
      expect(await counted(code)).toBe(led);
    });

    test("closed: links with a limit answer 503 and when to return while it is unavailable, never 429; others keep working", async () => {
      const one = await another({ QL_HITS_OUTAGE: "closed" });
      const { code } = await site.create({ url: target, hitsPerMonth: 1_000_000 });
      const free = await site.create({ url: target });
      expect(await statusOf(one, code)).toBe(302);
      expect(await statusOf(one, free.code)).toBe(302);
      await redis.kill();
      const statuses = new Set<number>();
      const reply = await until("the lease at hand to be spent", async () => {
        const next = await one.visit(`/${code}`);
        statuses.add(next.status);
        return next.status === 302 ? undefined : next;
      });
      expect([...statuses].toSorted()).toEqual([302, 503]);
      expect(Number(reply.headers.get("retry-after"))).toBeGreaterThan(0);
      for (let i = 0; i < 20; i++) expect(await statusOf(one, code)).toBe(503);
      expect(await statusOf(one, free.code)).toBe(302);
      expect(await state(one)).toBe(2);
      expect(said(one, "links with a limit answer 503")).toBe(1);
      await redis.restart();
      await until("it to be as before", async () => (await statusOf(one, code)) === 302 || undefined);
      await untilState(one, code, 0);
      await one.server.stop();
    });

    test("a separate Redis for limits is shown beside the other, or alone", async () => {
      const [cache, limits] = await Promise.all([startRedis(), startRedis()]);
      const parts = async (env: Record<string, string>) => {
        const site = await startSite("PostgreSQL", env);
        const ready = async () => (await site.visit("/readyz")).json<Ready>();
        await until("all of it", async () => (await ready()).status === "ready" || undefined);
        const { dependencies } = await ready();
        expect(await site.server.stop()).toBe(0);
        return Object.keys(dependencies);
      };
      expect(await parts({ REDIS_URL: cache.url, LIMITS_REDIS_URL: limits.url })).toEqual([
        ...["sql", "redis", "limits-redis"],
      ]);
      expect(await parts({ LIMITS_REDIS_URL: limits.url })).toEqual(["sql", "limits-redis"]);
      expect(await parts({ REDIS_URL: cache.url, LIMITS_REDIS_URL: cache.url })).toEqual(["sql", "redis"]);
      await Promise.all([cache.stop(), limits.stop()]);
    });
  });
}
