import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { databases, type LinkBody, type ProblemBody, query, type Site, startSite } from "./servers.ts";

type Bulk = { created: number; failed: number; results: { index: number; link?: LinkBody; problem?: ProblemBody }[] };

for (const database of databases) {
  describe(`bulk requests on ${database}`, () => {
    let site: Site;

    beforeAll(async () => {
      site = await startSite(database);
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    const url = "https://example.com/bulk";
    const send = (body: unknown, key?: string) =>
      site.call("POST", "/api/links/bulk", { body, ...(key === undefined ? {} : { key }) });

    async function used(key: string): Promise<number | undefined> {
      type Usage = { limits: { name: string; used: number }[] };
      const { limits } = (await site.call("GET", "/api/usage", { key })).json<Usage>();
      return limits.find(({ name }) => name === "linksPerMonth")?.used;
    }

    test("every result says which element it is about, and a code that occurs twice goes to the first", async () => {
      const code = `Twice-${database}`;
      const elements = Array.from({ length: 250 }, (_, n) => ({
        url,
        ...(n === 3 || n === 7 || n === 220 ? { code } : {}),
      }));
      const { created, failed, results } = (await send({ links: elements })).json<Bulk>();
      expect([created, failed]).toEqual([248, 2]);
      expect(results.map(({ index }) => index)).toEqual(elements.map((_, n) => n));
      expect(results[3]?.link?.code).toBe(code);
      for (const place of [7, 220]) {
        expect(results[place]?.problem).toMatchObject({
          code: "code_taken",
          errors: [{ field: "code", code: "duplicate" }],
        });
      }
    });

    test("the second of two with one code is made when the first cannot be", async () => {
      const code = `Second-${database}`;
      const { results } = (
        await send({
          links: [
            { url: "nowhere", code },
            { url, code },
          ],
        })
      ).json<Bulk>();
      expect(results[1]?.link?.code).toBe(code);
    });

    test("all or nothing: a thousand good ones are made, and lead on at once", async () => {
      const links = Array.from({ length: 1_000 }, (_, n) => ({ url: `${url}/${n}` }));
      const { created, results } = (await send({ links, atomic: true })).json<Bulk>();
      expect(created).toBe(1_000);
      expect(new Set(results.map(({ link }) => link?.code)).size).toBe(1_000);
      expect((await site.reach(`/${results[999]?.link?.code}`)).headers.get("location")).toBe(`${url}/999`);
    });

    test("all or nothing: one bad element, whatever is wrong with it, and nothing is made or spent", async () => {
      const key = await site.tenant(`atomic-${database.toLowerCase()}`, "default");
      const { code } = await site.create({ url });
      const before = await site.rows();
      for (const [element, field, fieldCode] of [
        [{ url: "nowhere" }, "links.1.url", "not_a_url"],
        [{ url: 4 }, "links.1.url", "wrong_type"],
        [{ url, nope: 1 }, "links.1.nope", "unknown_field"],
        ["five", "links.1", "wrong_type"],
        [{ url, code }, "links.1.code", "taken"],
        [{ url, code: "api" }, "links.1.code", "reserved"],
        [{ url, code: "zero" }, "links.1.code", "duplicate"],
      ] as const) {
        const reply = await send({ links: [{ url, code: "zero" }, element, { url }], atomic: true }, key);
        const problem = reply.json<ProblemBody>();
        expect([reply.status, problem.code, problem.errors]).toMatchObject([
          422,
          "bulk_refused",
          [{ field, code: fieldCode }],
        ]);
      }
      expect(await site.rows()).toEqual(before);
      expect(await used(key)).toBe(0);
      expect((await send({ links: [{ url }, { url }], atomic: true }, key)).status).toBe(200);
      expect(await used(key)).toBe(2);
    });

    test("all or nothing: more than the month has left creates none, and says until when", async () => {
      const key = await site.tenant(`month-${database.toLowerCase()}`, "default");
      const some = (count: number) => Array.from({ length: count }, () => ({ url }));
      expect((await send({ links: some(999), atomic: true }, key)).status).toBe(200);
      const reply = await send({ links: some(2), atomic: true }, key);
      expect([reply.status, reply.json<ProblemBody>().code]).toEqual([429, "limit_reached"]);
      expect(Number(reply.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await used(key)).toBe(999);
      expect((await send({ links: some(1), atomic: true }, key)).status).toBe(200);
    });

    test("none, more than a thousand, and what is no list are refused whole", async () => {
      for (const [body, code] of [
        [{ links: [] }, "too_few"],
        [{ links: Array.from({ length: 1_001 }, () => ({ url })) }, "too_many"],
        [{ links: "many" }, "wrong_type"],
        [{ links: [{ url }], atomic: "yes" }, "wrong_type"],
        [{}, "required"],
      ] as const) {
        const reply = await send(body);
        expect([reply.status, reply.json<ProblemBody>().errors?.[0]?.code]).toEqual([422, code]);
      }
    });

    test("all or nothing with an Idempotency-Key is found again after a crash, and all of it", async () => {
      const body = { links: Array.from({ length: 150 }, (_, n) => ({ url: `${url}/${n}` })), atomic: true };
      const headers = { "idempotency-key": crypto.randomUUID() };
      const first = await site.call("POST", "/api/links/bulk", { body, headers });
      await query(site.env, "update idempotency set state = 'running', answer = null, claimed_until = 0 returning 1");
      const before = await site.rows();
      const second = await site.call("POST", "/api/links/bulk", { body, headers });
      expect(second.text).toBe(first.text);
      expect(await site.rows()).toEqual(before);
    });
  });
}
