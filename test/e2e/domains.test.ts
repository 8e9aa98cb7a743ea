/** Domains that tenants bring: shown to be theirs by real DNS, served by the Host header, passed on by the rule. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type DnsServer, startDns } from "../ground/dns.ts";
import { until } from "../ground/process.ts";
import { databases, type LinkBody, type ProblemBody, type Site, startSite } from "./servers.ts";

type DomainBody = {
  host: string;
  state: string;
  isDefault: boolean;
  rootUrl: string | null;
  missingUrl: string | null;
  proof: { txt: { name: string; value: string }; file: { url: string; content: string } } | null;
};

for (const database of databases) {
  describe(`on ${database}`, () => {
    const published = new Map<string, string>();
    let dns: DnsServer;
    let site: Site;
    let other: string;
    let hosts = 0;

    beforeAll(async () => {
      dns = await startDns(
        () => undefined,
        (name) => (published.has(name) ? ["v=spf1 -all", published.get(name) ?? ""] : undefined),
      );
      site = await startSite(database, { QL_DNS_SERVERS: dns.address });
      other = await site.tenant("other");
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
      dns.stop();
    });

    const newHost = () => `h${++hosts}.example.com`;
    const on = (host: string) => ({ host });

    async function add(host: string, key?: string): Promise<DomainBody> {
      const reply = await site.call("POST", "/api/domains", { body: { host }, ...(key === undefined ? {} : { key }) });
      expect(reply.status).toBe(201);
      return reply.json<DomainBody>();
    }

    async function own(host = newHost(), key?: string): Promise<string> {
      const { proof } = await add(host, key);
      published.set(proof?.txt.name ?? "", proof?.txt.value ?? "");
      const reply = await site.call("POST", `/api/domains/${host}/verify`, key === undefined ? {} : { key });
      expect({ status: reply.status, body: reply.json<DomainBody>().state }).toEqual({ status: 200, body: "verified" });
      return host;
    }

    const leadsTo = (path: string, host: string, location: string) =>
      until(`${host}${path} leading to ${location}`, async () => {
        const { status, headers } = await site.reach(path, on(host));
        return status === 302 && headers.get("location") === location ? true : undefined;
      });

    test("a claim alone serves nothing, and says what to publish", async () => {
      const host = newHost();
      const claim = await add(host);
      expect(claim).toMatchObject({ state: "pending", proof: { txt: { name: `_quicklink.${host}` } } });
      const early = await site.call("POST", "/api/links", { body: { url: "https://example.com", domain: host } });
      expect({
        status: early.status,
        errors: early.json<ProblemBody>().errors?.map(({ field, code }) => [field, code]),
      }).toEqual({
        status: 422,
        errors: [["domain", "unknown_domain"]],
      });
      const verify = await site.call("POST", `/api/domains/${host}/verify`);
      expect({ status: verify.status, code: verify.json<ProblemBody>().code }).toEqual({
        status: 409,
        code: "domain_unproven",
      });
    });

    test("one code leads elsewhere on each domain, and nowhere where it was not made", async () => {
      const [one, two] = [await own(), await own()];
      const make = (domain: string | undefined, url: string) =>
        site.create({ url, code: `same-${one.slice(0, -12)}`, ...(domain === undefined ? {} : { domain }) });
      const made = await make(one, "https://example.com/one");
      expect(made).toMatchObject({ domain: one, shortUrl: `http://${one}/${made.code}` });
      await make(undefined, "https://example.com/own");
      const path = `/${made.code}`;
      await leadsTo(path, one, "https://example.com/one");
      await leadsTo(path, "localhost", "https://example.com/own");
      expect((await site.reach(path, on(two))).status).toBe(404);
      await make(two, "https://example.com/two");
      await leadsTo(path, two.toUpperCase(), "https://example.com/two");
      await leadsTo(path, `${two}:8080`, "https://example.com/two");
      await leadsTo(path, one, "https://example.com/one");
    });

    test("an edit on a domain is seen by the next visit, and its preview and password are its own", async () => {
      const host = await own();
      const link = await site.create({ url: "https://example.com/before", domain: host });
      await leadsTo(`/${link.code}`, host, "https://example.com/before");
      await site.call("PATCH", `/api/links/${link.id}`, { body: { url: "https://example.com/after" } });
      expect((await site.visit(`/${link.code}`, on(host))).headers.get("location")).toBe("https://example.com/after");
      expect((await site.reach(`/${link.code}+`, on(host))).text).toContain("https://example.com/after");
      await site.call("PATCH", `/api/links/${link.id}`, { body: { password: "open sesame" } });
      expect((await site.reach(`/${link.code}`, on(host))).status).toBe(401);
      const entered = await fetch(`${site.server.url}/${link.code}`, {
        method: "POST",
        redirect: "manual",
        headers: { host, "content-type": "application/x-www-form-urlencoded" },
        body: "password=open+sesame",
      });
      expect({ status: entered.status, location: entered.headers.get("location") }).toEqual({
        status: 303,
        location: "https://example.com/after",
      });
      expect(entered.headers.get("set-cookie")).toContain(`Path=/${link.code};`);
    });

    test("the bare domain and missing codes lead where its owner says", async () => {
      const host = await own();
      await until("its own page", async () =>
        (await site.visit("/", on(host))).text.includes(host) ? true : undefined,
      );
      const change = { rootUrl: "https://example.com/home", missingUrl: "https://example.com/oops" };
      const changed = await site.call("PATCH", `/api/domains/${host}`, { body: change });
      expect(changed.json<DomainBody>()).toMatchObject(change);
      await leadsTo("/", host, "https://example.com/home");
      await leadsTo("/nothing-here", host, "https://example.com/oops");
      expect((await site.reach("/nothing-here", on("localhost"))).status).toBe(404);
    });

    test("new links are created on the default domain unless another is given", async () => {
      const key = await site.tenant(`d${database.toLowerCase()}`);
      const host = await own(newHost(), key);
      await site.call("PATCH", `/api/domains/${host}`, { key, body: { isDefault: true } });
      const make = async (fields: object) =>
        (
          await site.call("POST", "/api/links", { key, body: { url: "https://example.com/", ...fields } })
        ).json<LinkBody>();
      expect((await make({})).domain).toBe(host);
      const ownHost = new URL((await site.create({ url: "https://example.com" })).shortUrl).host;
      expect((await make({ domain: ownHost })).domain).toBe(ownHost);
    });

    test("a domain passes on only when its links are deleted and it was let go", async () => {
      const host = await own();
      const link = await site.create({ url: "https://example.com/theirs", domain: host, code: "printed" });
      const theirs = await add(host, other);
      published.set(`_quicklink.${host}`, theirs.proof?.txt.value ?? "");
      const verify = () => site.call("POST", `/api/domains/${host}/verify`, { key: other });
      expect((await verify()).json<ProblemBody>().code).toBe("domain_taken");
      const remove = () => site.call("DELETE", `/api/domains/${host}`);
      expect((await remove()).json<ProblemBody>().code).toBe("domain_in_use");
      await site.call("DELETE", `/api/links/${link.id}`);
      expect((await remove()).status).toBe(204);
      expect((await verify()).status).toBe(200);
      const again = await site.call("POST", "/api/links", {
        key: other,
        body: { url: "https://example.com/ours", domain: host, code: "printed" },
      });
      expect(again.status).toBe(201);
      await leadsTo("/printed", host, "https://example.com/ours");
      const foreign = await site.call("POST", "/api/links", { body: { url: "https://example.com", domain: host } });
      expect(foreign.status).toBe(422);
    });

    test("a proxy that gets certificates on demand learns which hosts are ours", async () => {
      const host = await own();
      const ask = (domain: string) => site.visit(`/domains/allowed?domain=${domain}`);
      await until("a yes", async () => ((await ask(host)).status === 200 ? true : undefined));
      expect((await ask("localhost")).status).toBe(200);
      for (const stranger of ["stranger.example.com", "", "%00", host.slice(1)]) {
        expect({ stranger, status: (await ask(stranger)).status }).toEqual({ stranger, status: 404 });
      }
    });
  });
}
