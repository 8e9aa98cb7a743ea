import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { purposeNames } from "../../src/redirect/bots.ts";
import { startServer } from "../ground/server.ts";
import { databases, must, type ProblemBody, type Site, siteOf, startSite } from "./servers.ts";

const browser = {
  "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0",
};
const robot = { "user-agent": "Googlebot/2.1 (+http://www.google.com/bot.html)" };
const target = "https://example.com/";

for (const database of databases) {
  describe(`the hit quota on ${database}`, () => {
    let site: Site;

    beforeAll(async () => {
      // A crowd at a small limit waits for a hundred leases, one after the other.
      site = await startSite(database, { QL_SQL_WAIT_MS: "10000" });
    });

    afterAll(async () => {
      await site.server.stop();
    });

    const visits = async (on: Site, code: string, times: number, headers: Record<string, string> = browser) => {
      const replies = await Promise.all(Array.from({ length: times }, () => on.reach(`/${code}`, headers)));
      return replies.map(({ status }) => status);
    };
    const led = (statuses: readonly number[]) => statuses.filter((status) => status === 302).length;

    test("lets exactly as many through as it says, however many come at once, and tells the others when to return", async () => {
      const { code } = await site.create({ url: target, hitsPerMonth: 250 });
      const statuses = await visits(site, code, 400);
      expect(led(statuses)).toBe(250);
      expect(statuses.filter((status) => status === 429)).toHaveLength(150);
      const reply = await site.reach(`/${code}`, browser);
      const toMonthEnd = Number(reply.headers.get("retry-after"));
      expect(toMonthEnd).toBeGreaterThan(0);
      expect(toMonthEnd).toBeLessThanOrEqual(31 * 86_400);
      expect(reply.text).toContain("over its limit");
      const asJson = await site.reach(`/${code}`, { ...browser, accept: "application/json" });
      expect(asJson.json<ProblemBody>().code).toBe("quota_spent");
    });

    test("is not used by bots and HEAD, which have a separate limit of the same size", async () => {
      const { code } = await site.create({ url: target, hitsPerMonth: 20 });
      expect(led(await visits(site, code, 15, robot))).toBe(15);
      expect((await site.reach(`/${code}`, browser, "HEAD")).status).toBe(302);
      expect(led(await visits(site, code, 10, robot))).toBe(4);
      expect(led(await visits(site, code, 30))).toBe(20);
    });

    test("is not used by prefetches, whatever the browser calls them and whoever reads the request", async () => {
      const { code } = await site.create({ url: target, hitsPerMonth: 8 });
      // Bun's server answers the requests with a Trailer.
      const ways = purposeNames.flatMap((name) => [{ [name]: "prefetch" }, { [name]: "preview", trailer: "none" }]);
      const ahead = await Promise.all(ways.map((way) => visits(site, code, 1, { ...browser, ...way })));
      expect(led(ahead.flat())).toBe(8);
      expect(led(await visits(site, code, 12))).toBe(8);
    });

    test("sends those who come too late to the fallback, if there is one", async () => {
      const { code } = await site.create({ url: target, hitsPerMonth: 2, fallbackUrl: `${target}sorry` });
      await visits(site, code, 2);
      expect((await site.reach(`/${code}`, browser)).headers.get("location")).toBe(`${target}sorry`);
    });

    test("is the plan's where the link has none, and a raised one is in force soon", async () => {
      must(await site.cli("plan", "set", "tiny", "--hits", "5"));
      must(await site.cli("tenant", "update", "default", "--plan", "tiny"));
      const { code } = await site.create({ url: target });
      expect(led(await visits(site, code, 9))).toBe(5);
      must(await site.cli("tenant", "update", "default", "--plan", "unlimited"));
      const link = (await site.call("GET", "/api/links?limit=1")).json<{ items: { id: string }[] }>().items[0];
      await site.call("PATCH", `/api/links/${link?.id}`, { body: { title: "read again" } });
      expect(led(await visits(site, code, 9))).toBe(9);
    });

    test("outlives the link: deleting and making it again does not lift it", async () => {
      const first = await site.create({ url: target, code: `again-${database}`, hitsPerMonth: 3 });
      expect(led(await visits(site, first.code, 5))).toBe(3);
      await site.call("DELETE", `/api/links/${first.id}`);
      await site.call("POST", `/api/trash/${first.id}/restore`);
      expect(led(await visits(site, first.code, 5))).toBe(0);
      await site.call("DELETE", `/api/links/${first.id}`);
      await site.call("DELETE", `/api/trash/${first.id}`);
      await site.create({ url: target, code: first.code, hitsPerMonth: 3 });
      expect(led(await visits(site, first.code, 5))).toBe(0);
    });

    test("is never overshot through kill -9, and short by no more than two leases", async () => {
      const { code } = await site.create({ url: target, hitsPerMonth: 1_000 });
      const before = led(await visits(site, code, 333));
      await site.server.kill();
      const { dataDir, port, key } = site.server;
      site = siteOf(await startServer({ dataDir, port, key, env: site.env }), site.env);
      // A server that has just started on a busy machine may not reach PostgreSQL within a lookup's second.
      let after = led([(await site.reachOnceRecovered(`/${code}`, browser)).status]);
      for (let round = 0; round < 4; round++) after += led(await visits(site, code, 250));
      expect(before).toBe(333);
      expect(before + after).toBeLessThanOrEqual(1_000);
      expect(before + after).toBeGreaterThanOrEqual(1_000 - 2 * 10);
    });
  });
}
