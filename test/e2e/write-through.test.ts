/** A new link is in Redis before its first visit: its first visitor, on any server, does not wait for SQL. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { postgresAvailable } from "../ground/postgres.ts";
import { until } from "../ground/process.ts";
import { type RedisServer, redisAvailable, startRedis } from "../ground/redis.ts";
import { startServer } from "../ground/server.ts";
import { tempFolder } from "../ground/temp.ts";
import { metric, must, type Site, siteOf, startSite } from "./servers.ts";

if (postgresAvailable() && redisAvailable()) {
  describe("a new link", () => {
    let redis: RedisServer;
    let one: Site;
    let other: Site;

    beforeAll(async () => {
      redis = await startRedis();
      const settings = { REDIS_URL: redis.url };
      const { server, env } = await startSite("PostgreSQL", settings);
      const all = { ...env, ...settings };
      one = siteOf(server, all);
      other = siteOf(await startServer({ env: { ...all, QL_DATA: tempFolder("data") }, key: server.key }), all);
      await until("Redis to be used by both", async () => {
        for (const site of [one, other]) {
          if (!(await site.visit("/readyz")).text.includes('"status":"ready"')) return undefined;
        }
        return true;
      });
    }, 60_000);

    afterAll(async () => {
      await Promise.all([one, other].map(({ server }) => server.stop()));
      await redis.stop();
    });

    const inRedis = async (code: string): Promise<string | undefined> => {
      const [name = ""] = (await one.cli("cache", "get", code)).stdout.match(/^redis\t(\w+)$/m) ?? [];
      return name === "redis\tlink" ? name : undefined;
    };

    test("is found in Redis by the first visitor of another server", async () => {
      // The first ones may come before this Redis is corrected.
      await until("a link to be written through", async () => {
        const { code } = await one.create({ url: "https://example.com/first" });
        return await inRedis(code);
      });
      const { code } = await one.create({ url: "https://example.com/new", hitsPerMonth: 50, permanent: true });
      await until("it to be in Redis", () => inRedis(code));
      const hits = async () => metric((await other.visit("/metrics")).text, 'quicklink_cache_hit_total{tier="redis"}');
      const before = await hits();
      const { status, headers } = await other.reach(`/${code}`);
      expect([status, headers.get("location")]).toEqual([301, "https://example.com/new"]);
      expect(await hits()).toBe(before + 1);
    }, 60_000);

    test("takes the place of what Redis had about a code that led nowhere", async () => {
      const code = "not-there-yet";
      expect((await other.reach(`/${code}`)).status).toBe(404);
      await one.create({ code, url: "https://example.com/now" });
      await until("it to be in Redis", () => inRedis(code));
      await until("the other server to know", async () => {
        return (await other.reach(`/${code}`)).headers.get("location") === "https://example.com/now" || undefined;
      });
    }, 60_000);

    test("of an import takes the place of what Redis had about a code that led nowhere, too", async () => {
      const codes = Array.from({ length: 150 }, (_, i) => `imported-${i}`);
      const some = ["imported-0", "imported-70", "imported-149"];
      for (const site of [one, other]) for (const code of some) expect((await site.reach(`/${code}`)).status).toBe(404);
      const path = join(tempFolder("import"), "links.csv");
      writeFileSync(path, ["url,code", ...codes.map((code) => `https://example.com/${code},${code}`)].join("\n"));
      must(await one.cli("import", path));
      // Nobody has visited them since: these are the fences of the feed.
      for (const code of some) {
        await until(`a fence for ${code}`, async () => {
          const { stdout } = await one.cli("cache", "get", code);
          return stdout.includes("fence") || undefined;
        });
      }
      for (const site of [one, other]) {
        for (const code of some) {
          const { headers } = await site.reach(`/${code}`);
          expect(headers.get("location")).toBe(`https://example.com/${code}`);
        }
      }
    }, 60_000);

    test("is a fence once it was changed, and never what it was", async () => {
      const { id, code } = await one.create({ url: "https://example.com/old" });
      const changed = await one.call("PATCH", `/api/links/${id}`, { body: { url: "https://example.com/newer" } });
      expect(changed.status).toBe(200);
      await until("the other server to know", async () => {
        return (await other.reach(`/${code}`)).headers.get("location") === "https://example.com/newer" || undefined;
      });
      const { stdout } = await one.cli("cache", "get", code, "--json");
      expect(JSON.parse(stdout).redisUrl ?? "https://example.com/newer").toBe("https://example.com/newer");
    }, 60_000);
  });
}
