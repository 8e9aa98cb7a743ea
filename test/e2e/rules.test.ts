import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../ground/process.ts";
import { databases, type LinkBody, metric, type Reply, type Site, startSite } from "./servers.ts";

const https = "https://example.com/";
const phone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";
const day = 86_400_000;

const placeOf = ({ status, headers }: Reply) => `${status} ${headers.get("location")}`;

for (const database of databases) {
  describe(`on ${database}`, () => {
    let site: Site;

    beforeAll(async () => {
      site = await startSite(database, { QL_TRUSTED_PROXIES: "127.0.0.1", QL_COUNTRY_HEADER: "CF-IPCountry" });
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    const go = async (link: LinkBody, headers: Record<string, string> = {}, query = "") =>
      placeOf(await site.reach(`/${link.code}${query}`, headers));

    test("a visitor goes where the first rule that fits says, and else where the link says", async () => {
      const link = await site.create({
        url: https,
        rules: [
          { when: { country: ["de"], device: ["mobile"] }, url: `${https}de/app` },
          { when: { country: ["DE"] }, url: `${https}de` },
          { when: { os: ["ios"] }, url: `${https}ios` },
          { when: { language: ["FR"] }, url: `${https}fr` },
          { when: { query: { name: "ref", value: "x y" } }, url: `${https}ref` },
        ],
      });
      expect(await go(link)).toBe(`302 ${https}`);
      expect(await go(link, { "cf-ipcountry": "DE" })).toBe(`302 ${https}de`);
      expect(await go(link, { "cf-ipcountry": "DE", "user-agent": phone })).toBe(`302 ${https}de/app`);
      expect(await go(link, { "cf-ipcountry": "FR", "user-agent": phone })).toBe(`302 ${https}ios`);
      expect(await go(link, { "accept-language": "en;q=0.4,fr-CH" })).toBe(`302 ${https}fr`);
      expect(await go(link, {}, "?ref=x%20y")).toBe(`302 ${https}ref`);
      expect(await go(link, {}, "?ref=other")).toBe(`302 ${https}`);
      const reply = await site.visit(`/${link.code}`);
      expect(reply.headers.get("cache-control")).toBe("private, no-store");
    });

    test("the country is that of the address where no proxy tells it, once the table is read", async () => {
      const link = await site.create({ url: https, rules: [{ when: { country: ["US"] }, url: `${https}us` }] });
      const place = await until("cannot read the country table", async () => {
        const found = await go(link, { "x-forwarded-for": "8.8.8.8" });
        return found === `302 ${https}us` ? found : undefined;
      });
      expect(place).toBe(`302 ${https}us`);
      expect(await go(link, { "x-forwarded-for": "10.0.0.1" })).toBe(`302 ${https}`);
      expect(await go(link, { "x-forwarded-for": "2001:4860:4860::8888" })).toBe(`302 ${https}us`);
      // A proxy may add the port. Bun's server answers the requests with a Trailer.
      for (const more of [{}, { trailer: "none" }]) {
        for (const address of ["8.8.8.8", "8.8.8.8:4711", "[2001:4860:4860::8888]:443", "8.8.8.8:4711, 127.0.0.1:80"])
          expect(await go(link, { "x-forwarded-for": address, ...more })).toBe(`302 ${https}us`);
        expect(await go(link, { "x-forwarded-for": "10.0.0.1:4711", ...more })).toBe(`302 ${https}`);
      }
    });

    test("a rule has its time, by moments and by the clock of a zone", async () => {
      const at = (ms: number) => new Date(Date.now() + ms).toISOString();
      const daily = { zone: "Asia/Tokyo", from: "00:00", until: "24:00" };
      const link = await site.create({
        url: https,
        rules: [
          { when: { until: at(-day) }, url: `${https}past` },
          { when: { from: at(day) }, url: `${https}future` },
          { when: { from: at(-day), until: at(day), hours: daily }, url: `${https}now` },
        ],
      });
      expect(await go(link)).toBe(`302 ${https}now`);
    });

    test("rules come back as they were given, with times in one spelling, and are changed whole", async () => {
      const rules = [
        {
          when: {
            country: ["AT", "DE"],
            device: ["mobile", "tablet"],
            os: ["android"],
            language: ["de-at", "de"],
            from: "2099-01-01T02:00:00+02:00",
            until: "2099-01-02T00:00:00Z",
            hours: { zone: "europe/berlin", days: ["sat", "sun"], from: "22:30", until: "06:00" },
            query: { name: "a", value: "" },
          },
          url: `${https}all`,
        },
        { when: { query: { name: "b" } }, url: `${https}b` },
      ];
      const link = await site.create({ url: https, rules });
      const shown = structuredClone(rules);
      Object.assign(shown[0]?.when ?? {}, { from: "2099-01-01T00:00:00.000Z", until: "2099-01-02T00:00:00.000Z" });
      Object.assign(shown[0]?.when.hours ?? {}, { zone: "Europe/Berlin" });
      expect(link.rules).toEqual(shown);
      const path = `/api/links/${link.id}`;
      expect((await site.call("GET", path)).json<LinkBody>().rules).toEqual(shown);
      expect((await site.call("PATCH", path, { body: { title: "x" } })).json<LinkBody>().rules).toEqual(shown);
      expect((await site.call("PATCH", path, { body: { rules: shown } })).json<LinkBody>().rules).toEqual(shown);
      const gone = (await site.call("PATCH", path, { body: { rules: [] } })).json<LinkBody>();
      expect([gone.rules, gone.version]).toEqual([[], 4]);
      expect((await site.call("PUT", path, { body: { url: https, rules } })).json<LinkBody>().rules).toEqual(shown);
      expect((await site.call("PUT", path, { body: { url: https } })).json<LinkBody>().rules).toEqual([]);
    });

    test("an edit of the rules is seen with the next answer", async () => {
      const link = await site.create({ url: https, rules: [{ when: { device: ["desktop"] }, url: `${https}a` }] });
      expect(await go(link)).toBe(`302 ${https}a`);
      const rules = [{ when: { device: ["desktop"] }, url: `${https}b` }];
      await site.call("PATCH", `/api/links/${link.id}`, { body: { rules } });
      expect(await go(link)).toBe(`302 ${https}b`);
      await site.call("PATCH", `/api/links/${link.id}`, { body: { rules: [] } });
      expect(await go(link)).toBe(`302 ${https}`);
    });

    test("a permanent link with rules answers 302, and 301 again without them", async () => {
      const rules = [{ when: { country: ["JP"] }, url: `${https}jp` }];
      const link = await site.create({ url: https, permanent: true, rules });
      expect(await go(link)).toBe(`302 ${https}`);
      await site.call("PATCH", `/api/links/${link.id}`, { body: { rules: [] } });
      expect(await go(link)).toBe(`301 ${https}`);
    });

    test("UTM parameters are added to every address, and a visitor's own go along if they may", async () => {
      const utm = { source: "news letter", campaign: "spring" };
      const rules = [{ when: { query: { name: "r" } }, url: `${https}?utm_source=own#top` }];
      const link = await site.create({ url: `${https}?a=1`, utm, rules });
      expect(link.utm).toEqual(utm);
      expect(await go(link, {}, "?x=1")).toBe(`302 ${https}?a=1&utm_source=news+letter&utm_campaign=spring`);
      expect(await go(link, {}, "?r")).toBe(`302 ${https}?utm_source=own&utm_campaign=spring#top`);
      await site.call("PATCH", `/api/links/${link.id}`, { body: { forwardQuery: true, utm: null, rules: [] } });
      expect(await go(link, {}, "?a=2&b=3&b=4")).toBe(`302 ${https}?a=1&b=3&b=4`);
      expect(await go(link, {}, `?b=${"x".repeat(5_000)}`)).toBe(`302 ${https}?a=1`);
      expect(await go(link)).toBe(`302 ${https}?a=1`);
    });

    test("a split sends a visitor to the same place every time, and visitors to all places", async () => {
      const split = [
        { url: `${https}a`, weight: 1 },
        { url: `${https}b`, weight: 1 },
      ];
      const link = await site.create({ url: https, split });
      expect(link.split).toEqual(split);
      const seen = new Set<string>();
      for (let i = 1; i <= 40; i++) {
        const headers = { "x-forwarded-for": `192.0.2.${i}` };
        const places = [await go(link, headers), await go(link, headers), await go(link, headers)];
        expect(new Set(places).size).toBe(1);
        seen.add(places[0] ?? "");
      }
      expect([...seen].sort()).toEqual([`302 ${https}a`, `302 ${https}b`]);
      const rules = [{ when: { device: ["desktop"] }, url: `${https}rule` }];
      await site.call("PATCH", `/api/links/${link.id}`, { body: { rules } });
      expect(await go(link)).toBe(`302 ${https}rule`);
    });

    test("a private link has twelve characters of chance; a code of one's own is not private", async () => {
      const [one, two] = [
        await site.create({ url: https, private: true }),
        await site.create({ url: https, private: true }),
      ];
      expect([one.code, two.code].every((code) => /^[0-9A-Za-z]{12}$/.test(code))).toBe(true);
      expect(one.code).not.toBe(two.code);
      expect(await go(one)).toBe(`302 ${https}`);
      const reply = await site.call("POST", "/api/links", { body: { url: https, private: true, code: "not-hidden" } });
      expect(reply.json<{ errors: unknown[] }>().errors).toMatchObject([{ field: "private", code: "contradiction" }]);
    });

    test("many links at once may have rules and be private", async () => {
      const rules = [{ when: { device: ["desktop"] }, url: `${https}bulk` }];
      const reply = await site.call("POST", "/api/links/bulk", {
        body: { links: [{ url: https, rules, private: true }] },
      });
      const [result] = reply.json<{ results: { link: LinkBody }[] }>().results;
      if (result === undefined) throw new Error(reply.text);
      expect(result.link.code).toHaveLength(12);
      expect(await go(result.link)).toBe(`302 ${https}bulk`);
    });

    test("the preview shows all that a link may lead to, what it is called and its dates", async () => {
      const link = await site.create({
        url: https,
        title: "<b>Spring</b>",
        expiresAt: "2099-06-01T00:00:00Z",
        fallbackUrl: `${https}sorry`,
        rules: [{ when: { country: ["DE"] }, url: `${https}de?a=1&b=2` }],
        split: [
          { url: `${https}a`, weight: 1 },
          { url: `${https}b`, weight: 1 },
        ],
      });
      const { status, text, headers } = await site.reach(`/${link.code}+`);
      expect([status, headers.get("content-security-policy")?.includes("script")]).toEqual([200, false]);
      for (const part of [
        ...["&#60;b&#62;Spring&#60;/b&#62;", `href="${https}"`, `${https}de?a=1&#38;b=2`, `href="${https}a"`],
        ...["used its hits for the month, it leads to</p>", `href="${https}sorry"`],
        ...["Expires on <time>2099-06-01</time>", `Created on <time>${link.createdAt.slice(0, 10)}</time>`],
      ]) {
        expect(text).toContain(part);
      }
      expect(text).not.toContain("<b>");
    });

    test("a visit by a rule is counted once, like any other", async () => {
      const counted = async () =>
        metric((await site.visit("/metrics")).text, 'quicklink_redirects_total{outcome="counted"}');
      const link = await site.create({ url: https, rules: [{ when: { device: ["desktop"] }, url: `${https}a` }] });
      const before = await counted();
      await go(link);
      await go(link);
      expect((await counted()) - before).toBe(2);
    });
  });
}
