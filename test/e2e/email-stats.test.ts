/** The operator sees what of the platform's hourly limit is used, by what and by whom, on every kind of site. */
import { describe, expect, test } from "bun:test";
import { mutant } from "../ground/mutant.ts";
import { until } from "../ground/process.ts";
import { redisAvailable, startRedis } from "../ground/redis.ts";
import { databases, metric, must, type Site, siteOf, startSite } from "./servers.ts";

interface Shown {
  platform: {
    used: number | null;
    limit: number | null;
    left: number | null;
    ordinaryLimit: number | null;
    ordinaryLeft: number | null;
    reserved: number | null;
    resetsAt: string | null;
    kinds: Record<string, number>;
  };
  tenants: { tenant: string; used: number; limit: number | null }[];
}

const shown = async (site: Site): Promise<Shown> => JSON.parse(must(await site.cli("email", "stats", "--json")));

async function share(site: Site, key?: string): Promise<number> {
  const options = key === undefined ? {} : { key };
  const made = await site.call("POST", "/api/links", { ...options, body: { url: "https://example.com/" } });
  const { id } = made.json<{ id: string }>();
  return (await site.call("POST", `/api/links/${id}/share`, { ...options, body: { to: "ann@example.com" } })).status;
}

/** A copy of the program whose metrics follow ten times as soon. */
const source = mutant([
  {
    file: "server/jobs.ts",
    from: 'name: "platform-emails", everyMs: 10 * second',
    to: 'name: "platform-emails", everyMs: second',
  },
]);

const places = [...databases.map((database) => ({ database, redis: false })), { database: "PostgreSQL", redis: true }];

for (const { database, redis: withRedis } of places as { database: "SQLite" | "PostgreSQL"; redis: boolean }[]) {
  if (withRedis && !(redisAvailable() && databases.includes("PostgreSQL"))) continue;
  describe(`${database}${withRedis ? " and Redis" : ""}`, () => {
    test("ordinary mail stops before the reserved fifth, and the operator sees how far it is", async () => {
      const redis = withRedis ? await startRedis() : undefined;
      const settings = { QL_EMAILS_PER_HOUR: "5", ...(redis && { REDIS_URL: redis.url }) };
      const { server, env } = await startSite(database, settings, source);
      const site = siteOf(server, { ...env, ...settings });
      const nothing = { used: 0, limit: 5, left: 5, ordinaryLimit: 4, ordinaryLeft: 4, reserved: 1, resetsAt: null };
      expect(await shown(site)).toEqual({ platform: { ...nothing, kinds: {} }, tenants: [] });

      const other = await site.tenant("acme");
      must(await site.cli("tenant", "update", "acme", "--smtp-emails", "50"));
      const statuses = [
        await share(site, other),
        await share(site, other),
        await share(site),
        await share(site, other),
      ];
      expect(statuses).toEqual([202, 202, 202, 202]);
      expect(await share(site)).toBe(429);

      const { platform, tenants } = await until("all to be handed over", async () => {
        const now = await shown(site);
        return now.platform.kinds.share === 4 ? now : undefined;
      });
      expect(platform).toMatchObject({ used: 4, left: 1, ordinaryLeft: 0, reserved: 1, kinds: { share: 4 } });
      const inMs = Date.parse(String(platform.resetsAt)) - Date.now();
      expect(inMs > 3_600_000 && inMs < 3_800_000).toBe(true);
      expect(tenants).toEqual([
        { tenant: "acme", used: 3, limit: 50 },
        { tenant: "default", used: 1, limit: null },
      ]);
      expect(must(await site.cli("email", "stats", "--top", "1"))).toMatch(/^used\t4$[\s\S]*^acme\t3\t50$/m);

      await until(
        "the metric",
        async () => {
          const { text } = await site.visit("/metrics");
          return metric(text, "quicklink_platform_emails_used") === 4 ? text : undefined;
        },
        20_000,
      ).then((text) => {
        expect(metric(text, 'quicklink_platform_emails_limit{mail="ordinary"}')).toBe(4);
        expect(metric(text, 'quicklink_platform_emails_limit{mail="essential"}')).toBe(5);
      });
      await server.stop();
      await redis?.stop();
    }, 60_000);
  });
}

test("a command line that is not understood says what it takes", async () => {
  const { server, env } = await startSite("SQLite");
  const site = siteOf(server, env);
  const { code, stderr } = await site.cli("email", "stats", "--top", "0");
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("from 1 to 1000") });
  await server.stop();
});
