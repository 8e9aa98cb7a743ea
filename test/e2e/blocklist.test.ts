import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type DnsServer, startDns } from "../ground/dns.ts";
import { mutant } from "../ground/mutant.ts";
import { until } from "../ground/process.ts";
import { cli } from "../ground/server.ts";
import { tempFolder } from "../ground/temp.ts";
import { databases, type LinkBody, must, type ProblemBody, type Site, startSite } from "./servers.ts";

/** A copy of the program that looks at the list ten times as often. */
const source = mutant([
  { file: "server/jobs.ts", from: 'name: "blocklist", everyMs: 3 * second', to: 'name: "blocklist", everyMs: 300' },
]);

for (const database of databases) {
  describe(`the blocklist on ${database}`, () => {
    const path = join(tempFolder("blocklist"), "hosts");
    const published = new Map<string, string>();
    let dns: DnsServer;
    let site: Site;

    function list(...hosts: string[]): void {
      writeFileSync(`${path}.new`, hosts.join("\n"));
      renameSync(`${path}.new`, path);
    }

    beforeAll(async () => {
      list("evil.example");
      dns = await startDns(
        () => undefined,
        (name) => (published.has(name) ? [published.get(name) ?? ""] : undefined),
      );
      site = await startSite(database, { QL_BLOCKLIST: path, QL_DNS_SERVERS: dns.address }, source);
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
      dns.stop();
    });

    const refusal = async (method: string, address: string, body: object) => {
      const reply = await site.call(method, address, { body });
      return [reply.status, ...(reply.json<ProblemBody>().errors ?? []).map(({ field, code }) => `${field} ${code}`)];
    };

    test("keeps links from leading to its hosts, when they are made and when they are changed", async () => {
      const url = "https://www.evil.example/a";
      const fine = "https://fine.example/";
      expect(await refusal("POST", "/api/links", { url })).toEqual([422, "url blocked_host"]);
      expect(await refusal("POST", "/api/links", { url: fine, fallbackUrl: url })).toEqual([
        422,
        "fallbackUrl blocked_host",
      ]);
      const { id } = await site.create({ url: fine });
      expect(await refusal("PATCH", `/api/links/${id}`, { url })).toEqual([422, "url blocked_host"]);
      expect(await refusal("PATCH", `/api/links/${id}`, { fallbackUrl: url })).toEqual([
        422,
        "fallbackUrl blocked_host",
      ]);
      expect(await refusal("PUT", `/api/links/${id}`, { url })).toEqual([422, "url blocked_host"]);
      const bulk = await site.call("POST", "/api/links/bulk", { body: { links: [{ url }, { url: fine }] } });
      expect(bulk.json<{ created: number; failed: number }>()).toMatchObject({ created: 1, failed: 1 });
      const command = await cli(["link", "create", url], { env: { ...site.env, QL_BLOCKLIST: path } });
      expect({ code: command.code, said: command.stderr }).toMatchObject({
        code: 1,
        said: expect.stringContaining("www.evil.example"),
      });
    });

    test("stops links that are there when it changes, and frees them again; both without a restart", async () => {
      const link = await site.create({ url: "https://turned.example/" });
      const status = async () => (await site.reach(`/${link.code}`)).status;
      const known = async () => (await site.call("GET", `/api/links/${link.id}`)).json<LinkBody>();
      expect(await status()).toBe(302);
      list("turned.example");
      await until("the link to be stopped", async () => (await status()) === 451 || undefined, 30_000);
      expect(await known()).toMatchObject({ suspended: "turned.example is on the blocklist", status: "active" });
      list("other.example");
      await until("the link to be freed", async () => (await status()) === 302 || undefined, 30_000);
      expect((await known()).suspended).toBeNull();
    });

    test("keeps a link stopped that the operator restores while the list names it, and frees it after that", async () => {
      const link = await site.create({ url: "https://both.example/" });
      const status = async () => (await site.reach(`/${link.code}`)).status;
      const restore = async () =>
        must(await cli(["link", "restore", link.code], { env: { ...site.env, QL_BLOCKLIST: path } }));
      must(await site.cli("link", "suspend", link.code, "--reason", "phishing"));
      list("both.example");
      expect(await restore()).toContain("both.example is on the blocklist");
      expect(await status()).toBe(451);
      const known = (await site.call("GET", `/api/links/${link.id}`)).json<LinkBody>();
      expect(known.suspended).toBe("both.example is on the blocklist");
      list("a-third.example");
      await until("the link to be freed", async () => (await status()) === 302 || undefined, 30_000);
      must(await site.cli("link", "suspend", link.code, "--reason", "phishing"));
      expect(await restore()).toContain("Restored");
    });

    test("keeps the targets of custom domains from being used while it names them", async () => {
      const host = "links.example.com";
      const added = await site.call("POST", "/api/domains", { body: { host } });
      const { txt } = added.json<{ proof: { txt: { name: string; value: string } } }>().proof;
      published.set(txt.name, txt.value);
      await site.call("POST", `/api/domains/${host}/verify`);
      const [rootUrl, missingUrl] = ["https://root.example/", "https://missing.example/"];
      await site.call("PATCH", `/api/domains/${host}`, { body: { rootUrl, missingUrl } });
      const answers = async () => {
        const replies = await Promise.all(["/", "/nothing-here"].map((one) => site.reach(one, { host })));
        return replies.map(({ status, headers }) => headers.get("location") ?? status).join(" ");
      };
      const become = (expected: string) =>
        until(expected, async () => (await answers()) === expected || undefined, 30_000);
      await become(`${rootUrl} ${missingUrl}`);
      list("root.example");
      await become(`200 ${missingUrl}`);
      expect((await site.call("GET", `/api/domains/${host}`)).json<object>()).toMatchObject({
        ...{ rootUrl, rootBlocked: true, missingBlocked: false },
      });
      list("missing.example");
      await become(`${rootUrl} 404`);
      list("other.example");
      await become(`${rootUrl} ${missingUrl}`);
    }, 120_000);
  });
}
