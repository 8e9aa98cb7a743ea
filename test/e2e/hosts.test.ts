/** The host of a request decides what is answered, on every path of the server: a table of hosts by paths. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type DnsServer, startDns } from "../ground/dns.ts";
import { until } from "../ground/process.ts";
import { databases, type ProblemBody, raw, type Site, startSite } from "./servers.ts";

const own = "https://example.com/own";
const theirs = "https://example.com/theirs";
const acme = "links.acme.example";
const other = "go.other.example";

for (const database of databases) {
  describe(`on ${database}`, () => {
    const published = new Map<string, string>();
    let dns: DnsServer;
    let site: Site;
    let code: string;

    beforeAll(async () => {
      dns = await startDns(
        () => undefined,
        (name) => (published.has(name) ? [published.get(name) ?? ""] : undefined),
      );
      site = await startSite(database, {
        QL_DNS_SERVERS: dns.address,
        QL_BASE_URL: "https://go.example.com",
        QL_HOSTS: "s.example.com",
      });
      code = await furnish(site);
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
      dns.stop();
    });

    /** Two custom domains, and a code that leads elsewhere on the server's own domain and on the first of them. */
    async function furnish(on: Site): Promise<string> {
      for (const host of [acme, other]) {
        const added = await on.call("POST", "/api/domains", { body: { host } });
        const { txt } = added.json<{ proof: { txt: { name: string; value: string } } }>().proof;
        published.set(txt.name, txt.value);
        expect((await on.call("POST", `/api/domains/${host}/verify`)).status).toBe(200);
        await until(`${host} being served`, async () => {
          return (await on.visit(`/domains/allowed?domain=${host}`)).status === 200 || undefined;
        });
      }
      await on.create({ url: theirs, domain: acme, code: "sale" });
      await on.create({ url: own, code: "sale" });
      return "sale";
    }

    const outcome = async (on: Site, host: string, path: string) => {
      const { status, headers } = await on.reach(path, { host });
      return headers.get("location") ?? status;
    };

    test.each([
      ["go.example.com", own],
      ["Go.Example.com.:8443", own],
      ["s.example.com", own],
      ["127.0.0.1", own],
      ["127.0.0.1:9", own],
      ["[::1]:3000", own],
      ["localhost", own],
      ["quicklink", own],
      [acme, theirs],
      [`${acme}.`, theirs],
      [`${acme}.:443`, theirs],
      ["LINKS.acme.example:80", theirs],
      [other, 404],
      [`${other}.`, 404],
      [`www.${acme}`, 421],
      ["acme.example", 421],
      ["evil.example", 421],
      ["example.com", 421],
      [`${acme}..`, 400],
      ["[", 400],
      ["user@go.example.com", 400],
    ])("a link of the server's own domain, asked for on %s: %p", async (host, answer) => {
      expect(await outcome(site, host, `/${code}`)).toBe(answer);
      expect(await outcome(site, host, `/${code}?again`)).toBe(answer);
    });

    test("every address answers by the host, and no other", async () => {
      const paths = [
        ...[
          "/",
          "/sale+",
          "/nothing-here",
          "/docs",
          "/openapi.json",
          "/api",
          "/api/links",
          "/report",
          "/report?thanks",
        ],
        ...["/robots.txt", "/files/upload/x", "/files/x", "/email/stop/x", "/a/b"],
      ];
      const found: Record<string, unknown[]> = {};
      for (const path of paths) {
        const answers = ["go.example.com", acme, "evil.example", "["].map((host) => outcome(site, host, path));
        found[path] = await Promise.all(answers);
      }
      expect(found).toEqual({
        "/": [200, 200, 421, 400],
        "/sale+": [200, 200, 421, 400],
        "/nothing-here": [404, 404, 421, 400],
        "/docs": [200, 404, 421, 400],
        "/openapi.json": [200, 404, 421, 400],
        "/api": [401, 404, 421, 400],
        "/api/links": [401, 404, 421, 400],
        "/report": [200, 200, 421, 400],
        "/report?thanks": [200, 200, 421, 400],
        "/robots.txt": [200, 200, 421, 400],
        "/files/upload/x": [405, 404, 421, 400],
        "/files/x": [404, 404, 421, 400],
        "/email/stop/x": [404, 404, 421, 400],
        "/a/b": [404, 404, 421, 400],
      });
    });

    test("what probes ask is answered on every host", async () => {
      for (const host of ["go.example.com", acme, "evil.example", "10.0.0.1", "quicklink.default.svc.cluster.local"]) {
        for (const path of ["/healthz", "/readyz", "/metrics", `/domains/allowed?domain=${acme}`]) {
          expect({ host, path, status: (await site.visit(path, { host })).status }).toEqual({
            host,
            path,
            status: 200,
          });
        }
      }
    });

    test("a page says what to set, and the API says it as a problem", async () => {
      const page = await site.visit("/", { host: "evil.example" });
      expect(page.headers.get("content-type")).toStartWith("text/html");
      for (const name of ["QL_BASE_URL", "QL_HOSTS"]) expect(page.text).toContain(`<code>${name}</code>`);
      for (const [path, headers] of [
        ["/api/links", {}],
        ["/sale", { accept: "application/json" }],
      ] as const) {
        const reply = await site.call("GET", path, { headers: { host: "evil.example", ...headers } });
        expect(reply.headers.get("content-type")).toBe("application/problem+json");
        const { status, code: kind, detail } = reply.json<ProblemBody>();
        expect({ status, kind }).toEqual({ status: 421, kind: "misdirected" });
        expect(detail).toContain("QL_HOSTS");
      }
    });

    test("a key works on the server's own hosts, and on no custom domain", async () => {
      const status = async (host: string) => (await site.call("GET", "/api/links", { headers: { host } })).status;
      expect(await Promise.all(["go.example.com", "s.example.com", acme, `${acme}.`].map(status))).toEqual([
        ...[200, 200, 404, 404],
      ]);
      const post = await site.call("POST", "/api/links", { headers: { host: acme }, body: { url: own } });
      expect(post.status).toBe(404);
    });

    test("an escaped slash does not lead to the link of another domain", async () => {
      expect(await outcome(site, acme, "/sale")).toBe(theirs);
      for (const host of ["go.example.com", other, acme]) {
        for (const path of [`/${acme}%2Fsale`, `/${acme}%2fsale`, `/%2Fsale`, `/${acme}%2Fsale+`, "/sale%2F"]) {
          expect({ host, path, answer: await outcome(site, host, path) }).toEqual({ host, path, answer: 404 });
        }
      }
    });

    test("a report is about the domain that it was sent to", async () => {
      const report = (host: string, name: string) =>
        fetch(`${site.server.url}/report`, {
          method: "POST",
          redirect: "manual",
          headers: { host, "content-type": "application/x-www-form-urlencoded" },
          body: `code=${name}&reason=spam`,
        });
      expect((await report(`${acme}.`, "sale")).status).toBe(303);
      expect((await report(other, "sale")).status).toBe(422);
      expect((await report("evil.example", "sale")).status).toBe(421);
      const { stdout } = await site.cli("abuse", "list", "--json");
      expect(JSON.parse(stdout)).toMatchObject([{ link: `${acme}/sale` }]);
    });

    test("two Host headers are refused, wherever they ask", async () => {
      const ask = (path: string, ...hosts: string[]) =>
        raw(
          site.server.port,
          `GET ${path} HTTP/1.1\r\n${hosts.map((host) => `Host: ${host}\r\n`).join("")}Connection: close\r\n\r\n`,
        );
      for (const path of ["/sale", "/", "/healthz", "/api/links", "/domains/allowed?domain=go.example.com"]) {
        for (const hosts of [
          ["go.example.com", acme],
          ["go.example.com", "go.example.com"],
        ]) {
          const answer = await ask(path, ...hosts);
          expect({ path, hosts, status: answer.slice(9, 12) }).toEqual({ path, hosts, status: "400" });
          expect(answer).toContain('"code":"invalid_host"');
        }
      }
    });

    test("an invalid Host is refused, without an error in the log", async () => {
      const logged = site.server.output().length;
      for (const host of ["[", "[::1", "a b", "%", "a,b", "é"]) {
        for (const path of ["/domains/allowed?domain=go.example.com", "/sale", "/api/links"]) {
          const answer = await raw(
            site.server.port,
            `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
          );
          expect({ host, path, status: answer.slice(9, 12) }).toEqual({ host, path, status: "400" });
        }
      }
      expect(site.server.output().slice(logged)).not.toContain('"level":"error"');
    });

    test("only names that certificates are wanted for are allowed", async () => {
      const ask = async (name: string) => (await site.visit(`/domains/allowed?domain=${name}`)).status;
      for (const name of ["go.example.com", "s.example.com", acme, `${acme}.`])
        expect([name, await ask(name)]).toEqual([name, 200]);
      for (const name of ["127.0.0.1", "localhost", "evil.example", "", "[", "%5B", "a%2Cb"]) {
        expect([name, await ask(name)]).toEqual([name, 404]);
      }
    });

    test("a name of the server cannot become a custom domain, nor a destination", async () => {
      for (const host of ["go.example.com", "s.example.com"]) {
        const claim = await site.call("POST", "/api/domains", { body: { host } });
        expect(claim.json<ProblemBody>().errors).toMatchObject([{ field: "host", code: "own_host" }]);
        const circle = await site.call("POST", "/api/links", { body: { url: `https://${host}/sale` } });
        expect(circle.json<ProblemBody>().errors).toMatchObject([{ field: "url", code: "own_host" }]);
      }
    });

    test("a path that is longer than any address leads nowhere", async () => {
      const long = "a".repeat(5_000);
      for (const path of [`/${long}`, `/api/${long}`, `/files/download/${long}`, `/a/${long}`]) {
        expect((await site.visit(path, { host: "go.example.com" })).status).toBe(404);
      }
    });
  });
}

describe("without QL_BASE_URL", () => {
  test("every name but a custom domain is the server's own", async () => {
    const published = new Map<string, string>();
    const dns = await startDns(
      () => undefined,
      (name) => (published.has(name) ? [published.get(name) ?? ""] : undefined),
    );
    const site = await startSite("SQLite", { QL_DNS_SERVERS: dns.address });
    try {
      const added = await site.call("POST", "/api/domains", { body: { host: acme } });
      const { txt } = added.json<{ proof: { txt: { name: string; value: string } } }>().proof;
      published.set(txt.name, txt.value);
      await site.call("POST", `/api/domains/${acme}/verify`);
      await site.create({ url: own, code: "sale" });
      const ask = async (host: string) => {
        const { status, headers } = await site.reach("/sale", { host });
        return headers.get("location") ?? status;
      };
      await until("the domain being served", async () => (await ask(acme)) === 404 || undefined);
      expect(await Promise.all(["localhost", "anything.example", "127.0.0.1", `${acme}.`, "["].map(ask))).toEqual([
        ...[own, own, own, 404, 400],
      ]);
    } finally {
      expect(await site.server.stop()).toBe(0);
      dns.stop();
    }
  });
});
