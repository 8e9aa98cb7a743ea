import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../ground/process.ts";
import {
  createExpired,
  databases,
  type LinkBody,
  must,
  type ProblemBody,
  type Site,
  startSite,
  withSoon,
} from "./servers.ts";

const yearMs = 365 * 86_400_000;
const json = { accept: "application/json" };

for (const database of databases) {
  describe(`on ${database}`, () => {
    let site: Site;

    beforeAll(async () => {
      site = await startSite(database);
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    const patch = (link: LinkBody, fields: Record<string, unknown>, headers: Record<string, string> = {}) =>
      site.call("PATCH", `/api/links/${link.id}`, { body: fields, headers });

    const expired = (fields: Record<string, unknown>) => createExpired(site, fields);

    test("a new link is answered whole, with the defaults of what was not given", async () => {
      const reply = await site.call("POST", "/api/links", { body: { url: "https://example.com/a page?q=ü" } });
      expect(reply.status).toBe(201);
      const link = reply.json<LinkBody>();
      expect(link).toEqual({
        id: expect.stringMatching(/^lnk_[0-9a-z]{26}$/),
        domain: `localhost:${site.server.port}`,
        code: expect.stringMatching(/^[0-9A-Za-z]{7}$/),
        shortUrl: `http://localhost:${site.server.port}/${link.code}`,
        url: "https://example.com/a%20page?q=%C3%BC",
        file: null,
        fileName: null,
        permanent: false,
        status: "active",
        expiresAt: expect.any(String),
        title: null,
        notes: null,
        tags: [],
        fallbackUrl: null,
        hitsPerMonth: null,
        clickFacts: true,
        rules: [],
        split: [],
        utm: null,
        forwardQuery: false,
        password: false,
        target: null,
        suspended: null,
        clicks: 0,
        lastClickAt: null,
        hitsUsed: 0,
        hitsLimit: null,
        version: 1,
        createdAt: expect.any(String),
        updatedAt: link.createdAt,
      });
      expect(Math.abs(Date.parse(String(link.expiresAt)) - Date.parse(link.createdAt) - yearMs)).toBeLessThan(5_000);
      expect(Math.abs(Date.parse(link.createdAt) - Date.now())).toBeLessThan(30_000);
      expect(reply.headers.get("content-type")).toStartWith("application/json");
      expect(reply.headers.get("etag")).toBe('"1"');
      expect(reply.headers.get("location")).toBe(`/api/links/${link.id}`);
    });

    test("a new link has every field that was given", async () => {
      const given = {
        url: "https://example.com/all",
        code: `All_fields-${database}`,
        permanent: true,
        status: "disabled",
        expiresAt: "2099-12-31T23:59:59.000Z",
        title: "Tïtle 🚀",
        notes: "one\n\ttwo",
        tags: ["b", "a", "ü"],
        fallbackUrl: "https://example.com/over",
        hitsPerMonth: 77,
        clickFacts: false,
      };
      const link = await site.create(given);
      expect(link).toMatchObject(given);
      const read = await site.call("GET", `/api/links/${link.id}`);
      expect(read.json<LinkBody>()).toEqual(link);
      expect(read.headers.get("etag")).toBe('"1"');
    });

    test("an expiry in another time zone is answered in UTC, and null is never", async () => {
      const shifted = await site.create({ url: "https://example.com", expiresAt: "2099-06-01T02:00:00+02:00" });
      expect(shifted.expiresAt).toBe("2099-06-01T00:00:00.000Z");
      const endless = await site.create({ url: "https://example.com", expiresAt: null });
      expect(endless.expiresAt).toBeNull();
      expect((await site.reach(`/${endless.code}`)).status).toBe(302);
    });

    test("pages show every link once, newest first, also when one is made meanwhile; an exactly full one is the last", async () => {
      const key = await site.tenant("pages");
      const make = async (n: number) =>
        (await site.call("POST", "/api/links", { key, body: { url: `https://example.com/${n}` } })).json<LinkBody>();
      const page = async (cursor: string | null) => {
        const reply = await site.call("GET", `/api/links?limit=2${cursor === null ? "" : `&cursor=${cursor}`}`, {
          key,
        });
        return reply.json<{ items: LinkBody[]; nextCursor: string | null }>();
      };
      const empty = await site.call("GET", "/api/links", { key });
      expect(empty.json<unknown>()).toEqual({ items: [], nextCursor: null });
      const made: LinkBody[] = [];
      for (let n = 0; n < 5; n++) made.push(await make(n));

      const seen: LinkBody[] = [];
      const sizes: number[] = [];
      let cursor: string | null = null;
      do {
        const { items, nextCursor } = await page(cursor);
        sizes.push(items.length);
        seen.push(...items);
        cursor = nextCursor;
        if (sizes.length === 1) await make(99);
      } while (cursor !== null);
      expect(sizes).toEqual([2, 2, 1]);
      expect(seen.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(made.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
      const born = seen.map((link) => link.createdAt);
      expect(born).toEqual(born.toSorted().reverse());
      const full = await site.call("GET", "/api/links?limit=6", { key });
      expect(full.json<{ items: unknown[] }>()).toMatchObject({ items: { length: 6 }, nextCursor: null });
    });

    test("PATCH changes what is given and leaves the rest", async () => {
      const before = await site.create({
        url: "https://example.com/1",
        title: "keep",
        tags: ["keep"],
        hitsPerMonth: 5,
        clickFacts: false,
      });
      const reply = await patch(before, { url: "https://example.com/2", hitsPerMonth: null });
      expect(reply.status).toBe(200);
      expect(reply.headers.get("etag")).toBe('"2"');
      const after = reply.json<LinkBody>();
      expect(after).toEqual({
        ...before,
        url: "https://example.com/2",
        hitsPerMonth: null,
        hitsLimit: null,
        version: 2,
        updatedAt: after.updatedAt,
      });
      expect(Date.parse(after.updatedAt)).toBeGreaterThanOrEqual(Date.parse(before.updatedAt));
      expect((await site.call("GET", `/api/links/${before.id}`)).json<LinkBody>()).toEqual(after);
    });

    test("PUT sets all fields: those not given go back to their defaults", async () => {
      const before = await site.create({
        url: "https://example.com/1",
        permanent: true,
        status: "disabled",
        expiresAt: null,
        title: "t",
        notes: "n",
        tags: ["x"],
        fallbackUrl: "https://example.com/f",
        hitsPerMonth: 5,
        clickFacts: false,
      });
      const reply = await site.call("PUT", `/api/links/${before.id}`, { body: { url: "https://example.com/2" } });
      expect(reply.status).toBe(200);
      const after = reply.json<LinkBody>();
      expect(after).toEqual({
        ...before,
        url: "https://example.com/2",
        permanent: false,
        status: "active",
        expiresAt: expect.any(String),
        title: null,
        notes: null,
        tags: [],
        fallbackUrl: null,
        hitsPerMonth: null,
        hitsLimit: null,
        clickFacts: true,
        version: 2,
        updatedAt: after.updatedAt,
      });
      expect(Math.abs(Date.parse(String(after.expiresAt)) - Date.now() - yearMs)).toBeLessThan(30_000);
    });

    test("an edit with the version that was seen goes in, and with an older one does not", async () => {
      const link = await site.create({ url: "https://example.com/1" });
      const first = await patch(link, { title: "mine" }, { "if-match": '"1"' });
      expect([first.status, first.headers.get("etag")]).toEqual([200, '"2"']);

      for (const [method, body] of [
        ["PATCH", { title: "late" }],
        ["PUT", { url: "https://example.com/late" }],
        ["DELETE", undefined],
      ] as const) {
        const late = await site.call(method, `/api/links/${link.id}`, { body, headers: { "if-match": '"1"' } });
        expect(late.status).toBe(412);
        expect(late.json<ProblemBody>().code).toBe("version_conflict");
      }
      const kept = await site.call("GET", `/api/links/${link.id}`);
      expect(kept.json<LinkBody>()).toEqual(first.json<LinkBody>());
      expect((await patch(link, { title: "whatever" }, { "if-match": "*" })).status).toBe(200);
    });

    test("of many edits with the same version exactly one goes in", async () => {
      const link = await site.create({ url: "https://example.com" });
      const edits = Array.from({ length: 8 }, (_, n) => patch(link, { title: `edit ${n}` }, { "if-match": '"1"' }));
      const statuses = (await Promise.all(edits)).map((reply) => reply.status).sort();
      expect(statuses).toEqual([200, ...Array.from({ length: 7 }, () => 412)]);
    });

    test("edits without a version all succeed, each with a new version", async () => {
      const link = await site.create({ url: "https://example.com" });
      const edits = Array.from({ length: 8 }, (_, n) => patch(link, { title: `edit ${n}` }));
      const versions = (await Promise.all(edits)).map((reply) => reply.json<LinkBody>().version);
      expect(versions.toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    });

    test("a deleted link is gone for all, and its code is kept for its owner, with a growing version", async () => {
      const code = `Deleted-${database}`;
      const link = await site.create({ url: "https://example.com/1", code });
      expect((await site.reach(`/${code}`)).status).toBe(302);

      const reply = await site.call("DELETE", `/api/links/${link.id}`);
      expect([reply.status, reply.text]).toEqual([204, ""]);
      expect((await site.reach(`/${code}`)).status).toBe(404);
      for (const method of ["GET", "DELETE"]) {
        expect((await site.call(method, `/api/links/${link.id}`)).status).toBe(404);
      }
      expect((await patch(link, { title: "x" })).status).toBe(404);

      const stranger = await site.call("POST", "/api/links", {
        key: await site.tenant("stranger"),
        body: { url: "https://evil.example", code },
      });
      expect([stranger.status, stranger.json<ProblemBody>().code]).toEqual([409, "code_taken"]);
      expect((await site.call("DELETE", `/api/trash/${link.id}`)).status).toBe(204);
      const again = await site.create({ url: "https://example.com/2", code });
      expect(again.version).toBe(4);
      expect((await site.reach(`/${code}`)).headers.get("location")).toBe("https://example.com/2");
    });

    test("a link leads on with 302, and nothing that keeps a browser from asking again", async () => {
      const link = await site.create({ url: "https://example.com/there?a=1#b" });
      for (const path of [`/${link.code}`, `/${link.code}?utm_source=x`]) {
        const reply = await site.reach(path);
        expect([reply.status, reply.headers.get("location"), reply.text]).toEqual([302, link.url, ""]);
        expect(reply.headers.get("cache-control") ?? "").not.toContain("max-age");
      }
    });

    test("a permanent link leads on with 301, which browsers keep for 90 seconds", async () => {
      const link = await site.create({ url: "https://example.com/there", permanent: true });
      const reply = await site.reach(`/${link.code}`);
      expect([reply.status, reply.headers.get("location")]).toEqual([301, "https://example.com/there"]);
      expect(reply.headers.get("cache-control")).toBe("private, max-age=90");
    });

    test("HEAD answers as GET does, without a body", async () => {
      const link = await site.create({ url: "https://example.com/there", permanent: true });
      const head = await site.reach(`/${link.code}`, {}, "HEAD");
      expect([head.status, head.headers.get("location"), head.text]).toEqual([301, "https://example.com/there", ""]);
      expect(head.headers.get("cache-control")).toBe("private, max-age=90");
      const missing = await site.reach("/no-such-link", {}, "HEAD");
      expect([missing.status, missing.text]).toEqual([404, ""]);
    });

    test("methods other than GET and HEAD are refused, and the answer names those that are accepted", async () => {
      const link = await site.create({ url: "https://example.com/there" });
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        const reply = await site.reach(`/${link.code}`, {}, method);
        expect([reply.status, reply.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
        expect(reply.json<ProblemBody>().code).toBe("method_not_allowed");
      }
    });

    test("missing and disabled links are answered alike: a page for people, a problem for programs", async () => {
      const disabled = await site.create({ url: "https://example.com", status: "disabled" });
      const pages = await Promise.all(["no-such-link", disabled.code].map((code) => site.reach(`/${code}`)));
      for (const page of pages) {
        expect(page.status).toBe(404);
        expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
        expect(page.text).toContain("<h1>This link does not exist</h1>");
        expect(page.text).toBe(String(pages[0]?.text));
      }
      const problems = await Promise.all(["no-such-link", disabled.code].map((code) => site.reach(`/${code}`, json)));
      for (const problem of problems) {
        expect(problem.status).toBe(404);
        expect(problem.headers.get("content-type")).toBe("application/problem+json");
        expect(problem.json<ProblemBody>()).toMatchObject({ status: 404, code: "not_found" });
        expect(problem.text).toBe(String(problems[0]?.text));
      }
    });

    test("a link that expires while it is in memory stops with 410, as a page and as a problem", async () => {
      const link = await withSoon(async (expiresAt) => {
        const made = await site.call("POST", "/api/links", { body: { url: "https://example.com", expiresAt } });
        if (made.status === 422) return undefined;
        const body = made.json<LinkBody>();
        const { status } = await site.reach(`/${body.code}`);
        if (status === 410 && Date.now() >= Date.parse(expiresAt)) return undefined;
        expect(status).toBe(302);
        return body;
      });
      const gone = await until("410", async () => {
        const reply = await site.reach(`/${link.code}`);
        return reply.status === 302 ? undefined : reply;
      });
      expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(String(link.expiresAt)));
      expect([gone.status, gone.headers.get("location")]).toEqual([410, null]);
      expect(gone.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(gone.text).toContain("<h1>This link has expired</h1>");
      const problem = await site.reach(`/${link.code}`, json);
      expect([problem.status, problem.headers.get("content-type")]).toEqual([410, "application/problem+json"]);
      expect(problem.json<ProblemBody>().code).toBe("link_expired");
      expect((await site.reach(`/${link.code}+`)).status).toBe(410);
    });

    test("an expired link with a fallback leads there, temporarily", async () => {
      const link = await expired({
        url: "https://example.com",
        permanent: true,
        fallbackUrl: "https://example.org/new",
      });
      const reply = await site.reach(`/${link.code}`);
      expect([reply.status, reply.headers.get("location")]).toEqual([302, "https://example.org/new"]);
      const preview = await site.reach(`/${link.code}+`);
      expect([preview.status, preview.headers.get("location")]).toEqual([200, null]);
      expect(preview.text).toContain(
        'has expired. It now leads to</p>\n<p><a rel="noreferrer nofollow" href="https://example.org/new"',
      );
      expect(preview.text).toContain("Expired on");
      expect(preview.text).not.toContain("https://example.com");
    });

    test("an expired link with a password redirects to its fallback only after the password was given", async () => {
      const link = await expired({
        url: "https://example.com/secret",
        password: "correct horse battery",
        fallbackUrl: "https://example.org/also-secret",
      });
      for (const path of [`/${link.code}`, `/${link.code}+`]) {
        const reply = await site.reach(path);
        expect([path, reply.status, reply.headers.get("location")]).toEqual([path, 401, null]);
        expect(reply.text).not.toContain("secret");
      }
      const opened = await site.call("POST", `/${link.code}`, {
        key: null,
        text: new URLSearchParams({ password: "correct horse battery" }).toString(),
        headers: { "content-type": "application/x-www-form-urlencoded" },
      });
      expect([opened.status, opened.headers.get("location")]).toEqual([303, "https://example.org/also-secret"]);
    });

    test("an expired link works again once its expiry is moved", async () => {
      const link = await expired({ url: "https://example.com/back" });
      expect((await site.reach(`/${link.code}`)).status).toBe(410);
      await patch(link, { expiresAt: null });
      expect((await site.reach(`/${link.code}`)).headers.get("location")).toBe("https://example.com/back");
    });

    test("an expired link can still be edited otherwise", async () => {
      const link = await expired({ url: "https://example.com" });
      expect((await patch(link, { title: "too late" })).status).toBe(200);
    });

    test("every edit is seen by the very next visit", async () => {
      const link = await site.create({ url: "https://example.com/0" });
      for (let n = 1; n <= 20; n++) {
        expect((await patch(link, { url: `https://example.com/${n}` })).status).toBe(200);
        expect((await site.reach(`/${link.code}`)).headers.get("location")).toBe(`https://example.com/${n}`);
      }
      await patch(link, { status: "disabled" });
      expect((await site.reach(`/${link.code}`)).status).toBe(404);
      await patch(link, { status: "active", permanent: true });
      expect((await site.reach(`/${link.code}`)).status).toBe(301);
    });

    test("an unknown code that was visited works as soon as a link has it", async () => {
      const code = `Wanted-${database}`;
      expect((await site.reach(`/${code}`)).status).toBe(404);
      await site.create({ url: "https://example.com/taken", code });
      expect((await site.reach(`/${code}`)).headers.get("location")).toBe("https://example.com/taken");
    });

    test("an edit from the command line is seen by the running server", async () => {
      const link = await site.create({ url: "https://example.com" });
      expect((await site.reach(`/${link.code}`)).status).toBe(302);
      for (const [command, status] of [
        ["disable", 404],
        ["enable", 302],
        ["delete", 404],
      ] as const) {
        must(await site.cli("link", command, link.code));
        const seen = async () => (await site.reach(`/${link.code}`)).status === status || undefined;
        // Within three seconds, which `npm run prove -- coherence` measures.
        await until(`${command} to be seen`, seen);
      }
    });

    test("a link made on the command line works on the running server, also if it was asked for before", async () => {
      const code = `By-hand-${database}`;
      expect((await site.reach(`/${code}`)).status).toBe(404);
      const printed = must(await site.cli("link", "create", "https://example.com/by-hand", "--code", code)).trim();
      expect(printed).toBe(`http://localhost:${site.server.port}/${code}`);
      const reply = await until("the link", async () => {
        const answer = await site.reach(`/${code}`);
        return answer.status === 302 ? answer : undefined;
      });
      expect(reply.headers.get("location")).toBe("https://example.com/by-hand");
    });

    test("the preview shows where a link leads, harmlessly, instead of going there", async () => {
      const link = await site.create({ url: `https://example.com/?q="><script>alert('x')</script>&b=1` });
      const page = await site.reach(`/${link.code}+`);
      expect([page.status, page.headers.get("location")]).toEqual([200, null]);
      expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(page.text).not.toContain("<script");
      const href = /href="([^"]*)"/.exec(page.text)?.[1] ?? "";
      expect(href.replace(/&#(\d+);/g, (_, n) => String.fromCharCode(Number(n)))).toBe(String(link.url));
      expect((await site.reach("/no-such-link+")).status).toBe(404);
      expect((await site.reach(`/${link.code}++`)).status).toBe(404);
    });

    test("codes differ by case", async () => {
      const [upper, lower] = [`CASE-${database}`, `case-${database}`];
      await site.create({ url: "https://example.com/upper", code: upper });
      expect((await site.reach(`/${lower}`)).status).toBe(404);
      await site.create({ url: "https://example.com/lower", code: lower });
      expect((await site.reach(`/${upper}`)).headers.get("location")).toBe("https://example.com/upper");
      expect((await site.reach(`/${lower}`)).headers.get("location")).toBe("https://example.com/lower");
    });

    describe("many at once", () => {
      type Bulk = { created: number; failed: number; results: { link?: LinkBody; problem?: ProblemBody }[] };
      const bulk = async (links: unknown[]) => {
        const reply = await site.call("POST", "/api/links/bulk", { body: { links } });
        expect(reply.status).toBe(200);
        return reply.json<Bulk>();
      };

      test("the good ones are made and the bad ones explained, in the order they came", async () => {
        const slug = `Bulk-${database}`;
        const { created, failed, results } = await bulk([
          { url: "https://example.com/0", title: "first" },
          { url: "javascript:alert(1)" },
          { url: "https://example.com/2", code: slug },
          { url: "https://example.com/3", code: slug },
          { url: 4 },
          "five",
          null,
          { url: "https://example.com/7", code: "api" },
          { url: "https://example.com/8", nope: true },
          { url: "https://example.com/9", hitsPerMonth: 9, tags: ["nine"] },
        ]);
        expect([created, failed]).toEqual([3, 7]);
        const outline = results.map(({ link, problem }) =>
          link ? link.url : `${problem?.code} ${problem?.errors?.[0]?.field} ${problem?.errors?.[0]?.code}`,
        );
        expect(outline).toEqual([
          "https://example.com/0",
          "invalid_input url scheme_not_allowed",
          "https://example.com/2",
          "code_taken code duplicate",
          "invalid_input url wrong_type",
          "invalid_input  wrong_type",
          "invalid_input  wrong_type",
          "invalid_input code reserved",
          "invalid_input nope unknown_field",
          "https://example.com/9",
        ]);
        for (const { link } of results) {
          if (link === undefined) continue;
          expect((await site.call("GET", `/api/links/${link.id}`)).json<LinkBody>()).toEqual(link);
          expect((await site.reach(`/${link.code}`)).headers.get("location")).toBe(link.url);
        }
      });

      test("a thousand are made with a thousand codes, and are served at once", async () => {
        const { created, results } = await bulk(
          Array.from({ length: 1_000 }, (_, n) => ({ url: `https://example.com/${n}` })),
        );
        expect(created).toBe(1_000);
        expect(new Set(results.map(({ link }) => link?.code)).size).toBe(1_000);
        expect(results.map(({ link }) => link?.url)).toEqual(results.map((_, n) => `https://example.com/${n}`));
        const last = results.at(-1)?.link;
        expect((await site.reach(`/${last?.code}`)).headers.get("location")).toBe("https://example.com/999");
      });

      test("a code that was visited in vain works as soon as a bulk request takes it", async () => {
        const code = `Bulk-wanted-${database}`;
        expect((await site.reach(`/${code}`)).status).toBe(404);
        await bulk([{ url: "https://example.com/bulk", code }]);
        expect((await site.reach(`/${code}`)).status).toBe(302);
      });

      test("none and more than a thousand are refused", async () => {
        for (const [length, code] of [
          [0, "too_few"],
          [1_001, "too_many"],
        ] as const) {
          const links = Array.from({ length }, () => ({ url: "https://example.com" }));
          const reply = await site.call("POST", "/api/links/bulk", { body: { links } });
          expect(reply.status).toBe(422);
          expect(reply.json<ProblemBody>().errors?.[0]).toMatchObject({ field: "links", code });
        }
      });
    });
  });
}
