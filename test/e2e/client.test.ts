/** The TypeScript client is what the document says, and works against a real server, also when answers get lost. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { QuickLink, QuickLinkError } from "../../clients/typescript/src/index.ts";
import { clientPath, dashboardRoutesPath, describeClient, describeDashboardRoutes } from "../../scripts/client.ts";
import { type Document, isForKeys, routesOf } from "../../src/http/openapi.ts";
import { runProcess, until } from "../ground/process.ts";
import { startProxy } from "../ground/proxy.ts";
import { tempFolder } from "../ground/temp.ts";
import { query, type Site, startSite } from "./servers.ts";

describe("the TypeScript client", () => {
  let site: Site;
  let document: Document;
  let client: QuickLink;

  beforeAll(async () => {
    site = await startSite("SQLite");
    document = (await site.visit("/openapi.json")).json<Document>();
    client = new QuickLink({ baseUrl: site.server.url, key: site.server.key });
  });

  afterAll(async () => {
    expect(await site.server.stop()).toBe(0);
  });

  const refusal = async (work: Promise<unknown>): Promise<QuickLinkError> => {
    const error = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error instanceof QuickLinkError) return error;
    throw new Error(`not refused by the server: ${error}`);
  };

  const rows = (url: string) => query(site.env, `select id from links where url = '${url}'`);

  test("is what `npm run docs` makes of the document as it is", async () => {
    const written = (path: string) => readFileSync(join(import.meta.dir, "../..", path), "utf8");
    expect(written(clientPath)).toBe(await describeClient(document));
    expect(written(dashboardRoutesPath)).toBe(await describeDashboardRoutes(document));
  });

  test("has a method for every route that a key may call", () => {
    for (const { operation } of routesOf(document).filter(isForKeys)) {
      expect(client).toHaveProperty(operation.operationId, expect.any(Function));
    }
  });

  test("creates, reads, changes, lists and deletes links", async () => {
    const link = await client.createLink({ url: "https://example.com/client", tags: ["client"] });
    expect(link.version).toBe(1);
    expect((await client.getLink(link.id)).url).toBe("https://example.com/client");
    const changed = await client.updateLink(link.id, { title: "changed" }, { ifMatch: '"1"' });
    expect([changed.title, changed.version]).toEqual(["changed", 2]);
    const stale = await refusal(client.updateLink(link.id, { title: "late" }, { ifMatch: '"1"' }));
    expect([stale.status, stale.code]).toEqual([412, "version_conflict"]);
    expect((await client.listLinks({ tag: ["client"], fields: "id" })).items).toEqual([{ id: link.id }] as never);
    await client.deleteLink(link.id);
    expect((await refusal(client.getLink(link.id))).code).toBe("not_found");
  });

  test("goes through all pages of a list", async () => {
    const { created } = await client.createLinks({
      links: Array.from({ length: 25 }, (_, n) => ({ url: `https://example.com/page/${n}`, tags: ["pages"] })),
    });
    expect(created).toBe(25);
    const seen = new Set<string | null>();
    for await (const { url } of client.iterateLinks({ tag: ["pages"], sort: "code", limit: 4 })) seen.add(url);
    expect(seen.size).toBe(25);
  });

  test("creates and revokes keys, and shows tenant and usage", async () => {
    const key = await client.createKey({ name: "by the client", scopes: ["links:read"] });
    const other = new QuickLink({ baseUrl: `${site.server.url}/`, key: key.secret });
    expect((await other.getTenant()).slug).toBe("default");
    expect((await refusal(other.getUsage())).code).toBe("forbidden");
    expect((await client.getUsage()).limits.length).toBeGreaterThan(0);
    expect((await client.listKeys()).items.map(({ id }) => id)).toContain(key.id);
    await client.revokeKey(key.id);
    expect((await refusal(other.getTenant())).code).toBe("unauthorized");
  });

  test("does what its README shows", async () => {
    const folder = join(import.meta.dir, "../../clients/typescript");
    const [, example = ""] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(folder, "README.md"), "utf8")) ?? [];
    const path = join(tempFolder("example"), "example.ts");
    writeFileSync(path, example.replace('"quicklink-client"', JSON.stringify(join(folder, "src/index.ts"))));
    const { code, stdout, stderr } = await runProcess([process.execPath, "--no-env-file", path], {
      env: { QUICKLINK: site.server.url, KEY: site.server.key },
    });
    expect([code, stderr]).toEqual([0, ""]);
    const [shortUrl = "", ...more] = stdout.trim().split("\n");
    expect(more).toEqual([`${shortUrl.split("/").at(-1)} https://example.com/a/long/page`, "invalid_input url"]);
  });

  test("says which fields were bad", async () => {
    const error = await refusal(client.createLink({ url: "nowhere" }));
    expect(error.errors).toMatchObject([{ field: "url", code: "not_a_url" }]);
    expect(error.requestId).toStartWith("req_");
  });

  test("sends a POST again whose answer was lost, and it happens once", async () => {
    const proxy = await startProxy(site.server.port);
    try {
      const patient = new QuickLink({ baseUrl: proxy.url(site.server.url), key: site.server.key, timeoutMs: 1_000 });
      const url = "https://example.com/lost-answer";
      proxy.drop("back");
      const making = patient.createLink({ url });
      await until("the answer to be lost", () => proxy.silent > 0 || undefined);
      expect((await rows(url)).length).toBe(1);
      proxy.pass();
      const link = await making;
      expect(await rows(url)).toEqual([{ id: link.id }]);
    } finally {
      proxy.stop();
    }
  });

  test("waits for the first of two that are the same, and gets its answer", async () => {
    const url = "https://example.com/together";
    const options = { idempotencyKey: crypto.randomUUID() };
    const both = await Promise.all([client.createLink({ url }, options), client.createLink({ url }, options)]);
    expect(both[0]).toEqual(both[1]);
    expect((await rows(url)).length).toBe(1);
    const other = await refusal(client.createLink({ url: `${url}/other` }, options));
    expect(other.code).toBe("idempotency_mismatch");
  });

  test("does not wait until next month, nor after it was aborted", async () => {
    const limited = new QuickLink({ baseUrl: site.server.url, key: await site.tenant("limited", "default") });
    await limited.createLinks({ links: Array.from({ length: 1_000 }, () => ({ url: "https://example.com" })) });
    const error = await refusal(limited.createLink({ url: "https://example.com" }));
    expect(error.code).toBe("limit_reached");
    expect(error.retryAfterMs).toBeGreaterThan(0);
    await expect(client.listLinks({}, { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
    const nobody = new QuickLink({ baseUrl: "http://127.0.0.1:1", key: site.server.key, retryBudgetMs: 0 });
    await expect(nobody.getTenant()).rejects.toThrow();
  });
});
