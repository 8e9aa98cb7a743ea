/** What tenants and strangers may do: API calls, links per month, guesses, and how refusals are reported. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { databases, type LinkBody, must, type ProblemBody, type Reply, type Site, startSite } from "./servers.ts";

interface Use {
  name: string;
  state: string;
  used: number | null;
  held: number | null;
  limit: number | null;
  resetsAt: string | null;
  spentAt: string | null;
  code?: string;
  link?: string;
}

interface UsageBody {
  limits: Use[];
  hitsPerLinkPerMonth: Use[];
}

const url = "https://example.com/";
const times = <Result>(count: number, work: (i: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)));
const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status);
const count = (replies: readonly Reply[], status: number) => replies.filter((reply) => reply.status === status).length;
const retryAfter = (reply: Reply) => Number(reply.headers.get("retry-after"));

for (const database of databases) {
  describe(`limits on ${database}`, () => {
    let site: Site;
    let names = 0;

    beforeAll(async () => {
      site = await startSite(database, { QL_GUESSES_PER_MINUTE: "5", QL_TRUSTED_PROXIES: "127.0.0.1" });
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    /** A new tenant with these limits and no others. */
    async function tenant(...limits: string[]): Promise<{ slug: string; key: string }> {
      const slug = `limited-${++names}`;
      const key = await site.tenant(slug);
      if (limits.length > 0) must(await site.cli("tenant", "update", slug, ...limits));
      return { slug, key };
    }

    const usage = async (key: string) => (await site.call("GET", "/api/usage", { key })).json<UsageBody>();
    const useOf = async (key: string, name: string) => (await usage(key)).limits.find((use) => use.name === name);

    describe("API calls", () => {
      test("are counted down in the headers of every answer, and refused when none are left", async () => {
        const { slug, key } = await tenant("--api", "5");
        const replies = [
          await site.call("GET", "/api/tenant", { key }),
          await site.call("GET", "/api/nothing", { key }),
          await site.call("POST", "/api/links", { key, body: { url: "nonsense" } }),
          await site.call("POST", "/api/links", { key, text: "{", headers: { "content-type": "application/json" } }),
          await site.call("DELETE", "/api/tenant", { key }),
          await site.call("GET", "/api/tenant", { key }),
          await site.call("GET", "/api/tenant", { key }),
        ];
        expect(statuses(replies)).toEqual([200, 404, 422, 400, 405, 429, 429]);
        expect(replies.map(({ headers }) => headers.get("ratelimit-policy"))).toEqual(
          replies.map(() => '"tenant";q=5;w=60'),
        );
        const left = replies.map(({ headers }) =>
          /^"tenant";r=(\d);t=(?:[1-5]?\d|60|61)$/.exec(headers.get("ratelimit") ?? ""),
        );
        expect(left.map((match) => match?.[1])).toEqual(["4", "3", "2", "1", "0", "0", "0"]);
        const denied = replies.at(-1) as Reply;
        expect(denied.headers.get("content-type")).toBe("application/problem+json");
        expect(retryAfter(denied)).toBeGreaterThanOrEqual(1);
        expect(retryAfter(denied)).toBeLessThanOrEqual(61);
        expect(denied.json<ProblemBody>()).toMatchObject({ code: "rate_limited", status: 429 });
        expect(denied.json<ProblemBody>().detail).toStartWith("Your workspace has used its 5 API calls per minute");

        must(await site.cli("tenant", "update", slug, "--api", "7"));
        expect(statuses(await times(3, () => site.call("GET", "/api/tenant", { key }))).toSorted()).toEqual([
          200, 200, 429,
        ]);
      });

      test("are exactly as many as the limit, however many come at once", async () => {
        const { key } = await tenant("--api", "20");
        const replies = await times(60, () => site.call("GET", "/api/tenant", { key }));
        expect([count(replies, 200), count(replies, 429)]).toEqual([20, 40]);
      });

      test("of a key with its own limit end before the tenant's, and take nothing from it when refused", async () => {
        const { key } = await tenant("--api", "100");
        const made = await site.call("POST", "/api/keys", {
          key,
          body: { name: "slow", scopes: ["links:read"], apiPerMinute: 2 },
        });
        const slow = made.json<{ secret: string; apiPerMinute: number }>();
        expect(slow.apiPerMinute).toBe(2);
        const replies: Reply[] = [];
        for (let i = 0; i < 4; i++) replies.push(await site.call("GET", "/api/tenant", { key: slow.secret }));
        expect(statuses(replies)).toEqual([200, 200, 429, 429]);
        expect(replies[0]?.headers.get("ratelimit-policy")).toBe('"tenant";q=100;w=60, "key";q=2;w=60');
        expect(replies.map(({ headers }) => headers.get("ratelimit")?.replace(/;t=\d+/g, ""))).toEqual([
          '"tenant";r=98, "key";r=1',
          '"tenant";r=97, "key";r=0',
          '"tenant";r=97, "key";r=0',
          '"tenant";r=97, "key";r=0',
        ]);
        expect(replies[3]?.json<ProblemBody>().detail).toStartWith("This API key has used its 2 calls per minute");
        const other = await site.call("GET", "/api/tenant", { key });
        expect(other.headers.get("ratelimit")).toStartWith('"tenant";r=96;');
      });

      test("of a key that was limited on the command line are limited", async () => {
        const { slug, key } = await tenant();
        const secret = must(await site.cli("key", "create", "slow", "--tenant", slug, "--per-minute", "1")).trim();
        expect(statuses([await site.call("GET", "/api/tenant", { key: secret })])).toEqual([200]);
        expect((await site.call("GET", "/api/tenant", { key: secret })).status).toBe(429);
        const free = await site.call("GET", "/api/tenant", { key });
        expect([free.status, free.headers.get("ratelimit")]).toEqual([200, null]);
      });

      test("are none at a limit of 0", async () => {
        const { key } = await tenant("--api", "0");
        const reply = await site.call("GET", "/api/tenant", { key });
        expect([reply.status, reply.json<ProblemBody>().code]).toEqual([429, "rate_limited"]);
        expect(reply.headers.get("ratelimit")).toBe('"tenant";r=0;t=1');
        expect(retryAfter(reply)).toBe(60);
      });

      test("have no headers without a limit, nor without a key", async () => {
        for (const reply of [
          await site.call("GET", "/api/tenant"),
          await site.call("GET", "/api/tenant", { key: null }),
        ]) {
          expect([reply.headers.get("ratelimit"), reply.headers.get("ratelimit-policy")]).toEqual([null, null]);
        }
      });

      test("that make many links are one call", async () => {
        const { key } = await tenant("--api", "9");
        const reply = await site.call("POST", "/api/links/bulk", { key, body: { links: [{ url }, { url }, { url }] } });
        expect([reply.status, reply.headers.get("ratelimit")?.slice(0, 12)]).toEqual([200, '"tenant";r=8']);
      });

      test("cannot be limited by nonsense", async () => {
        const { key } = await tenant();
        for (const [apiPerMinute, code] of [
          [0, "too_small"],
          [-1, "too_small"],
          [1_000_001, "too_big"],
          [1.5, "wrong_type"],
          ["5", "wrong_type"],
        ] as const) {
          const body = { name: "bad", scopes: ["links:read"], apiPerMinute };
          const reply = await site.call("POST", "/api/keys", { key, body });
          expect({ apiPerMinute, errors: reply.json<ProblemBody>().errors }).toMatchObject({
            apiPerMinute,
            errors: [{ field: "apiPerMinute", code }],
          });
        }
        for (const text of ["0", "-1", "1.5", "many", "1000001"]) {
          expect((await site.cli("key", "create", "bad", "--per-minute", text)).code).toBe(2);
        }
      });
    });

    describe("new links", () => {
      test("are exactly as many as the month's limit, however many are asked for at once", async () => {
        const { slug, key } = await tenant("--links", "20");
        const replies = await times(50, () => site.call("POST", "/api/links", { key, body: { url } }));
        expect([count(replies, 201), count(replies, 429)]).toEqual([20, 30]);
        const denied = replies.find(({ status }) => status === 429) as Reply;
        expect(denied.json<ProblemBody>().code).toBe("limit_reached");
        expect(denied.json<ProblemBody>().detail).toContain("20 new links for this month");
        expect(retryAfter(denied)).toBeGreaterThan(0);
        expect(retryAfter(denied)).toBeLessThanOrEqual(31 * 86_400);
        expect((await useOf(key, "linksPerMonth"))?.used).toBe(20);

        must(await site.cli("link", "create", url, "--tenant", slug));
        expect((await useOf(key, "linksPerMonth"))?.used).toBe(20);
        must(await site.cli("tenant", "update", slug, "--links", "21"));
        expect((await site.call("POST", "/api/links", { key, body: { url } })).status).toBe(201);
        expect((await site.call("POST", "/api/links", { key, body: { url } })).status).toBe(429);
      });

      test("of a request that exceeds the limit are the first, and the others are refused in their places", async () => {
        const { key } = await tenant("--links", "130");
        const links = [{ url: "nonsense" }, ...Array.from({ length: 249 }, () => ({ url }))];
        const reply = await site.call("POST", "/api/links/bulk", { key, body: { links } });
        const { created, failed, results } = reply.json<{
          created: number;
          failed: number;
          results: { link?: LinkBody; problem?: ProblemBody }[];
        }>();
        expect([reply.status, created, failed]).toEqual([200, 130, 120]);
        expect(results.map(({ link, problem }) => (link ? "link" : problem?.code))).toEqual([
          "invalid_input",
          ...Array.from({ length: 130 }, () => "link"),
          ...Array.from({ length: 119 }, () => "limit_reached"),
        ]);
        expect((await useOf(key, "linksPerMonth"))?.used).toBe(130);
      });
    });

    describe("guesses", () => {
      const from = (address: string) => ({ "x-forwarded-for": address });

      async function guess(address: string, howMany: number): Promise<number[]> {
        const found: number[] = [];
        for (let i = 0; i < howMany; i++) found.push((await site.reach(`/guess-${++names}`, from(address))).status);
        return found;
      }

      test("are free up to the limit; then the address is refused whatever is not in memory", async () => {
        const [cold, hot] = [await site.create({ url }), await site.create({ url })];
        await site.reach(`/${hot.code}`, from("198.51.100.1"));
        expect(await guess("203.0.113.1", 7)).toEqual([404, 404, 404, 404, 404, 429, 429]);

        const page = await site.reach(`/${cold.code}`, from("203.0.113.1"));
        expect(page.status).toBe(429);
        expect(page.text).toContain("Too many unknown links");
        expect(retryAfter(page)).toBeGreaterThanOrEqual(1);
        expect(retryAfter(page)).toBeLessThanOrEqual(61);
        const json = await site.reach(`/${cold.code}+`, { ...from("203.0.113.1"), accept: "application/json" });
        expect([json.status, json.json<ProblemBody>().code]).toEqual([429, "too_many_guesses"]);

        expect((await site.reach(`/${hot.code}`, from("203.0.113.1"))).status).toBe(302);
        expect((await site.reach(`/${hot.code}+`, from("203.0.113.1"))).status).toBe(200);
        expect((await site.reach(`/${cold.code}`, from("198.51.100.1"))).status).toBe(302);
        expect((await site.reach(`/${cold.code}`, from("203.0.113.1"))).status).toBe(302);
      });

      test("of previews and HEAD count too, and so does asking for the same code again", async () => {
        const replies = [
          await site.visit("/not-there+", from("203.0.113.2")),
          await site.visit("/not-there", from("203.0.113.2"), "HEAD"),
          ...(await times(3, () => site.visit("/not-there", from("203.0.113.2")))),
          await site.visit("/not-there", from("203.0.113.2")),
        ];
        expect(statuses(replies)).toEqual([404, 404, 404, 404, 404, 429]);
      });

      test("of one IPv6 network are one address's; IPv4 in IPv6 is IPv4", async () => {
        expect(await guess("2001:db8:1:1::1", 3)).toEqual([404, 404, 404]);
        expect(await guess("2001:db8:1:1:ffff::2", 3)).toEqual([404, 404, 429]);
        expect(await guess("2001:db8:1:2::1", 1)).toEqual([404]);
        expect(await guess("203.0.113.3", 3)).toEqual([404, 404, 404]);
        expect(await guess("::ffff:203.0.113.3", 3)).toEqual([404, 404, 429]);
      });

      test("of keys count as well; a key that works still works from there", async () => {
        const call = (key: string | null) => site.call("GET", "/api/tenant", { key, headers: from("203.0.113.4") });
        expect(statuses(await times(3, () => call(null)))).toEqual([401, 401, 401]);
        const replies: Reply[] = [];
        for (let i = 0; i < 7; i++) replies.push(await call(`ql_${"x".repeat(43)}`));
        expect(statuses(replies)).toEqual([401, 401, 401, 401, 401, 429, 429]);
        expect(replies.at(-1)?.json<ProblemBody>().code).toBe("too_many_guesses");
        expect(retryAfter(replies.at(-1) as Reply)).toBeGreaterThanOrEqual(1);
        expect(await guess("203.0.113.4", 1)).toEqual([429]);
        expect((await call(site.server.key)).status).toBe(200);
      });

      test("of what is no code at all are not counted", async () => {
        const replies = await times(10, (i) => site.visit(`/favicon-${i}.ico`, from("203.0.113.5")));
        expect(count(replies, 404)).toBe(10);
        expect(await guess("203.0.113.5", 1)).toEqual([404]);
      });
    });

    describe("usage", () => {
      test("shows every limit of the tenant, that of the key, and the links nearest to theirs", async () => {
        const { key } = await tenant("--api", "50", "--links", "10", "--storage", "1000", "--smtp-emails", "0");
        const made = await site.call("POST", "/api/keys", {
          key,
          body: { name: "own", scopes: ["usage:read", "links:write"], apiPerMinute: 30 },
        });
        const own = made.json<{ secret: string }>().secret;
        const codes: string[] = [];
        for (const hitsPerMonth of [null, 10, 40]) {
          const reply = await site.call("POST", "/api/links", { key: own, body: { url, hitsPerMonth } });
          codes.push(reply.json<LinkBody>().code);
        }
        for (const code of codes) for (let i = 0; i < 4; i++) await site.reach(`/${code}`);

        const body = await usage(own);
        const nextMonth = expect.stringMatching(/^\d{4}-\d\d-01T00:00:00.000Z$/);
        const soon = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
        const nothing = { state: "known", used: 0, held: 0, resetsAt: null };
        expect(body.limits).toEqual([
          { name: "apiPerMinute", state: "known", used: 5, held: 0, limit: 50, resetsAt: soon, spentAt: null },
          { name: "keyApiPerMinute", state: "known", used: 4, held: 0, limit: 30, resetsAt: soon, spentAt: null },
          {
            ...{ name: "linksPerMonth", state: "known", used: 3, held: 0, limit: 10, resetsAt: nextMonth },
            spentAt: body.limits[2]?.spentAt ?? null,
          },
          { ...nothing, name: "storageBytes", limit: 1000, spentAt: null },
          { ...nothing, name: "emailsPerHourSmtp", limit: 0, spentAt: soon },
          { ...nothing, name: "emailsPerHourSendgrid", limit: null, spentAt: null },
        ]);
        expect(body.hitsPerLinkPerMonth.map(({ code, limit }) => [code, limit])).toEqual([
          [codes[1], 10],
          [codes[2], 40],
        ]);
        for (const { used, held } of body.hitsPerLinkPerMonth) {
          expect(Number(used) + Number(held)).toBeGreaterThanOrEqual(4);
        }
      });

      test("needs its scope, and shows nothing of others", async () => {
        const { slug, key } = await tenant();
        const secret = must(await site.cli("key", "create", "r", "--tenant", slug, "--scopes", "links:read")).trim();
        expect((await site.call("GET", "/api/usage", { key: secret })).status).toBe(403);
        expect((await usage(key)).hitsPerLinkPerMonth).toEqual([]);
        expect(await useOf(key, "linksPerMonth")).toMatchObject({ used: 0, limit: null, spentAt: null });
        expect(await useOf(key, "apiPerMinute")).toMatchObject({ state: "not_counted", used: null, limit: null });
      });

      test("is printed on the command line, which says what only the server knows", async () => {
        const { slug, key } = await tenant("--api", "50", "--links", "3");
        for (let i = 0; i < 3; i++) await site.call("POST", "/api/links", { key, body: { url } });
        const lines = must(await site.cli("usage", "--tenant", slug))
          .trimEnd()
          .split("\n")
          .map((line) => line.split("\t"));
        expect(lines[0]).toEqual(["apiPerMinute", "-", "-", "-", "50", "in_server", "-", "-"]);
        expect(lines[1]?.slice(0, 6)).toEqual(["linksPerMonth", "-", "3", "0", "3", "known"]);
        const body = JSON.parse(must(await site.cli("usage", "--tenant", slug, "--json"))) as UsageBody;
        expect(body.limits.map(({ name }) => name)).toEqual([
          "apiPerMinute",
          "linksPerMonth",
          "storageBytes",
          "emailsPerHourSmtp",
          "emailsPerHourSendgrid",
        ]);
        expect(Date.parse(body.limits[1]?.spentAt ?? "")).toBeLessThanOrEqual(Date.now());
        expect((await site.cli("usage", "--tenant", "nobody")).code).toBe(1);
      });
    });
  });
}

describe("without any setting", () => {
  let site: Site;

  beforeAll(async () => {
    site = await startSite("SQLite", { QL_GUESSES_PER_MINUTE: "" });
  });

  afterAll(async () => {
    expect(await site.server.stop()).toBe(0);
  });

  test("an address may guess 100 times a minute, and that can be watched", async () => {
    const replies = await times(130, (i) => site.visit(`/guess-${i}`));
    expect([count(replies, 404), count(replies, 429)]).toEqual([100, 30]);
    const { text } = await site.visit("/metrics");
    expect(text).toContain('quicklink_redirects_total{outcome="guessing"} 30');
    expect(text).toContain("quicklink_guessers 1");
  });

  test("an unlisted proxy on this machine is not mistaken for a guesser", async () => {
    const replies = await times(130, (i) => site.visit(`/guess-${i}`, { "x-forwarded-for": "203.0.113.9" }));
    expect(count(replies, 404)).toBe(130);
  });
});
