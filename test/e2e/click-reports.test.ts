/** Reports and lists of clicks through a real server. What the figures must be: test/conformance/click-reports.test.ts. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { dimensions } from "../../src/clicks/click.ts";
import { databases, must, type ProblemBody, query, type Site, startSite } from "./servers.ts";

interface StatsBody {
  readonly subject: Readonly<Record<string, string>>;
  readonly totals: { readonly clicks: number; readonly visitors: number; readonly bots: number };
  readonly series: readonly { readonly start: string; readonly clicks: number }[];
  readonly breakdowns: Record<string, { values: unknown[]; none: number; other: number; notItemised: number }>;
}

const people = 5;
const bots = 2;

for (const database of databases) {
  describe(`clicks on ${database}`, () => {
    let site: Site;
    let key: string;
    let stranger: string;
    let link: { id: string; code: string };
    const now = Date.now() - 60_000;

    beforeAll(async () => {
      site = await startSite(database);
      key = await site.tenant("mine");
      stranger = await site.tenant("theirs");
      link = (
        await site.call("POST", "/api/links", { key, body: { url: "https://example.com/", tags: ["spring"] } })
      ).json();
      await site.call("POST", "/api/links", { key: stranger, body: { url: "https://example.com/" } });
      await query(
        site.env,
        "insert into click_values (tenant, dimension, value, seen_day) values (0, 'country', '=DE', 0)",
      );
      const facts = dimensions.map((name) =>
        name === "country" ? "(select id from click_values where value = '=DE')" : "0",
      );
      await query(
        site.env,
        `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${people + bots})
         insert into clicks (day, tenant, level, link, at, seq, domain, tags, reason, first, ${dimensions.join(", ")})
         select ${Math.floor(now / 86_400_000)}, t.number, 0, l.number, ${now}, i, -1, 0,
           case when i > ${people} then 1 else 0 end, case when i = 1 then 3 else 0 end, ${facts.join(", ")}
         from n, tenants t, links l where t.slug = 'mine' and l.id = '${link.id}'`,
      );
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    const get = (path: string, by = key, headers: Record<string, string> = {}) =>
      site.call("GET", path, { key: by, headers });

    test("are counted by link and by tenant", async () => {
      for (const path of [`/api/links/${link.id}/stats`, "/api/stats"]) {
        const { subject, totals, series, breakdowns } = (await get(path)).json<StatsBody>();
        expect(totals).toEqual({ clicks: people, visitors: 1, bots });
        expect(subject).toMatchObject(
          path.startsWith("/api/links") ? { kind: "link", id: link.id } : { kind: "tenant" },
        );
        expect(series.reduce((sum, { clicks }) => sum + clicks, 0)).toBe(people);
        expect(breakdowns.country).toEqual({
          ...{ values: [{ value: "=DE", clicks: people, visitors: 1 }], none: 0, other: 0, notItemised: 0 },
        });
        const filtered = (
          await get(`${path}?filter=country%3D%3DDE&traffic=all&compare=year&interval=week`)
        ).json<StatsBody>();
        expect(filtered.totals.clicks).toBe(people + bots);
      }
      expect((await get("/api/stats", stranger)).json<StatsBody>().totals).toEqual({ clicks: 0, visitors: 0, bots: 0 });
    });

    test("are listed one by one, with the link they were on", async () => {
      const { items } = (await get("/api/clicks?filter=reason%3Dbot")).json<{ items: Record<string, unknown>[] }>();
      expect(items).toHaveLength(bots);
      expect(items[0]).toMatchObject({ reason: "bot", country: "=DE", city: null, weight: 1 });
      expect((await get("/api/clicks", stranger)).json<{ items: unknown[] }>().items).toEqual([]);
    });

    test("are exported as CSV that no spreadsheet runs", async () => {
      const values = await get("/api/stats?format=csv&breakdown=country");
      expect(values.text).toBe(`country,clicks,visitors\r\n'=DE,${people},1\r\n`);
      const series = await get("/api/stats", key, { accept: "text/csv" });
      expect(series.text.split("\r\n")[0]).toBe("start,clicks,visitors");
      const all = await get(`/api/links/${link.id}/clicks?format=csv`);
      expect(all.text.trimEnd().split("\r\n")).toHaveLength(people + bots + 1);
      expect(all.text).toContain("'=DE");
    });

    test("are shown with each link of a list, which can be sorted by them over its pages", async () => {
      const own = await site.tenant("sorting");
      const made: string[] = [];
      for (let i = 0; i < 4; i++) {
        const { id } = (
          await site.call("POST", "/api/links", { key: own, body: { url: "https://example.com/" } })
        ).json<{
          id: string;
        }>();
        made.push(id);
      }
      const [a, b, c, d] = made;
      for (const [id, clicks, last] of [
        [b, 7, 1_000],
        [c, 3, 9_000],
      ] as const) {
        await query(
          site.env,
          `insert into click_links (link, tenant_id, domain, code, clicks, first_at, last_at)
           select number, tenant_id, domain, code, ${clicks}, 1, ${last} from links where id = '${id}'`,
        );
      }
      const sorted = async (sort: string) => {
        const found: unknown[] = [];
        for (let cursor: string | null = ""; cursor !== null; ) {
          const reply = await get(`/api/links?limit=1&${sort}${cursor && `&cursor=${cursor}`}`, own);
          const page: { items: { id: string; clicks: number }[]; nextCursor: string | null } = reply.json();
          found.push(...page.items.map(({ id, clicks }) => [id, clicks]));
          cursor = page.nextCursor;
        }
        return found;
      };
      const [byClicks, byLast] = [await sorted("sort=clicks"), await sorted("sort=lastClickAt&order=asc")];
      expect(await sorted("sort=clicks&order=asc")).toEqual(byClicks.toReversed());
      expect(await sorted("sort=lastClickAt")).toEqual(byLast.toReversed());
      expect(byClicks).toEqual([
        [b, 7],
        [c, 3],
        [d, 0],
        [a, 0],
      ]);
      expect(byLast).toEqual([
        [a, 0],
        [d, 0],
        [b, 7],
        [c, 3],
      ]);
      const link = (await get(`/api/links/${c}`, own)).json<{ clicks: number; lastClickAt: string }>();
      expect(link).toMatchObject({ clicks: 3, lastClickAt: "1970-01-01T00:00:09.000Z" });
    });

    test("of a link of another tenant are not found", async () => {
      for (const path of ["stats", "clicks"]) {
        expect((await get(`/api/links/${link.id}/${path}`, stranger)).status).toBe(404);
        expect((await get(`/api/links/lnk_x/${path}`)).status).toBe(404);
      }
    });

    test("of one link cannot be broken down by link", async () => {
      const reply = await get(`/api/links/${link.id}/stats?breakdown=link`);
      expect([reply.status, reply.json<ProblemBody>().errors?.[0]?.field]).toEqual([422, "breakdown"]);
    });

    test("need the scope stats:read, which links:read includes", async () => {
      const keyWith = async (scopes: string) =>
        JSON.parse(must(await site.cli("key", "create", "k", "--tenant", "mine", "--scopes", scopes, "--json")))
          .secret as string;
      expect((await get("/api/stats", await keyWith("links:read"))).status).toBe(200);
      expect((await get("/api/stats", await keyWith("stats:read"))).status).toBe(200);
      expect((await get("/api/stats/settings", await keyWith("stats:read"))).status).toBe(200);
      expect((await get("/api/stats", await keyWith("files:read"))).status).toBe(403);
      expect((await get("/api/links", await keyWith("stats:read"))).status).toBe(403);
    });

    const many = Array.from({ length: 10_000 }, (_, i) => i).join(",");
    const bad: readonly (readonly [query: string, field: string])[] = [
      ["zone=Mars/Olympus", "zone"],
      ["from=2026-11-17&to=2026-11-16", "to"],
      ["from=2012-01-01&to=2026-01-01", "from"],
      ["from=1970-01-01", "from"],
      ["from=yesterday", "from"],
      ["to=2026-02-30", "to"],
      ["from=2026-01-01&interval=quarter", "interval"],
      ["interval=minute", "interval"],
      ["traffic=cats", "traffic"],
      ["breakdown=country,shoe", "breakdown"],
      ["limit=301", "limit"],
      ["compare=never", "compare"],
      ["filter=shoe%3D42", "filter"],
      ["filter=country", "filter"],
      ["filter=referrer~", "filter"],
      ["filter=reason%3Dbored", "filter"],
      [`filter=country%3D${many.slice(0, 5_000)}`, "filter"],
      [Array.from({ length: 21 }, () => "filter=country%3DDE").join("&"), "filter"],
      ["domain=example.com&tag=spring", "tag"],
      ["colour=blue", "colour"],
      ["from=2026-11-01&from=2026-11-02", "from"],
      ["zone=UTC&zone=UTC", "zone"],
      ["from=", "from"],
      ["zone=", "zone"],
      ["interval=", "interval"],
      ["limit=", "limit"],
      ["limit=1e9", "limit"],
      ["tag=", "tag"],
      ["filter=", "filter"],
      ["filter=link%3Dnever-was", "filter"],
      ["filter=link%3Dlnk_01hzzzzzzzzzzzzzzzzzzzzzzz", "filter"],
      ["filter=link%3D", "filter"],
      ["filter=domain%3D", "filter"],
      ["filter=domain%3Dnot%20a%20host", "filter"],
      ["filter=domain%3Dnope.example", "filter"],
      ["domain=", "domain"],
      ["domain=nope.example", "domain"],
      ["filter=country%3D%00", "filter"],
      ["filter=referrer~%00", "filter"],
      ["filter=link%3D%00", "filter"],
      ["filter=tag%3D%00", "filter"],
    ];
    test.each(bad)("a report with %s is refused, and the answer names the field", async (params, field) => {
      const reply = await get(`/api/stats?${params}`);
      expect([reply.status, reply.json<ProblemBody>().errors?.[0]?.field]).toEqual([422, field]);
    });
  });
}
