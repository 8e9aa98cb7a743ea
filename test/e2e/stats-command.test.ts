/** `quicklink stats` on clicks that a real server recorded. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../ground/process.ts";
import { tempFolder } from "../ground/temp.ts";
import { type Names, startNames } from "./posts.ts";
import { databases, must, type Site, startSite } from "./servers.ts";

const visits = 7;

for (const database of databases) {
  describe(`quicklink stats on ${database}`, () => {
    let site: Site;
    let names: Names;
    let link: { id: string; code: string };

    beforeAll(async () => {
      names = await startNames();
      site = await startSite(database, { QL_DNS_SERVERS: names.address });
      link = await site.create({ url: "https://example.com/", tags: ["spring"] });
      for (let visit = 0; visit < visits; visit++) {
        const headers = { referer: visit < 5 ? "https://news.example/a" : "https://other.example/" };
        expect((await site.visit(`/${link.code}`, headers)).status).toBe(302);
      }
      await site.create({ url: "https://example.com/" });
      await site.tenant("stranger");
      await until("the clicks to be stored", async () => {
        const { totals } = (await site.call("GET", "/api/stats")).json<{ totals: { clicks: number } }>();
        return totals.clicks >= visits || undefined;
      });
    }, 60_000);

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
      names.stop();
    });

    test("draws totals, a sparkline and bars, without colours when it is piped", async () => {
      const output = must(await site.cli("stats", link.code, "--zone", "Europe/Berlin"));
      expect(output).toContain(`${visits} clicks`);
      expect(output).toContain(`/${link.code}`);
      expect(output).toContain("Europe/Berlin");
      expect(output).toMatch(/[▁▂▃▄▅▆▇]*█/);
      expect(output).toMatch(/news\.example +█+ +5 +71%/);
      expect(output).not.toContain("\u001b");
      expect(output.split("\n").filter((line) => line.length > 80)).toEqual([]);
    });

    test("says the same in JSON as the API", async () => {
      const { from, to } = daysAround();
      const path = `/api/links/${link.id}/stats?from=${from}&to=${to}`;
      const asked = (await site.call("GET", path)).json<Record<string, unknown>>();
      const printed = JSON.parse(must(await site.cli("stats", link.code, "--from", from, "--to", to, "--json")));
      for (const name of ["subject", "totals", "series", "zone", "interval", "itemised"]) {
        expect([name, printed[name]]).toEqual([name, asked[name]]);
      }
      expect(printed.breakdowns.referrer).toEqual((asked.breakdowns as Record<string, unknown>).referrer);
      expect(printed.subject).toMatchObject({ kind: "link", id: link.id, code: link.code });
    });

    test("without a code shows the links with the most clicks, as the API names them", async () => {
      const output = must(await site.cli("stats"));
      expect(output).toMatch(new RegExp(`link\\n  ${link.code} +█+ +${visits} +100%`));
      const path = "/api/stats?breakdown=link&compare=previous";
      const { breakdowns } = (await site.call("GET", path)).json<{ breakdowns: Record<string, unknown> }>();
      expect(breakdowns).toEqual({
        link: {
          values: [
            {
              ...{ value: link.id, clicks: visits, visitors: 1, previousClicks: 0 },
              link: { id: link.id, domain: `localhost:${site.server.port}`, code: link.code, title: null },
            },
          ],
          ...{ none: 0, other: 0, notItemised: 0 },
        },
      });
      const csv = (await site.call("GET", `${path}&format=csv`)).text.split("\r\n");
      expect(csv[0]).toBe("link,domain,code,title,clicks,visitors,previousClicks");
      expect(csv[1]).toMatch(new RegExp(`^${link.id},.*,${link.code},,${visits},1,0$`));
    });

    test("filters, and refuses what it does not understand", async () => {
      const filtered = must(await site.cli("stats", "--filter", "referrer=news.example"));
      expect(filtered).toContain("5 clicks");
      const both = must(await site.cli("stats", "--filter", "referrer=news.example", `link=${link.code}`));
      expect(both).toContain("5 clicks");
      const bad = await site.cli("stats", "--filter", "shoe=42");
      expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining("country=DE")]);
      const unknown = await site.cli("stats", "--filter", "link=never-was");
      expect(unknown.stderr).toContain("No link has the code never-was");
    });

    test("finds a link by its short address, and says which one is meant by a code on a custom domain", async () => {
      const host = `stats-${database.toLowerCase()}.example.com`;
      const claim = (await site.call("POST", "/api/domains", { body: { host } })).json<{
        proof: { txt: { name: string; value: string } };
      }>();
      names.published.set(claim.proof.txt.name, claim.proof.txt.value);
      expect((await site.call("POST", `/api/domains/${host}/verify`)).status).toBe(200);
      await site.create({ url: "https://example.com/", domain: host, code: "on-domain" });
      for (const name of [`${host}/on-domain`, `http://${host}/on-domain`, `https://${host}/on-domain?qr#top`]) {
        expect(must(await site.cli("stats", name))).toContain(`${host}/on-domain`);
      }
      const own = `localhost:${site.server.port}`;
      expect(must(await site.cli("stats", `${own}/${link.code}`))).toContain(`${visits} clicks`);

      const wrong = async (name: string) => (await site.cli("stats", name)).stderr;
      expect(await wrong("on-domain")).toContain(
        `No link ${own}/on-domain exists in the workspace "default". Did you mean ${host}/on-domain?`,
      );
      expect(await wrong(`${host}/${link.code}`)).toContain(`Did you mean ${own}/${link.code}?`);
      expect(await wrong("never-was")).toContain("Give the short address of a link, such as links.example.com/sale.");
      const filtered = async (name: string, ...options: string[]) =>
        (await site.cli("stats", "--filter", `link=${name}`, ...options)).stderr;
      expect(await filtered("on-domain")).toContain(
        `No link has the code on-domain, and no deleted link with clicks had it. Did you mean ${host}/on-domain?`,
      );
      expect(await filtered(`${host}/${link.code}`)).toContain(`No link is ${host}/${link.code}`);
      expect(await filtered(`${host}/${link.code}`)).toContain(`Did you mean ${link.code}?`);
      expect(await filtered("never-was")).toContain("Name a link on a custom domain as host/code");
      expect(await filtered("on-domain", "--tenant", "stranger")).not.toContain(host);
      const strange = await site.cli("link", "history", "on-domain", "--tenant", "stranger");
      expect([strange.code, strange.stderr]).toEqual([1, expect.not.stringContaining(host)]);
    });

    test("says what became of visits that did not count: who finds a limit used up is no bot", async () => {
      const key = await site.tenant("limited");
      const body = { url: "https://example.com/", fallbackUrl: "https://example.com/full", hitsPerMonth: 2 };
      const { code } = (await site.call("POST", "/api/links", { key, body })).json<{ code: string }>();
      for (let visit = 0; visit < 4; visit++) expect((await site.visit(`/${code}`)).status).toBe(302);
      const lines = await until("the clicks to be stored", async () => {
        const output = must(await site.cli("stats", code, "--tenant", "limited"));

        return output.includes("limit 2") ? output.split("\n") : undefined;
      });
      expect(lines.slice(2, 4)).toEqual([
        "2 clicks    1 daily visitor",
        "Not counted: to the fallback beyond the limit 2",
      ]);
    });

    test("of a link without clicks names the command for this link, and clicks that were imported before", async () => {
      const path = join(tempFolder("stats"), "shlink.csv");
      const row = "2024-03-05T10:11:12Z,s.example,guide,https://s.example/guide,https://example.com/guide,,,12";
      writeFileSync(path, `createdAt,domain,shortCode,shortUrl,longUrl,title,tags,visits\n${row}\n`);
      must(await site.cli("import", path, "--tenant", "stranger"));
      const empty = must(await site.cli("stats", "guide", "--tenant", "stranger", "--zone", "Europe/Berlin"));
      const words = empty.replaceAll(/\s+/g, " ");
      expect(words).toContain("before this period: 12 clicks, from 5 Mar 2024 on.");
      expect(words).toContain("quicklink stats guide --tenant stranger --zone Europe/Berlin --from 2026-01-01");
      const filtered = must(
        await site.cli("stats", "guide", "--tenant", "stranger", "--filter", "utm_campaign=it's on"),
      );
      expect(filtered.replaceAll(/\s+/g, " ")).toContain(`--filter 'utm_campaign=it'\\''s on' --from`);
      expect(filtered).not.toContain("another shortener");
      const others = must(await site.cli("stats", link.code, "--from", "2026-01-01", "--to", "2026-01-31"));
      expect(others).not.toContain("another shortener");
    });

    test("counts tags that `tenant clicks` names: a list, and each with a comma by itself", async () => {
      const key = await site.tenant("tagged");
      const set = async (...options: string[]) => {
        const output = must(await site.cli("tenant", "clicks", "tagged", ...options, "--json"));
        const { tags } = (await site.call("GET", "/api/stats/settings", { key })).json<{ tags: string[] }>();
        return { tags, shown: (JSON.parse(output) as { tags: string }).tags };
      };
      expect(await set("--tag", "sale, 50% off", "--tag", "spring")).toEqual({
        ...{ tags: ["sale, 50% off", "spring"], shown: '"sale, 50% off", spring' },
      });
      expect(await set("--tags", "a, b", "--tag", "c,d")).toEqual({ tags: ["a", "b", "c,d"], shown: 'a, b, "c,d"' });
      expect((await set("--tags", "")).tags).toEqual([]);
      const { tags } = (await site.call("GET", "/api/stats/settings")).json<{ tags: string[] }>();
      expect(tags).not.toContain("c,d");
    });

    test("of another tenant has nothing, and says what to do", async () => {
      const output = must(await site.cli("stats", "--tenant", "stranger"));
      expect(output).toContain("No clicks in this period.");
      expect((await site.cli("stats", link.code, "--tenant", "stranger")).code).not.toBe(0);
    });
  });
}

/** Days that contain the test, also if it runs at midnight. */
function daysAround(): { from: string; to: string } {
  const date = (at: number) => new Date(at).toISOString().slice(0, 10);
  return { from: date(Date.now() - 86_400_000), to: date(Date.now() + 86_400_000) };
}
