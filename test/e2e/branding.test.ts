import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { makePerson } from "../ground/people.ts";
import { type Names, startNames } from "./posts.ts";
import { databases, must, type ProblemBody, query, type Reply, type Site, startSite } from "./servers.ts";

type Branding = {
  name: string | null;
  colour: string | null;
  colours: { light: string; dark: string } | null;
  logo: { url: string; type: string } | null;
};

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9z"/></svg>');
const pageMost = 10_240;

for (const database of databases) {
  describe(`branding on ${database}`, () => {
    let site: Site;
    let names: Names;
    let foreignKey: string;
    const host = `brand-${database.toLowerCase()}.example.com`;

    beforeAll(async () => {
      names = await startNames();
      site = await startSite(database, { QL_DNS_SERVERS: names.address });
      foreignKey = await site.tenant("foreign");
      const claim = (await site.call("POST", "/api/domains", { body: { host } })).json<{
        proof: { txt: { name: string; value: string } };
      }>();
      names.published.set(claim.proof.txt.name, claim.proof.txt.value);
      expect((await site.call("POST", `/api/domains/${host}/verify`)).status).toBe(200);
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
      names.stop();
    });

    const change = (body: object) => site.call("PATCH", "/api/branding", { body });

    /** Everything that a page may load is allowed by its policy, and nothing runs. */
    function expectPage(reply: Reply, status: number, isBranded: boolean): void {
      expect(reply.status).toBe(status);
      expect(Buffer.byteLength(reply.text)).toBeLessThan(pageMost);
      const policy = reply.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain("unsafe");
      expect(reply.text).not.toContain("<script");
      for (const [, style = ""] of reply.text.matchAll(/<style>([\s\S]*?)<\/style>/g)) {
        expect(policy).toContain(new Bun.CryptoHasher("sha256").update(style).digest("base64"));
      }
      expect(reply.text.includes("&#60;Acme&#62;")).toBe(isBranded);
      expect(/<img src="\/brand\/[0-9a-f]{64}" alt="">/.test(reply.text)).toBe(isBranded);
      expect(reply.text.includes("--accent:#")).toBe(isBranded);
      expect(policy.includes("img-src 'self'")).toBe(isBranded);
    }

    test("every page for visitors has the look of the workspace, and pages of others do not", async () => {
      const url = "https://example.com/";
      const expired = await site.create({ url, code: "brand-expired" });
      const spent = await site.create({ url, code: "brand-spent", hitsPerMonth: 1 });
      const locked = await site.create({ url, code: "brand-locked", password: "correct horse" });
      const suspended = await site.create({ url, code: "brand-suspended" });
      must(await site.cli("link", "suspend", suspended.code, "--reason", "test"));
      // Not long ago: a link that expired a year ago is purged.
      await query(site.env, `update links set expires_at = ${Date.now() - 60_000} where id = '${expired.id}'`);
      await site.reach(`/${spent.code}`);
      const set = await change({ name: "<Acme>", colour: "#FFEE00", logo: png });
      expect(set.json<Branding>()).toMatchObject({
        ...{ name: "<Acme>", colour: "#ffee00", logo: { type: "image/png" } },
        colours: { dark: "#ffee00" },
      });
      expectPage(await site.reach(`/${expired.code}`), 410, true);
      expectPage(await site.reach(`/${spent.code}`), 429, true);
      expectPage(await site.reach(`/${locked.code}`), 401, true);
      expectPage(await site.reach(`/${suspended.code}`), 451, true);
      expectPage(await site.reach(`/${spent.code}+`), 200, true);
      expectPage(await site.reach("/no-such-code", { host }), 404, true);
      expectPage(await site.reach("/no-such-code"), 404, false);
      await site.call("POST", "/api/links", {
        key: foreignKey,
        body: { url, code: "foreign-locked", password: "correct horse" },
      });
      expectPage(await site.reach("/foreign-locked"), 401, false);
      const problem = await site.reach(`/${expired.code}`, { accept: "application/json" });
      expect(problem.json<ProblemBody>().code).toBe("link_expired");
    });

    test("the logo is served as it is, with headers under which nothing runs, on every host", async () => {
      const { logo } = (await change({ logo: svg.toString("base64") })).json<Branding>();
      const path = new URL(logo?.url ?? "").pathname;
      for (const headers of [{}, { host }]) {
        const reply = await site.reach(path, headers);
        expect([reply.status, reply.text]).toEqual([200, svg.toString()]);
        expect(Object.fromEntries(reply.headers)).toMatchObject({
          "content-type": "image/svg+xml",
          "x-content-type-options": "nosniff",
          "content-security-policy": expect.stringContaining("sandbox"),
          "cache-control": expect.stringContaining("immutable"),
        });
      }
      expect((await site.reach(path, {}, "HEAD")).status).toBe(200);
      must(await site.cli("tenant", "suspend", "default", "--reason", "test"));
      expect((await site.reach(path)).status).toBe(404);
      must(await site.cli("tenant", "restore", "default"));
      expect((await site.reach(`${path.slice(0, -1)}x`)).status).toBe(404);
      expect((await site.reach("/brand/")).status).toBe(404);
      expect((await change({ logo: null })).json<Branding>().logo).toBeNull();
      expect((await site.reach(path)).status).toBe(404);
    });

    test("only admins change it, the log has it, and bad values name the field", async () => {
      const member = await makePerson(site, { roles: { default: "member" } });
      expect((await member.call("GET", "/api/branding")).status).toBe(200);
      expect((await member.call("PATCH", "/api/branding", { body: { name: "Mine" } })).status).toBe(403);
      await change({ name: "Logged" });
      const log = (await site.call("GET", "/api/history?action=branding.update")).json<{
        items: { after: object }[];
      }>();
      expect(log.items[0]?.after).toEqual({ name: "Logged" });
      for (const [body, field] of [
        [{ colour: "red" }, "colour"],
        [{ colour: "#12345" }, "colour"],
        [{ colour: "#112233;}body{display:none" }, "colour"],
        [{ name: "x".repeat(61) }, "name"],
        [{ name: "a\nb" }, "name"],
        [{ logo: "not base64!" }, "logo"],
        [{ logo: "" }, "logo"],
        [{ logo: Buffer.from("hello").toString("base64") }, "logo"],
        [{ logo: Buffer.from("<svg><script>1</script></svg>").toString("base64") }, "logo"],
        [{ logo: Buffer.alloc(70_000).toString("base64") }, "logo"],
        [{ font: "serif" }, "font"],
      ] as const) {
        const reply = await change(body);
        expect([reply.status, reply.json<ProblemBody>().errors?.[0]?.field]).toEqual([422, field]);
      }
      const theirs = await site.call("GET", "/api/branding", { key: foreignKey });
      expect(theirs.json<Branding>()).toEqual({ name: null, colour: null, colours: null, logo: null });
    });
  });
}
