import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  databases,
  type LinkBody,
  metric,
  type ProblemBody,
  query,
  type Reply,
  type Site,
  startSite,
} from "./servers.ts";

const https = "https://example.com/secret";
const password = "correct horse ü";

for (const database of databases) {
  describe(`on ${database}`, () => {
    let site: Site;
    let addresses = 0;

    beforeAll(async () => {
      site = await startSite(database, { QL_TRUSTED_PROXIES: "127.0.0.1" });
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    const protectAtFullCost = (more: Record<string, unknown> = {}) => site.create({ url: https, password, ...more });
    /** With a hash that takes no time to check: some tests check dozens. */
    const protect = async (more: Record<string, unknown> = {}) => {
      const link = await protectAtFullCost(more);
      const hash = await Bun.password.hash(password, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
      await query(site.env, `update links set password_hash = '${hash}' where id = '${link.id}'`);
      return link;
    };
    /** Of a new visitor. */
    const somebody = () => ({ "x-forwarded-for": `198.51.${addresses >> 8}.${addresses++ & 255}` });
    const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0";

    const knock = (path: string, given: string, headers: Record<string, string> = somebody()): Promise<Reply> =>
      site.call("POST", path, {
        key: null,
        text: new URLSearchParams({ password: given }).toString(),
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          "user-agent": browser,
          accept: "text/html",
          ...headers,
        },
      });
    const passOf = ({ headers }: Reply) => headers.get("set-cookie")?.split(";")[0] ?? "";
    const outcomes = async (outcome: string) =>
      metric((await site.visit("/metrics")).text, `quicklink_redirects_total{outcome="${outcome}"}`);

    test("a link with a password asks for it on a page without scripts, and tells nothing", async () => {
      const link = await protect({ title: "hidden title" });
      for (const path of [`/${link.code}`, `/${link.code}+`, `/${link.code}?a=1`]) {
        const reply = await site.reach(path);
        expect(reply.status).toBe(401);
        expect(reply.text).toContain('<form method="post">');
        expect(reply.text + [...reply.headers].join()).not.toMatch(/example\.com|hidden title|<script/);
        expect(reply.headers.get("content-security-policy")).toStartWith("default-src 'none'; style-src");
      }
      expect((await site.reach(`/${link.code}`, {}, "HEAD")).status).toBe(401);
      const json = await site.reach(`/${link.code}`, { accept: "application/json" });
      expect([json.status, json.json<{ code: string }>().code]).toEqual([401, "password_required"]);
    });

    test("the right one leads on, is counted once, and is not asked for again", async () => {
      const link = await protectAtFullCost();
      await site.reach(`/${link.code}`);
      const before = await outcomes("counted");
      const reply = await knock(`/${link.code}`, password);
      expect([reply.status, reply.headers.get("location")]).toEqual([303, https]);
      expect(reply.headers.get("cache-control")).toBe("private, no-store");
      expect((await outcomes("counted")) - before).toBe(1);
      const again = await site.reach(`/${link.code}`, { cookie: passOf(reply) });
      expect([again.status, again.headers.get("location")]).toEqual([302, https]);
      expect((await outcomes("counted")) - before).toBe(2);
      expect((await site.reach(`/${link.code}+`, { cookie: passOf(reply) })).status).toBe(401);
    });

    test("a wrong one is refused with the form again, and gives no pass", async () => {
      const link = await protect();
      for (const wrong of ["Correct horse ü", "", " ", "x".repeat(300), password.slice(0, -1)]) {
        const reply = await knock(`/${link.code}`, wrong);
        expect([reply.status, reply.headers.get("set-cookie"), reply.headers.get("location")]).toEqual([
          403,
          null,
          null,
        ]);
        expect(reply.text).toContain('role="alert"');
        expect(reply.text).toContain('<form method="post">');
        expect(reply.text).not.toContain("example.com");
      }
    });

    test("a pass that was changed, or is of another link, opens nothing", async () => {
      const [one, other] = [await protect(), await protect()];
      const pass = passOf(await knock(`/${one.code}`, password));
      expect((await site.reach(`/${other.code}`, { cookie: pass })).status).toBe(401);
      const later = pass.replace(/=(\d+)/, (_, until) => `=${Number(until) + 1}`);
      const forged = [later, `${pass.slice(0, -4)}AAAA`, pass.replace(/\..*/, ""), `${pass}x.y`];
      for (const cookie of forged) expect((await site.reach(`/${one.code}`, { cookie })).status).toBe(401);
      expect((await site.reach(`/${one.code}`, { cookie: pass })).status).toBe(302);
    });

    test("a pass ends when the link is changed, and the new password opens it", async () => {
      const link = await protect();
      const path = `/api/links/${link.id}`;
      const pass = passOf(await knock(`/${link.code}`, password));
      const changed = (await site.call("PATCH", path, { body: { password: "another one" } })).json<LinkBody>();
      expect([changed.password, changed.version]).toEqual([true, 2]);
      expect((await site.reach(`/${link.code}`, { cookie: pass })).status).toBe(401);
      expect((await knock(`/${link.code}`, password)).status).toBe(403);
      expect((await knock(`/${link.code}`, "another one")).status).toBe(303);
    });

    test("a password stays when something else is changed or replaced, and goes when it is taken away", async () => {
      const link = await protect();
      const path = `/api/links/${link.id}`;
      expect(link.password).toBe(true);
      expect((await site.call("PATCH", path, { body: { title: "x" } })).json<LinkBody>().password).toBe(true);
      expect((await site.call("PUT", path, { body: { url: https } })).json<LinkBody>().password).toBe(true);
      expect((await knock(`/${link.code}`, password)).status).toBe(303);
      expect((await site.call("PATCH", path, { body: { password: null } })).json<LinkBody>().password).toBe(false);
      expect((await site.reach(`/${link.code}`)).status).toBe(302);
      expect((await knock(`/${link.code}`, password)).status).toBe(405);
    });

    test("its hash is argon2id in the database, and neither it nor the password is anywhere else", async () => {
      const link = await protectAtFullCost();
      const [row] = (await query(site.env, `select password_hash from links where id = '${link.id}'`)) as {
        password_hash: string;
      }[];
      expect(row?.password_hash).toStartWith("$argon2id$");
      await knock(`/${link.code}`, password);
      const shown = [
        JSON.stringify(link),
        (await site.call("GET", `/api/links/${link.id}`)).text,
        (await site.call("GET", "/api/links")).text,
        (await site.cli("link", "get", link.code, "--json")).stdout,
        site.server.output(),
      ].join("\n");
      expect(shown).not.toContain("argon2");
      expect(shown).not.toContain(password);
    });

    test("a form on another page, and what is no form of ours, is not looked at", async () => {
      const link = await protect();
      const foreign: Record<string, string>[] = [
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site" },
        { origin: "https://evil.example" },
        { origin: "null" },
      ];
      for (const headers of foreign) {
        expect((await knock(`/${link.code}`, password, headers)).status).toBe(403);
      }
      const ours: Record<string, string>[] = [{ "sec-fetch-site": "same-origin" }, { origin: site.server.url }];
      for (const headers of ours) expect((await knock(`/${link.code}`, password, headers)).status).toBe(303);
      expect((await knock(`/${link.code}`, "x".repeat(2_000))).status).toBe(403);
      const json = { key: null, body: { password } };
      expect((await site.call("POST", `/${link.code}`, json)).status).toBe(403);
      expect((await site.call("POST", `/${link.code}`, { key: null })).status).toBe(403);
      expect(await outcomes("not_ours")).toBeGreaterThanOrEqual(7);
    });

    test("POST is for links with a password only", async () => {
      const plain = await site.create({ url: https });
      expect((await knock(`/${plain.code}`, password)).status).toBe(405);
      expect((await knock("/no-such-link", password)).status).toBe(404);
      expect((await knock("/healthz", password)).status).toBe(405);
    });

    test("an address may try ten times, then waits, even with the right one; others, and a password session, are not affected", async () => {
      const link = await protect();
      const pass = passOf(await knock(`/${link.code}`, password));
      const guesser = { "x-forwarded-for": "203.0.113.5" };
      const statuses: number[] = [];
      for (let i = 0; i < 11; i++) statuses.push((await knock(`/${link.code}`, `guess ${i}`, guesser)).status);
      expect(statuses).toEqual([...new Array(10).fill(403), 429]);
      const denied = await knock(`/${link.code}`, password, guesser);
      expect([denied.status, denied.headers.get("set-cookie")]).toEqual([429, null]);
      expect(Number(denied.headers.get("retry-after"))).toBeWithin(1, 917);
      expect((await knock(`/${link.code}`, password)).status).toBe(303);
      expect((await site.reach(`/${link.code}`, { ...guesser, cookie: pass })).status).toBe(302);
    });

    test("right ones do not count: all users behind one address get in", async () => {
      const link = await protect();
      const office = { "x-forwarded-for": "203.0.113.6" };
      for (let i = 0; i < 12; i++) expect((await knock(`/${link.code}`, password, office)).status).toBe(303);
    }, 60_000);

    test("a link accepts fifty wrong ones in an hour; then password sessions and the networks that got in that day still work, and others see when to retry", async () => {
      const link = await protect();
      const [friend, stranger] = [somebody(), somebody()];
      const pass = passOf(await knock(`/${link.code}`, password, friend));
      // On a busy machine a check may find no room, which is a 503 and spends nothing.
      const guess = async () => {
        for (;;) {
          const { status } = await knock(`/${link.code}`, "a guess");
          if (status !== 503) return status;
        }
      };
      const statuses: number[] = [];
      for (let i = 0; i < 6; i++) statuses.push(...(await Promise.all(Array.from({ length: 10 }, guess))));
      expect(statuses).toEqual([...new Array(50).fill(403), ...new Array(10).fill(429)]);

      const waiting = await knock(`/${link.code}`, password, stranger);
      expect([waiting.status, waiting.headers.get("set-cookie")]).toEqual([429, null]);
      expect(Number(waiting.headers.get("retry-after"))).toBeWithin(3_000, 3_662);
      expect(waiting.text).toMatch(/Try again in (5\d|6[0-2]) minutes\./);
      const json = await knock(`/${link.code}`, password, { ...stranger, accept: "application/json" });
      expect(json.json<ProblemBody>()).toMatchObject({
        code: "too_many_attempts",
        detail: expect.stringContaining("Try again in"),
      });

      expect((await site.reach(`/${link.code}`, { ...stranger, cookie: pass })).status).toBe(302);
      const own: number[] = [];
      for (let i = 0; i < 9; i++) own.push((await knock(`/${link.code}`, "a guess", friend)).status);
      own.push((await knock(`/${link.code}`, password, friend)).status);
      own.push((await knock(`/${link.code}`, "a guess", friend)).status);
      own.push((await knock(`/${link.code}`, password, friend)).status);
      expect(own).toEqual([...new Array(9).fill(403), 303, 403, 429]);
    }, 120_000);

    test("a new password has eight characters or six digits, and one that is set already works as it is", async () => {
      const link = await protect();
      const change = (given: string) => site.call("PATCH", `/api/links/${link.id}`, { body: { password: given } });
      for (const short of ["", "1234", "12345", "seven77", "12345 6", "１２３４５６", "🙂🙂🙂🙂"]) {
        const made = await site.call("POST", "/api/links", { body: { url: https, password: short } });
        for (const reply of [made, await change(short)]) {
          expect([short, reply.status]).toEqual([short, 422]);
          expect(reply.json<ProblemBody>().errors).toEqual([
            {
              field: "password",
              code: "too_short",
              message: "Must have at least 8 characters, or at least 6 if all are digits.",
            },
          ]);
        }
      }
      for (const good of ["123456", "1234567", "12345678", "eight888", "🙂🙂🙂🙂🙂🙂🙂🙂"]) {
        expect([good, (await change(good)).status]).toEqual([good, 200]);
        expect((await knock(`/${link.code}`, good)).status).toBe(303);
      }
      const hash = await Bun.password.hash("1234", { algorithm: "argon2id", memoryCost: 1_024, timeCost: 1 });
      await query(site.env, `update links set password_hash = '${hash}' where id = '${link.id}'`);
      expect((await knock(`/${link.code}`, "1234")).status).toBe(303);
      expect((await site.call("PATCH", `/api/links/${link.id}`, { body: { title: "x" } })).status).toBe(200);
      expect((await knock(`/${link.code}`, "1234")).status).toBe(303);
    }, 60_000);

    test("a flood of passwords is bounded: most are refused, redirects keep working, and the right one gets in afterwards", async () => {
      const [link, plain] = [await protectAtFullCost(), await site.create({ url: https })];
      const [first] = await Promise.all([site.reach(`/${plain.code}`), site.reach(`/${link.code}`)]);
      expect(first.status).toBe(302);
      let done = false;
      const flood = Promise.all(Array.from({ length: 45 }, () => knock(`/${link.code}`, "wrong"))).finally(() => {
        done = true;
      });
      let redirects = 0;
      while (!done) {
        expect((await site.visit(`/${plain.code}`)).status).toBe(302);
        redirects++;
      }
      const statuses = (await flood).map(({ status }) => status);
      const count = (status: number) => statuses.filter((one) => one === status).length;
      expect(count(403) + count(503)).toBe(45);
      expect(count(503)).toBeGreaterThan(0);
      // Each of those that were checked took a turn of two at once; a redirect takes none.
      expect(redirects).toBeGreaterThan(count(403));
      expect((await knock(`/${link.code}`, password)).status).toBe(303);
    }, 120_000);

    test("many links at once have no passwords", async () => {
      const links = [{ url: https, password }, { url: https }];
      const reply = await site.call("POST", "/api/links/bulk", { body: { links } });
      expect(reply.json<object>()).toMatchObject({
        created: 1,
        results: [{ problem: { errors: [{ field: "password", code: "not_in_bulk" }] } }, { link: { password: false } }],
      });
    });
  });
}
