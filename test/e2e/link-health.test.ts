import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { mutant } from "../ground/mutant.ts";
import { until } from "../ground/process.ts";
import { databases, type LinkBody, type ProblemBody, type Site, startSite } from "./servers.ts";

/** A copy of the program that looks for links to check ten times as often. */
const source = mutant([
  { file: "server/jobs.ts", from: 'name: "targets", everyMs: 10 * second', to: 'name: "targets", everyMs: second' },
]);

for (const database of databases) {
  describe(`titles and targets on ${database}`, () => {
    let page: Server;
    let url: string;
    let asked = 0;
    const held: ServerResponse[] = [];
    let site: Site;

    beforeAll(async () => {
      page = createServer((request, response) => {
        if (request.url === "/slow") return void held.push(response);
        asked++;
        response.writeHead(200, { "content-type": "text/html" }).end("<title>A page of ours</title>");
      });
      await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
      const { port } = page.address() as AddressInfo;
      url = `http://127.0.0.1:${port}/`;
      const settings = { QL_FETCH_ALLOW: "127.0.0.1", QL_FETCH_PORTS: `80,443,${port}` };
      site = await startSite(database, settings, source);
    });

    afterAll(async () => {
      page.close();
      expect(await site.server.stop()).toBe(0);
    });

    const read = async ({ id }: LinkBody) => (await site.call("GET", `/api/links/${id}`)).json<LinkBody>();

    test("a link that asks for it has the page's title soon after, and shows what was found there", async () => {
      const made = await site.create({ url, fetchTitle: true });
      expect([made.title, made.target]).toEqual([null, null]);
      const link = await until("the title", async () => {
        const now = await read(made);
        return now.target === null || now.title === null ? undefined : now;
      });
      expect(link.title).toBe("A page of ours");
      expect(link.version).toBe(made.version + 1);
      expect(link.target).toEqual({
        ...{ state: "ok", checkedAt: expect.any(String), httpStatus: 200, reason: null },
        ...{ responseMs: expect.any(Number), failingSince: null },
      });
      const list = (await site.call("GET", "/api/links")).json<{ items: LinkBody[] }>();
      expect(list.items.find(({ id }) => id === link.id)?.target).toEqual(link.target);
      expect((await site.cli("link", "get", link.code)).stdout).toContain('"state":"ok"');
    });

    test("so does one that asks for it later, in bulk, or on the command line", async () => {
      const before = asked;
      const later = await site.create({ url });
      expect((await site.call("PATCH", `/api/links/${later.id}`, { body: { fetchTitle: true } })).status).toBe(200);
      const bulk = (
        await site.call("POST", "/api/links/bulk", {
          body: { links: [{ url: "x" }, { url, fetchTitle: true }, { url }] },
        })
      ).json<{ results: { link?: LinkBody }[] }>().results;
      const code = (await site.cli("link", "create", url, "--fetch-title")).stdout.trim().split("/").at(-1) ?? "";
      const [, second, third] = bulk.map(({ link }) => link);
      for (const link of [later, second]) {
        await until("the title", async () => (link && (await read(link)).title) || undefined);
      }
      await until(
        "the title",
        async () => (await site.cli("link", "get", code)).stdout.includes("A page of") || undefined,
      );
      expect(third && (await read(third)).title).toBeNull();
      expect(asked - before).toBe(3);
    });

    test("an address that only this server could reach is not asked, and the link says so", async () => {
      const made = await site.create({ url: "http://169.254.169.254/latest/meta-data/", fetchTitle: true });
      const link = await until("a look", async () => {
        const now = await read(made);
        return now.target === null ? undefined : now;
      });
      expect(link).toMatchObject({ title: null, target: { state: "unchecked", reason: "private_address" } });
    });

    test("a look at a slow target takes no place from those who verify a domain", async () => {
      await site.create({ url: `${url}slow`, fetchTitle: true });
      await until("a look", async () => held.length > 0 || undefined);
      const { text } = await site.visit("/metrics");
      const running = (resource: string) => text.match(`quicklink_shares_running{resource="${resource}"} (\\d+)`)?.[1];
      expect([running("targets"), running("outgoing")]).toEqual(["1", "0"]);
      for (const response of held) response.end();
    });

    test("what is neither true nor false is refused", async () => {
      const reply = await site.call("POST", "/api/links", { body: { url, fetchTitle: "yes" } });
      expect(reply.json<ProblemBody>().errors?.map(({ field }) => field)).toEqual(["fetchTitle"]);
    });
  });
}
