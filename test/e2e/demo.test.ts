import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { makePerson } from "../ground/people.ts";
import { until } from "../ground/process.ts";
import { databases, type LinkBody, must, query, type Site, startSite } from "./servers.ts";

type Stats = {
  totals: { clicks: number; visitors: number; bots: number };
  breakdowns: Record<string, { values: unknown[] }>;
};

for (const database of databases) {
  describe(`quicklink demo on ${database}`, () => {
    let site: Site;
    let key: string;
    const days = ["--days", "12"];

    beforeAll(async () => {
      site = await startSite(database);
      await makePerson(site, { operator: true });
      must(await site.cli("demo", ...days));
      key = must(await site.cli("key", "create", "test", "--tenant", "demo")).trim();
    }, 60_000);

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    const stats = async (path = "/api/stats") => (await site.call("GET", path, { key })).json<Stats>();
    const links = async (rest: string) =>
      (await site.call("GET", `/api/links?${rest}`, { key })).json<{ items: LinkBody[] }>().items;

    test("has links of every kind, and clicks with facts, which reports, lists and quotas agree on", async () => {
      const all = await links("limit=100&sort=clicks");
      expect(all.length).toBeGreaterThan(50);
      const { totals, breakdowns } = await stats();
      expect(totals.clicks).toBeGreaterThan(1_000);
      expect(totals.visitors).toBeLessThan(totals.clicks);
      expect(totals.bots).toBeGreaterThan(0);
      expect(breakdowns.country?.values.length).toBeGreaterThan(5);
      const trash = (await site.call("GET", "/api/trash", { key })).json<{ items: { id: string }[] }>().items;
      expect(trash).toHaveLength(2);
      expect(all.some(({ target }) => target?.state === "dead")).toBe(true);
      expect(all.some(({ rules }) => rules.length > 0)).toBe(true);
      expect(all.some(({ split }) => split.length > 0)).toBe(true);
      expect(all.some(({ status }) => status === "disabled")).toBe(true);
      expect(all.some(({ expiresAt }) => expiresAt !== null && Date.parse(expiresAt) < Date.now())).toBe(true);
      const usage = await site.call("GET", "/api/usage", { key });
      expect(usage.text).toContain("summer");
      const [first] = all;
      const own = await stats(`/api/links/${first?.id}/stats`);
      expect(own.totals.clicks).toBe(first?.clicks ?? -1);
      expect((await site.call("GET", "/api/annotations", { key })).text).toContain("Newsletter sent");
      const plain = all.find(
        ({ domain, code }) => code === "boots" || (code === "jackets" && !domain.includes("alder")),
      );
      expect((await site.reach(`/${all.find(({ code }) => code === "jackets")?.code}`)).status).toBe(302);
      expect(plain).toBeDefined();
      // The visit is a click too.
      await until("the click", async () => (await stats()).totals.clicks === totals.clicks + 1 || undefined);
    });

    test("run again changes nothing, and makes a person its owner", async () => {
      const before = await stats();
      const ann = await makePerson(site, { name: "Ann" });
      const [row] = (await query(site.env, `select email from people where id = '${ann.id}'`)) as [{ email: string }];
      const said = must(await site.cli("demo", "--owner", row.email, ...days));
      expect(said).toContain("exists already");
      expect((await stats()).totals).toEqual(before.totals);
      expect((await ann.call("GET", "/api/links", { workspace: "demo" })).status).toBe(200);
      const created = must(await site.cli("demo", "--owner", "new-owner@example.com"));
      expect(created).toContain("Choose a password here");
    });

    test("is created again with --reset, and bad options are refused", async () => {
      const before = (await links("limit=100")).length;
      must(await site.cli("demo", "--reset", "--seed", "7", ...days));
      key = must(await site.cli("key", "create", "test", "--tenant", "demo")).trim();
      expect((await links("limit=100")).length).toBe(before);
      for (const wrong of [
        ["--days", "0"],
        ["--days", "x"],
        ["--seed", "-1"],
        ["--owner", "nobody"],
      ]) {
        expect((await site.cli("demo", ...wrong)).code).not.toBe(0);
      }
    }, 60_000);
  });
}

test("the same seed draws the same clicks, and a new installation gets an owner who can sign in", async () => {
  const site = await startSite("SQLite");
  const said = must(await site.cli("demo", "--days", "3", "--seed", "5"));
  expect(said).toContain("demo@example.com");
  expect(said).toContain("/app/reset#");
  const first = await query(site.env, "select count(*) as n, sum(at % 86400000) as t from clicks");
  must(await site.cli("demo", "--reset", "--days", "3", "--seed", "5"));
  const second = await query(
    site.env,
    "select count(*) as n, sum(at % 86400000) as t from clicks where tenant = (select number from tenants where slug = 'demo')",
  );
  const [a, b] = [first, second] as unknown as [{ n: number }, { n: number }][];
  expect(Math.abs((a?.[0].n ?? 0) - (b?.[0].n ?? 0))).toBeLessThanOrEqual(50); // today is not over
  expect(await site.server.stop()).toBe(0);
}, 60_000);
