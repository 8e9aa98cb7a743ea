import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { postgresAvailable } from "../ground/postgres.ts";
import { type Environment, until } from "../ground/process.ts";
import { type RedisServer, redisAvailable, startRedis } from "../ground/redis.ts";
import { startServer } from "../ground/server.ts";
import { metric, newDatabase, query, refused, type Site, serveInVain, siteOf } from "./servers.ts";

/** The processes that serve, by the rows that they renew. */
async function pids(env: Environment): Promise<number[]> {
  const lately = "seen_at > (select max(seen_at) from instances) - 6000";
  const rows = (await query(env, `select pid from instances where ${lately} order by pid`)) as { pid: string }[];
  return rows.map(({ pid }) => Number(pid));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const metrics = async (site: Site) => (await site.visit("/metrics", { connection: "close" })).text;

/** The metrics of so many together: on a busy machine one may be late, and is left out. */
const metricsOf = (site: Site, count: number) =>
  until(
    `${count} workers`,
    async () => {
      const text = await metrics(site);
      return metric(text, "quicklink_workers") === count ? text : undefined;
    },
    20_000,
    () => site.server.output(),
  );

if (postgresAvailable() && redisAvailable()) {
  let redis: RedisServer;

  beforeAll(async () => {
    redis = await startRedis();
  });

  afterAll(async () => {
    await redis.stop();
  });

  /** A new database with three workers on it. */
  async function startThree(more: Environment = {}): Promise<Site> {
    // It has what the database of the test before had.
    await redis.command("FLUSHALL");
    const env = { ...(await newDatabase("PostgreSQL")), REDIS_URL: redis.url };
    const server = await startServer({ env: { ...env, ...more }, args: ["--workers", "3"] });
    const site = siteOf(server, env);
    await metricsOf(site, 3);
    return site;
  }

  describe("three workers", () => {
    test("answer on one port, write the first key once, and end together with 0", async () => {
      const site = await startThree({ QL_LOG_LEVEL: "info" });
      const three = await pids(site.env);
      expect(new Set(three).size).toBe(3);
      expect(three).not.toContain(site.server.pid);
      // An API call is logged by who answered it.
      await until("answers of several", async () => {
        await site.call("GET", "/api/tenant", { headers: { connection: "close" } });
        const said = site.server.output().matchAll(/"pid":(\d+).*\/api\/tenant/g);
        return new Set([...said].map(([, pid]) => pid)).size > 1 || undefined;
      });
      expect(site.server.output().match(/its API key is in this file/g)).toHaveLength(1);
      expect(site.server.output().match(/there is no operator yet/g)).toHaveLength(1);
      expect(site.server.output().match(/"msg":"listening"/g)).toHaveLength(1);

      expect(await site.server.stop()).toBe(0);
      expect(three.filter(isRunning)).toEqual([]);
      expect(await pids(site.env)).toEqual([]);
      expect(site.server.output().match(/"msg":"stopped"/g)).toHaveLength(1);
    });

    test("give one answer about what they did together", async () => {
      const site = await startThree();
      const link = await site.create({ url: "https://example.com/" });
      let counted = 0;
      for (let n = 0; n < 30; n++) {
        counted += (await site.visit(`/${link.code}`, { connection: "close" })).status === 302 ? 1 : 0;
      }
      const text = await metricsOf(site, 3);
      expect(metric(text, 'quicklink_redirects_total{outcome="counted"}')).toBe(counted);
      expect(metric(text, 'quicklink_api_request_seconds_count{method="POST",status="201"}')).toBe(1);
      // Each of them knows of all: the largest number is the right one, not the sum.
      await until("them to see each other", async () =>
        metric(await metrics(site), "quicklink_instances") === 3 ? true : undefined,
      );
      expect(await site.server.stop()).toBe(0);
    });

    test("keep serving when one is killed, and it is replaced", async () => {
      const site = await startThree();
      const link = await site.create({ url: "https://example.com/" });
      const before = await pids(site.env);
      const victim = before[1] ?? 0;
      process.kill(victim, "SIGKILL");
      const after = await until("another one", async () => {
        // What the dead one had accepted and not answered is lost, and nothing else.
        const reply = await site.reach(`/${link.code}`, { connection: "close" }).catch(() => undefined);
        if (reply !== undefined) expect(reply.status).toBe(302);
        const now = await pids(site.env);
        return now.length === 3 && !now.includes(victim) ? now : undefined;
      });
      expect(after.filter((pid) => before.includes(pid))).toEqual(before.filter((pid) => pid !== victim));
      await metricsOf(site, 3);
      expect(site.server.output().match(/a worker ended; starting another/g)).toHaveLength(1);
      expect(await site.server.stop()).toBe(0);
      expect(after.filter(isRunning)).toEqual([]);
    });

    test("end by themselves, in order, when their supervisor is killed", async () => {
      const site = await startThree();
      const three = await pids(site.env);
      await site.server.kill();
      await until("their end", () => three.every((pid) => !isRunning(pid)) || undefined);
      expect(await pids(site.env)).toEqual([]);
      expect(await refused(site.server.port)).toBe(true);
    });

    test("do not share their port with a second supervisor", async () => {
      const site = await startThree();
      const other = { ...(await newDatabase("PostgreSQL")), REDIS_URL: redis.url, PORT: String(site.server.port) };
      const { code, output } = await serveInVain(other, ["--workers", "2"]);
      expect([code, output]).toEqual([2, expect.stringContaining(`Port ${site.server.port} is already in use`)]);
      expect(await site.server.stop()).toBe(0);
    });
  });

  describe("workers are refused with status 2", () => {
    test("without Redis", async () => {
      const { code, output } = await serveInVain(await newDatabase("PostgreSQL"), ["--workers", "2"]);
      expect([code, output]).toEqual([2, expect.stringContaining("2 workers need both PostgreSQL and Redis")]);
      expect(output).toContain("Set DATABASE_URL and REDIS_URL");
    });

    test("on SQLite, also when it is a setting", async () => {
      const { code, output } = await serveInVain({ ...(await newDatabase("SQLite")), QL_WORKERS: "2" });
      expect([code, output]).toEqual([2, expect.stringContaining("2 workers need both PostgreSQL and Redis")]);
    });

    test("for what is wrong with all of them, which is said once", async () => {
      const env = { ...(await newDatabase("PostgreSQL")), REDIS_URL: redis.url };
      const first = await startServer({ env });
      expect(await first.stop()).toBe(0);
      const { code, output } = await serveInVain({ ...env, QL_CODE_SALT: "quite another salt" }, ["--workers", "3"]);
      expect(code).toBe(2);
      expect(output.match(/QL_CODE_SALT does not match/g)).toHaveLength(1);
    });

    test("without a supervisor", async () => {
      const env = { ...(await newDatabase("PostgreSQL")), REDIS_URL: redis.url };
      const { code, output } = await serveInVain(env, ["--as-worker"]);
      expect([code, output]).toEqual([2, expect.stringContaining("quicklink serve --workers N")]);
    });
  });

  describe("a second server on the same PostgreSQL", () => {
    test("is refused with status 2 without Redis, and commands are not", async () => {
      const env = await newDatabase("PostgreSQL");
      const first = siteOf(await startServer({ env }), env);
      for (const more of [{}, { REDIS_URL: redis.url }]) {
        const { code, output } = await serveInVain({ ...env, ...more });
        expect(code).toBe(2);
        expect(output).toContain(`Another QuickLink server (process ${first.server.pid} on `);
        expect(output).toContain("set REDIS_URL on both");
        expect(output).not.toMatch(/\n\s+at /);
      }
      expect((await first.cli("tenant", "list")).code).toBe(0);
      expect(await first.server.stop()).toBe(0);
    });

    test("is welcome with Redis, and both know of each other", async () => {
      const env = { ...(await newDatabase("PostgreSQL")), LIMITS_REDIS_URL: redis.url };
      const first = siteOf(await startServer({ env }), env);
      const second = await startServer({ env, key: first.server.key });
      await until("the first to see the second", async () =>
        metric(await metrics(first), "quicklink_instances") === 2 ? true : undefined,
      );
      expect(second.output()).not.toContain("ql_");
      expect(await Promise.all([first.server.stop(), second.stop()])).toEqual([0, 0]);
    });

    test("that starts in the same moment makes no second tenant and writes no second key", async () => {
      const env = { ...(await newDatabase("PostgreSQL")), REDIS_URL: redis.url };
      const both = await Promise.all([1, 2].map(() => startServer({ env, key: "written by one of them" })));
      const output = () => both.map((server) => server.output()).join("");
      await until("the key", () => output().includes("its API key is in this file") || undefined);
      expect(await Promise.all(both.map((server) => server.stop()))).toEqual([0, 0]);
      expect(output().match(/its API key is in this file/g)).toHaveLength(1);
      expect(await query(env, "select slug from tenants")).toEqual([{ slug: "default" }]);
    });

    test("is let in at once when the first was killed", async () => {
      const env = { ...(await newDatabase("PostgreSQL")), QL_LOG_LEVEL: "info" };
      const first = await startServer({ env });
      await first.kill();
      const second = await startServer({ env, key: first.key });
      expect(second.output()).not.toContain("waiting");
      expect(await second.stop()).toBe(0);
    });
  });
}
