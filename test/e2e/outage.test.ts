import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Postgres, postgresAvailable, startPostgres } from "../ground/postgres.ts";
import { type Environment, until } from "../ground/process.ts";
import { type RedisServer, redisAvailable, startRedis } from "../ground/redis.ts";
import { cli, startServer } from "../ground/server.ts";
import { tempFolder } from "../ground/temp.ts";
import { metric, must, type Site, siteOf } from "./servers.ts";

const target = (name: string) => `https://example.com/${name}`;
const visits = 30;

if (postgresAvailable() && redisAvailable()) {
  describe("an outage", () => {
    let postgres: Postgres;
    let redis: RedisServer;
    let one: Site;
    let other: Site;
    let made = 0;

    beforeAll(async () => {
      [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
      const env: Environment = {
        QL_DATA: tempFolder("data"),
        QL_CODE_SALT: "a salt for outages",
        DATABASE_URL: await postgres.createDatabase("outage"),
        REDIS_URL: redis.url,
        QL_GUESSES_PER_MINUTE: "1000000",
        // Of what is available, a busy machine must not make an outage.
        QL_REDIS_WAIT_MS: "250",
        QL_SQL_WAIT_MS: "1000",
      };
      must(await cli(["migrate"], { env }));
      one = siteOf(await startServer({ env }), env);
      must(await one.cli("tenant", "update", "default", "--plan", "unlimited"));
      other = siteOf(await startServer({ env, key: one.server.key, dataDir: tempFolder("data") }), env);
    }, 60_000);

    afterAll(async () => {
      await Promise.all([one, other].map(({ server }) => server.stop()));
      await Promise.all([postgres.stop(), redis.stop()]);
    });

    beforeEach(wellAgain);

    // A test that fails must not leave the next one without what it stopped.
    afterEach(async () => {
      postgres.resume();
      redis.resume();
    });

    const figure = async (series: string) => metric((await one.visit("/metrics")).text, series);
    const isOpen = async (of: string) => (await figure(`quicklink_breaker_open{of="${of}"}`)) === 1;
    const stateOf = async () => {
      const { status, json } = await one.visit("/readyz");
      return `${status} ${json<{ status: string }>().status}`;
    };

    async function wellAgain(): Promise<void> {
      await until("all to be well", async () => {
        await one.visit(missing()); // a breaker closes on the next call
        const open = await Promise.all(["cache", "limits", "sql"].map(isOpen));
        const followed = (await figure("quicklink_feed_age_seconds")) < 1;
        return ((await stateOf()) === "200 ready" && followed && !open.includes(true)) || undefined;
      });
    }

    /** A separate lookup, and a miss that is counted. */
    const missing = () => `/never-there-${++made}`;

    const create = async (): Promise<string> => {
      const code = `outage-${++made}`;
      await one.create({ code, url: target(code) });
      return code;
    };

    /** A new link is written through to Redis, if its server trusts Redis at that moment. */
    const createInRedis = () =>
      until("a new link to be written through to Redis", async () => {
        const code = await create();
        for (let looks = 0; looks < 20; looks++) {
          if (await isInRedis(code)) return code;
          await Bun.sleep(50);
        }
        return undefined;
      });

    /** In the memory of the first server; in Redis, by way of the second; and only in SQL. */
    async function links(): Promise<{ hot: string; warm: string; cold: string }> {
      const [hot, warm, cold] = [await createInRedis(), await createInRedis(), await createInRedis()];
      expect(await reach(one, hot)).toBe(target(hot));
      expect(await reach(other, warm)).toBe(target(warm));
      const drop = "for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', key) end";
      await redis.command("EVAL", drop, "0", `ql:v6*:link:{${cold}}`);
      return { hot, warm, cold };
    }

    /** Under whatever epoch, in the form of today: the link, not a fence that another server may have put there first. */
    const isInRedis = async (code: string) =>
      (await redis.command("EVAL", countWithText, "0", `ql:v6*:link:{${code}}`, target(code))) === "1" || undefined;

    const countWithText = `local count = 0
      for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
        if string.find(redis.call('GET', key) or '', ARGV[2], 1, true) then count = count + 1 end
      end
      return count`;

    const reach = async (at: Site, code: string) => (await at.reach(`/${code}`)).headers.get("location");

    test("Redis killed: SQL answers for every link, nothing is missing that is there, and it is used again", async () => {
      const { hot, warm, cold } = await links();
      await redis.kill();
      for (const code of [hot, warm, cold]) expect(await reach(one, code)).toBe(target(code));
      expect((await one.reach(missing())).status).toBe(404);
      expect(await stateOf()).toBe("200 degraded");
      await redis.restart();
      await wellAgain();
      const later = await create();
      await until("Redis to be written again", async () => {
        await reach(one, later);
        return await isInRedis(later);
      });
    });

    test("Redis stopped: lookups and misses soon stop using it, and use it again when it continues", async () => {
      const { hot, warm, cold } = await links();
      redis.pause();
      for (const code of [hot, warm, cold]) expect(await reach(one, code)).toBe(target(code));
      await until("lookups and misses to leave it alone", async () => {
        expect((await one.reach(missing())).status).toBe(404);
        return ((await isOpen("cache")) && (await isOpen("limits"))) || undefined;
      });
      expect(await reach(one, hot)).toBe(target(hot));
      expect(await stateOf()).toBe("200 degraded");
      redis.resume();
      await wellAgain();
    });

    test("SQL stopped: hot and warm links lead on, cold ones are asked for later, none is said to be missing, no call is let in", async () => {
      const { hot, warm, cold } = await links();
      const stale = await figure('quicklink_cache_events_total{event="stale"}');
      postgres.pause();
      expect(await reach(one, warm)).toBe(target(warm));
      for (let i = 0; i < visits; i++) {
        for (const code of [hot, warm]) {
          const { status, headers } = await one.visit(`/${code}`);
          expect([status, headers.get("location")]).toEqual([302, target(code)]);
        }
      }
      const refused = await one.visit(`/${cold}`);
      expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([503, true]);
      // Whether this one exists is unknown.
      expect((await one.visit(missing())).status).toBe(503);
      await until("what was known to be given as stale", async () => {
        expect((await one.visit(`/${hot}`)).status).toBe(302);
        return (await figure('quicklink_cache_events_total{event="stale"}')) > stale || undefined;
      });
      expect(await stateOf()).toBe("200 degraded");
      // This call reads nothing but who calls, and that is not trusted any more.
      await until(
        "nobody to be let in",
        async () => (await one.call("GET", "/api/tenant")).status === 503 || undefined,
      );
      expect((await one.visit(`/${hot}`)).status).toBe(302);
      postgres.resume();
      await wellAgain();
      expect(await reach(one, cold)).toBe(target(cold));
      expect((await one.call("GET", "/api/tenant")).status).toBe(200);
    });

    test("Redis full: whether it evicts or refuses, visitors notice nothing", async () => {
      const before = await links();
      await redis.command("CONFIG", "SET", "maxmemory-policy", "volatile-lru");
      await redis.command("CONFIG", "SET", "maxmemory", "1");
      for (const code of Object.values(before)) expect(await reach(one, code)).toBe(target(code));
      await redis.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
      const cold = [await create(), await create()];
      for (const code of cold) expect(await reach(one, code)).toBe(target(code));
      expect((await one.reach(missing())).status).toBe(404);
      await redis.command("CONFIG", "SET", "maxmemory", "0");
      await wellAgain();
      expect(await reach(one, await create())).toStartWith("https://");
    });
  });
}
