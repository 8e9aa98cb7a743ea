/** A tenant's plan, limits and suspension are in force on every server soon after the command, with Redis or without. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { makePerson } from "../ground/people.ts";
import { postgresAvailable } from "../ground/postgres.ts";
import { until } from "../ground/process.ts";
import { type RedisServer, redisAvailable, startRedis } from "../ground/redis.ts";
import { startServer } from "../ground/server.ts";
import { type DatabaseName, type LinkBody, must, query, type Site, siteOf, startSite } from "./servers.ts";

const https = "https://example.com/";
/** Less than memory keeps an entry without an announced change. */
const soonMs = 25_000;

interface Servers {
  readonly sites: readonly [Site, ...Site[]];
  readonly redis: RedisServer | undefined;
  stop(): Promise<void>;
}

async function alone(database: DatabaseName): Promise<Servers> {
  const site = await startSite(database);
  return { sites: [site], redis: undefined, stop: async () => void (await site.server.stop()) };
}

async function withRedis(): Promise<Servers> {
  const redis = await startRedis();
  const site = await startSite("PostgreSQL", { REDIS_URL: redis.url });
  const env = { ...site.env, REDIS_URL: redis.url, QL_GUESSES_PER_MINUTE: "none" };
  const other = siteOf(await startServer({ key: site.server.key, env }), site.env);
  return {
    sites: [site, other],
    redis,
    async stop() {
      await other.server.kill();
      await site.server.stop();
      await redis.stop();
    },
  };
}

const ways: Readonly<Record<string, () => Promise<Servers>>> = {
  "a server on SQLite": () => alone("SQLite"),
  ...(postgresAvailable() && redisAvailable() && { "two servers on PostgreSQL and Redis": withRedis }),
};

for (const [name, start] of Object.entries(ways)) {
  describe(name, () => {
    let servers: Servers;
    let names = 0;

    beforeAll(async () => {
      servers = await start();
    });

    afterAll(() => servers.stop());

    /** A link of a new tenant, in the memory of every server, and in Redis if there is one. */
    async function known(plan = "default"): Promise<{ slug: string; code: string; key: string }> {
      const { sites, redis } = servers;
      const slug = `tenant-${++names}`;
      const key = await sites[0].tenant(slug, plan);
      const made = await sites[0].call("POST", "/api/links", { key, body: { url: https } });
      const { code } = made.json<LinkBody>();
      for (const site of sites) expect((await site.reach(`/${code}`)).status).toBe(302);
      if (redis !== undefined) {
        await until("the link to be in Redis", async () => {
          for (const site of sites) await site.reach(`/${code}`);
          return (await redis.command("KEYS", `ql:v6*:link:{${code}}`)) !== "" || undefined;
        });
      }
      return { slug, code, key };
    }

    async function toBecome(code: string, status: number): Promise<void> {
      for (const [i, site] of servers.sites.entries()) {
        await until(
          `/${code} to answer ${status} on server ${i}`,
          async () => (await site.reach(`/${code}`)).status === status || undefined,
          soonMs,
        );
      }
    }

    const calls = async (site: Site, key: string) => (await site.call("GET", "/api/links", { key })).status;

    const cli = async (...args: string[]) => must(await servers.sites[0].cli(...args));

    test("a lower limit of a tenant is in force, and a higher one", async () => {
      const { slug, code } = await known();
      await cli("tenant", "update", slug, "--hits", "0");
      await toBecome(code, 429);
      await cli("tenant", "update", slug, "--hits", "none");
      await toBecome(code, 302);
    });

    test("another plan of a tenant is in force", async () => {
      const { slug, code } = await known("unlimited");
      await cli("plan", "set", "nothing", "--hits", "0");
      await cli("tenant", "update", slug, "--plan", "nothing");
      await toBecome(code, 429);
      await cli("tenant", "update", slug, "--plan", "unlimited");
      await toBecome(code, 302);
    });

    test("a plan that changes is in force for its tenants", async () => {
      await cli("plan", "set", "team", "--hits", "none");
      const { code } = await known("team");
      await cli("plan", "set", "team", "--hits", "0");
      await toBecome(code, 429);
    });

    test("a suspension is in force for links and API calls, with one change for all links", async () => {
      const { slug, code, key } = await known();
      const site = servers.sites[0];
      const raised = async () => await query(site.env, "select domain, code, version from link_versions order by 1, 2");
      const before = await raised();
      await cli("tenant", "suspend", slug, "--reason", "spam");
      await toBecome(code, 451);
      for (const one of servers.sites) {
        await until("calls to be refused", async () => (await calls(one, key)) === 403 || undefined, soonMs);
      }
      await cli("tenant", "restore", slug);
      await toBecome(code, 302);
      for (const one of servers.sites) {
        await until("calls to be answered", async () => (await calls(one, key)) === 200 || undefined, soonMs);
      }
      expect(await raised()).toEqual(before);
    });

    // The last of them: it leaves one server.
    if (start === withRedis) {
      test("a suspension is in force though the server that took it is killed with its answer", async () => {
        const [other, writer] = servers.sites as readonly [Site, Site];
        const { slug, code, key } = await known();
        const operator = await makePerson(writer, { operator: true });
        const path = `/api/operator/workspaces/${slug}/suspension`;
        expect((await operator.call("PUT", path, { body: { reason: "spam" } })).status).toBe(200);
        await writer.server.kill();
        await until(
          "the links to stop",
          async () => (await other.reach(`/${code}`)).status === 451 || undefined,
          soonMs,
        );
        await until("calls to be refused", async () => (await calls(other, key)) === 403 || undefined, soonMs);
      });
    }
  });
}
