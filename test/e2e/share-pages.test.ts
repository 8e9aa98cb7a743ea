/** Public statistics through a real server. What figures must be: test/conformance/click-reports.test.ts. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { dimensions } from "../../src/clicks/click.ts";
import { makePerson } from "../ground/people.ts";
import {
  databases,
  type LinkBody,
  must,
  type ProblemBody,
  query,
  type Reply,
  type Site,
  startSite,
} from "./servers.ts";

type Share = { id: string; url: string; link: string | null; tag: string | null; password: boolean; filters: string[] };
type Figures = {
  title: string;
  shortUrl: string | null;
  totals: { clicks: number; visitors: number };
  series: { clicks: number }[];
  breakdowns: { name: string; values: { value: string; clicks: number }[]; none: number; other: number }[];
};

for (const database of databases) {
  describe(`share pages on ${database}`, () => {
    let site: Site;
    let link: LinkBody;
    let foreignKey: string;
    const now = Date.now() - 60_000;

    beforeAll(async () => {
      site = await startSite(database);
      foreignKey = await site.tenant("foreign");
      link = await site.create({
        url: "https://secret.example/",
        title: "<i>Spring</i>",
        notes: "hidden note",
        tags: ["spring"],
      });
      for (const value of ["DE", "FR"]) {
        await query(
          site.env,
          `insert into click_values (tenant, dimension, value, seen_day) values (0, 'country', '${value}', 0)`,
        );
      }
      await query(
        site.env,
        "insert into click_values (tenant, dimension, value, seen_day) values (0, 'referrer', 'news.example', 0)",
      );
      const id = (value: string) => `(select id from click_values where value = '${value}')`;
      const facts = dimensions.map((name) => {
        if (name === "country") return `case when i <= 4 then ${id("DE")} else ${id("FR")} end`;
        return name === "referrer" ? id("news.example") : "0";
      });
      await query(
        site.env,
        `with recursive n(i) as (select 1 union all select i + 1 from n where i < 7)
         insert into clicks (day, tenant, level, link, at, seq, domain, tags, reason, first, ${dimensions.join(", ")})
         select ${Math.floor(now / 86_400_000)}, t.number, 0, l.number, ${now}, i, -1, 0, 0,
           case when i <= 2 then 3 else 0 end, ${facts.join(", ")}
         from n, tenants t, links l where t.slug = 'default' and l.id = '${link.id}'`,
      );
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    const share = async (body: object): Promise<Share> => {
      const reply = await site.call("POST", "/api/stats/shares", { body });
      if (reply.status !== 201) throw new Error(reply.text);
      return reply.json<Share>();
    };
    const pathOf = ({ url }: Share) => new URL(url).pathname;
    const json = async (one: Share) => (await site.visit(`${pathOf(one)}.json`)).json<Figures>();

    function expectSafe(reply: Reply): void {
      const policy = reply.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain("unsafe");
      expect(reply.text).not.toContain("<script");
      expect(reply.text).not.toContain(" style=");
      for (const [, style = ""] of reply.text.matchAll(/<style>([\s\S]*?)<\/style>/g)) {
        expect(policy).toContain(new Bun.CryptoHasher("sha256").update(style).digest("base64"));
      }
      expect([reply.headers.get("cache-control"), reply.headers.get("x-robots-tag")]).toEqual(["no-store", "noindex"]);
    }

    test("show figures, chart and breakdowns without a script, and nothing else about the link", async () => {
      const made = await share({ link: link.id });
      const page = await site.visit(pathOf(made));
      expect(page.status).toBe(200);
      expectSafe(page);
      expect(page.text).toContain("<h1>&#60;i&#62;Spring&#60;/i&#62;</h1>");
      expect(page.text).toContain("<dd>7</dd>");
      expect(page.text).toContain("Germany");
      expect(page.text).toContain("news.example");
      // No value of a visitor looks like it.
      expect(page.text).toContain("<td><i>Unknown device</i>");
      expect(page.text).toContain('<svg class="chart wide"');
      expect(page.text).not.toContain("secret.example");
      expect(page.text).not.toContain("hidden note");
      const figures = await json(made);
      expect(figures).toMatchObject({ title: "<i>Spring</i>", totals: { clicks: 7, visitors: 2 } });
      expect(figures.series).toHaveLength(30);
      expect(figures.breakdowns.find(({ name }) => name === "country")?.values).toEqual([
        { value: "DE", clicks: 4 },
        { value: "FR", clicks: 3 },
      ]);
      expect(figures.breakdowns.map(({ name }) => name).toSorted()).toEqual([
        "browser",
        "country",
        "device",
        "referrer",
      ]);
    });

    test("show only what their filters and breakdowns allow, whatever is asked for", async () => {
      const made = await share({ link: link.id, filters: ["country=DE"], breakdowns: ["referrer"], days: 7 });
      const page = await site.visit(`${pathOf(made)}?filter=country%3DFR&breakdown=country&days=400`);
      expect(page.text).toContain("<dd>4</dd>");
      expect(page.text).not.toContain("France");
      const figures = await json(made);
      expect(figures).toMatchObject({ totals: { clicks: 4 }, breakdowns: [{ name: "referrer" }] });
      expect(figures.series).toHaveLength(7);
    });

    test("of a tag have the clicks of its links", async () => {
      const made = await share({ tag: "spring", title: "Campaign", breakdowns: ["link", "country"] });
      const figures = await json(made);
      expect(figures).toMatchObject({ title: "Campaign", shortUrl: null });
      expect((await site.visit(pathOf(made))).status).toBe(200);
    });

    test("are not made if their filters name what does not exist, in the words of a report", async () => {
      const theirs = await site.call("POST", "/api/links", { key: foreignKey, body: { url: "https://example.com/" } });
      const { id } = theirs.json<LinkBody>();
      for (const filter of [`link=${id}`, "link!=never-was", "domain=nope.example", "link=nope.example/x"]) {
        const asked = await site.call("GET", `/api/stats?filter=${encodeURIComponent(filter)}`);
        const [{ message } = { message: "" }] = asked.json<ProblemBody>().errors ?? [];
        for (const subject of [{ tag: "product" }, { link: link.id }]) {
          const reply = await site.call("POST", "/api/stats/shares", { body: { ...subject, filters: [filter] } });
          expect([filter, reply.status, asked.status]).toEqual([filter, 422, 422]);
          expect(reply.json<ProblemBody>().errors?.[0]).toMatchObject({ field: "filters", message });
        }
      }
      expect((await share({ tag: "product", filters: [`link=${link.id}`, "tag=not-yet"] })).filters).toHaveLength(2);
    });

    test("say that they do not exist while the link of a filter is in the trash", async () => {
      const { id } = await site.create({ url: "https://example.com/" });
      const made = await share({ tag: "spring", filters: [`link!=${id}`] });
      expect((await site.visit(pathOf(made))).status).toBe(200);
      expect((await site.call("DELETE", `/api/links/${id}`)).status).toBe(204);
      // Figures are kept for half a minute.
      await query(site.env, `update stats_shares set id = 'shr_again' where id = '${made.id}'`);
      const page = await site.visit(pathOf(made));
      expect([page.status, page.text.includes("This report does not exist")]).toEqual([404, true]);
    });

    test("with a breakdown of bots, which is refused today, are shown without it", async () => {
      const refused = await site.call("POST", "/api/stats/shares", { body: { tag: "x", breakdowns: ["bot"] } });
      expect([refused.status, refused.json<ProblemBody>().errors?.[0]?.field]).toEqual([422, "breakdowns.0"]);
      const made = await share({ link: link.id, breakdowns: ["variant"] });
      await query(site.env, `update stats_shares set breakdowns = '["bot","variant"]' where id = '${made.id}'`);
      const page = await site.visit(pathOf(made));
      expect(page.status).toBe(200);
      expect(page.text.match(/<h2>[^<]*/g)).toEqual(["<h2>Rules and variants"]);
      expect(page.text).toContain("<td><i>Main destination</i>");
      expect((await site.call("GET", `/api/stats/shares?link=${link.id}`)).status).toBe(200);
    });

    test("are gone at once when they are revoked, expire, or lose their link or workspace", async () => {
      const [one, two, three] = [
        await share({ link: link.id }),
        await share({ link: link.id }),
        await share({ tag: "x" }),
      ];
      expect((await site.visit(pathOf(one))).status).toBe(200);
      expect((await site.call("DELETE", `/api/stats/shares/${one.id}`, { key: foreignKey })).status).toBe(404);
      expect((await site.call("DELETE", `/api/stats/shares/${one.id}`)).status).toBe(204);
      expect((await site.visit(pathOf(one))).status).toBe(404);
      expect((await site.visit(`${pathOf(one)}.json`)).json<ProblemBody>().code).toBe("not_found");
      expect((await site.call("DELETE", `/api/stats/shares/${one.id}`)).status).toBe(404);
      await query(site.env, `update stats_shares set expires_at = 1 where id = '${three.id}'`);
      expect((await site.visit(pathOf(three))).status).toBe(404);
      const log = (await site.call("GET", `/api/history?subject=${one.id}`)).json<{ items: { action: string }[] }>();
      expect(log.items.map(({ action }) => action)).toEqual(["share.revoke", "share.create"]);
      expect(JSON.stringify(log)).not.toContain(pathOf(one).slice(3));
      must(await site.cli("tenant", "suspend", "default", "--reason", "test"));
      expect((await site.visit(pathOf(two))).status).toBe(404);
      must(await site.cli("tenant", "restore", "default"));
      expect((await site.visit(pathOf(two))).status).toBe(200);
      for (const path of ["/s/", "/s/x", `${pathOf(two)}x`, `/s/${"x".repeat(32)}`]) {
        expect((await site.visit(path)).status).toBe(404);
      }
    });

    test("with a password show nothing before it, and attempts are limited", async () => {
      const made = await share({ link: link.id, password: "correct horse" });
      expect(made).toMatchObject({ password: true });
      const path = pathOf(made);
      const locked = await site.visit(path);
      expect([locked.status, locked.text.includes("Spring")]).toEqual([401, false]);
      expect((await site.visit(`${path}.json`)).json<ProblemBody>().code).toBe("password_required");
      const send = (password: string) =>
        site.call("POST", path, {
          key: null,
          headers: { "content-type": "application/x-www-form-urlencoded" },
          text: `password=${encodeURIComponent(password)}`,
        });
      expect((await send("wrong password")).status).toBe(403);
      const right = await send("correct horse");
      expect([right.status, right.headers.get("location")]).toEqual([303, path]);
      const set = right.headers.get("set-cookie") ?? "";
      expect(set).toContain(`Path=${path};`);
      const cookie = set.split(";")[0] ?? "";
      expect((await site.visit(path, { cookie })).text).toContain("Spring");
      const other = await share({ link: link.id, password: "correct horse" });
      expect((await site.visit(pathOf(other), { cookie })).status).toBe(401);
      const statuses: number[] = [];
      for (let n = 0; n < 11; n++) statuses.push((await send("wrong password")).status);
      expect(statuses.at(-1)).toBe(429);
      expect((await site.visit(path, { cookie })).status).toBe(200);
      await site.call("DELETE", `/api/stats/shares/${made.id}`);
      expect((await site.visit(path, { cookie })).status).toBe(404);
    }, 60_000);

    test("are listed for who may see statistics, made by who may write, and bad ones name the field", async () => {
      const viewer = await makePerson(site, { roles: { default: "viewer" } });
      const list = (await viewer.call("GET", `/api/stats/shares?link=${link.id}`)).json<{ items: Share[] }>();
      expect(list.items.length).toBeGreaterThan(0);
      expect(list.items.every((one) => one.link === link.id)).toBe(true);
      expect((await viewer.call("POST", "/api/stats/shares", { body: { tag: "x" } })).status).toBe(403);
      const theirs = (await site.call("GET", "/api/stats/shares", { key: foreignKey })).json<{ items: Share[] }>();
      expect(theirs.items).toEqual([]);
      const foreign = await site.call("POST", "/api/stats/shares", { key: foreignKey, body: { link: link.id } });
      expect(foreign.status).toBe(404);
      for (const [body, field] of [
        [{}, "link"],
        [{ link: link.id, tag: "x" }, "link"],
        [{ link: "nonsense" }, "link"],
        [{ tag: "x", days: 0 }, "days"],
        [{ tag: "x", filters: ["nonsense"] }, "filters"],
        [{ tag: "x", breakdowns: ["shoes"] }, "breakdowns.0"],
        [{ link: link.id, breakdowns: ["link"] }, "breakdowns"],
        [{ tag: "x", password: "short" }, "password"],
        [{ tag: "x", expiresAt: "2001-01-01T00:00:00Z" }, "expiresAt"],
        [{ tag: "x", colour: 1 }, "colour"],
      ] as const) {
        const reply = await site.call("POST", "/api/stats/shares", { body });
        expect([reply.status, reply.json<ProblemBody>().errors?.[0]?.field]).toEqual([422, field]);
      }
    });
  });
}
