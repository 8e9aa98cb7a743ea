/** The hottest links of running servers: shown, at hand after a start, back in a Redis that lost everything. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { postgresAvailable } from "../ground/postgres.ts";
import { until } from "../ground/process.ts";
import { type RedisServer, redisAvailable, startRedis } from "../ground/redis.ts";
import { startServer } from "../ground/server.ts";
import { databases, metric, must, type Site, siteOf, startSite } from "./servers.ts";

interface Shown {
  readonly code: string;
  readonly perMinute: number;
  readonly usualPerMinute: number;
  readonly unusual: boolean;
}

const url = "https://example.com/";
const atOnce = 20;
// They are written down every 15 s, and a busy machine is late.
const writtenMs = 25_000;

async function visitedLink(site: Site, times: number): Promise<string> {
  const { code } = await site.create({ url });
  for (let i = 0; i < times; i += atOnce) {
    await Promise.all(Array.from({ length: Math.min(atOnce, times - i) }, () => site.reach(`/${code}`)));
  }
  return code;
}

const hottest = async (site: Site, ...options: string[]) =>
  JSON.parse(must(await site.cli("hot", "--json", ...options))) as Shown[];

for (const database of databases) {
  describe(`the hottest links on ${database}`, () => {
    let site: Site;

    beforeAll(async () => {
      site = await startSite(database);
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    test(
      "are shown by a command and as metrics, and are in memory after a restart before the first visit",
      async () => {
        expect(must(await site.cli("hot"))).toBe("");
        const [warm, hot] = [await visitedLink(site, 3), await visitedLink(site, 40)];
        await site.create({ url });
        const shown = await until(
          "both to be shown",
          async () => {
            const links = await hottest(site);
            return links.length === 2 && links[0]?.code === hot ? links : undefined;
          },
          writtenMs,
        );
        expect(shown.map(({ code, unusual }) => [code, unusual])).toEqual([
          [hot, false],
          [warm, false],
        ]);
        expect(shown[0]?.perMinute).toBeWithin(20, 41);
        expect(must(await site.cli("hot", "--top", "1"))).toStartWith(`${hot}\t`);
        const { text } = await site.visit("/metrics");
        expect(metric(text, "quicklink_hottest_per_minute")).toBeWithin(15, 41);
        expect(metric(text, "quicklink_unusual_links")).toBe(0);

        await site.server.stop();
        const { dataDir, key } = site.server;
        site = siteOf(await startServer({ env: site.env, dataDir, key }), site.env);
        const inMemory = async () => metric((await site.visit("/metrics")).text, "quicklink_cache_links");
        await until("both in memory", async () => (await inMemory()) === 2 || undefined);
      },
      2 * writtenMs,
    );

    test("are stored by a server that is stopped a moment after the visits", async () => {
      const code = await visitedLink(site, 5);
      await site.server.stop();
      expect((await hottest(site)).map((link) => link.code)).toContain(code);
      const { dataDir, key } = site.server;
      site = siteOf(await startServer({ env: site.env, dataDir, key }), site.env);
    });
  });
}

if (postgresAvailable() && redisAvailable()) {
  describe("a hot link in Redis", () => {
    let redis: RedisServer;
    let site: Site;

    beforeAll(async () => {
      redis = await startRedis();
      site = await startSite("PostgreSQL", { REDIS_URL: redis.url });
    });

    afterAll(async () => {
      await site.server.stop();
      await redis.stop();
    });

    const name = (code: string) => `ql:v6:link:{${code}}`;
    const hoursOf = async (code: string) => {
      const { t, x } = JSON.parse(await redis.command("GET", name(code))) as { t: number; x: number };
      return (x - t) / 3_600;
    };

    test("is good for a day where it would be for an hour, and is back by itself when Redis lost everything", async () => {
      // In this order: once the many visits are counted, the one before them is.
      const [other, code] = [await visitedLink(site, 1), await visitedLink(site, 1_500)];
      const perMinute = async () => metric((await site.visit("/metrics")).text, "quicklink_hottest_per_minute");
      await until("the visits to be counted", async () => (await perMinute()) > 1_100 || undefined);
      await redis.flush();
      await until("the links to be back", async () => {
        const both = Number(await redis.command("EXISTS", name(other), name(code))) === 2;
        // A fence has no life; the link itself comes after it.
        return (both && Number.isFinite(await hoursOf(other)) && Number.isFinite(await hoursOf(code))) || undefined;
      });
      expect(await hoursOf(code)).toBeWithin(24 * 0.92, 24 * 1.08);
      expect(await hoursOf(other)).toBeWithin(0.92, 1.08);
    });
  });
}
