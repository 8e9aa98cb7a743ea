/** The page at /docs is made of our own files, tells of every route, and its examples run as they stand. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Document, isForKeys, type Route, routesOf } from "../../src/http/openapi.ts";
import { makePerson } from "../ground/people.ts";
import { runProcess, until } from "../ground/process.ts";
import { tempFolder } from "../ground/temp.ts";
import { type Names, posts, startNames } from "./posts.ts";
import { query, type Reply, type Site, startSite } from "./servers.ts";

describe("the page at /docs", () => {
  let site: Site;
  let names: Names;
  let page: Reply;
  let document: Document;

  beforeAll(async () => {
    names = await startNames();
    site = await startSite("SQLite", { QL_DNS_SERVERS: names.address });
    page = await site.visit("/docs");
    document = (await site.visit("/openapi.json")).json<Document>();
  });

  afterAll(async () => {
    expect(await site.server.stop()).toBe(0);
    names.stop();
  });

  /** What the path of a POST refers to. */
  const prepared = async (route: string) => (await posts[route]?.(site, names))?.path.split("/")[3] ?? "";

  /**
   * What `$ID` and the like stand for in an example of such an address, the longest that fits first. A new kind of thing
   * needs a line here; what an example can only be done after, such as the upload of a file, is done there.
   */
  const ids: Record<string, () => Promise<string>> = {
    "/api/domains/{host}/verify": () => prepared("/api/domains/{host}/verify"),
    "/api/domains/{host}": () => prepared("/api/domains/{host}/verify"),
    "/api/files/{id}/complete": () => prepared("/api/files/{id}/complete"),
    "/api/files/{id}": async () => (await site.store("hello")).id,
    "/api/email/suppressions/{address}": async () => {
      const row = "select id, 'ann@example.com', 'manual', 1 from tenants where slug = 'default'";
      await query(
        site.env,
        `insert into suppressions (tenant_id, address, reason, created_at) ${row} returning address`,
      );
      return "ann@example.com";
    },
    "/api/members/{person}": async () => (await makePerson(site, { roles: { default: "viewer" } })).id,
    "/api/invitations/{id}": async () => {
      const reply = await site.call("POST", "/api/invitations", { body: { role: "viewer" } });
      return reply.json<{ id: string }>().id;
    },
    "/api/trash/{id}": async () => {
      const { id } = await site.create({ url: "https://example.com" });
      await site.call("DELETE", `/api/links/${id}`);
      return id;
    },
    "/api/links/{id}": async () => (await site.create({ url: "https://example.com" })).id,
    "/api/annotations/{id}": () => made("/api/annotations", { text: "to go" }),
    "/api/utm-templates/{id}": () =>
      made("/api/utm-templates", { name: crypto.randomUUID(), utm: { source: "to go" } }),
    "/api/stats/shares/{id}": () => made("/api/stats/shares", { tag: "to go" }),
    "/api/imports/{id}": async () => {
      const id = await made("/api/imports", { file: (await site.store("url\nhttps://example.com")).id });
      return await until("the check of the import", async () => {
        const { state } = (await site.call("GET", `/api/imports/${id}`)).json<{ state: string }>();
        return state === "checked" ? id : undefined;
      });
    },
    "/api/keys/{id}": async () => {
      const reply = await site.call("POST", "/api/keys", { body: { name: "to go", scopes: ["links:read"] } });
      return reply.json<{ id: string }>().id;
    },
  };

  async function made(path: string, body: unknown): Promise<string> {
    return (await site.call("POST", path, { body })).json<{ id: string }>().id;
  }

  /** What must be there for an example, and what stands in its place of the example's own value. */
  const needs: Readonly<Record<string, () => Promise<readonly [example: string, real: string]>>> = {
    async replaceInLinks() {
      await site.create({ url: "http://old.example.com/page" });
      const body = { find: "http://old.example.com/", replace: "https://new.example.com/" };
      const reply = await site.call("POST", "/api/links/replace/preview", { body });
      return ["…", reply.json<{ token: string }>().token];
    },
    async renameTag() {
      await site.create({ url: "https://example.com", tags: ["sping"] });
      return ["", ""];
    },
    async deleteTag() {
      await site.create({ url: "https://example.com", tags: ["old"] });
      return ["", ""];
    },
    createImport: async () => ["fil_01k9a0b1c2d3e4f5g6h7j8k9m0", (await site.store("url\nhttps://example.com")).id],
  };

  test("loads nothing from elsewhere, runs no script, and tells the browser so", () => {
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(page.headers.get("content-security-policy")).toStartWith("default-src 'none'; style-src 'sha256-");
    expect(page.text).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|\son\w+=|style="/i);
    const places = [...page.text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, place]) => place ?? "");
    expect(places.filter((place) => !place.startsWith("#") && place !== "/openapi.json")).toEqual([]);
  });

  test.each(["/docs", "/openapi.json"])("a browser that has %s gets 304, and HEAD no body", async (path) => {
    const first = await site.visit(path);
    const etag = first.headers.get("etag") ?? "";
    expect([first.status, etag]).toEqual([200, expect.stringMatching(/^"[\w-]{22}"$/)]);
    const again = await site.visit(path, { "if-none-match": etag });
    expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
    const head = await site.visit(path, {}, "HEAD");
    expect([head.status, head.text, head.headers.get("content-length")]).toEqual([
      200,
      "",
      String(Buffer.byteLength(first.text)),
    ]);
  });

  test("has no link that leads nowhere, and no id twice", () => {
    const named = [...page.text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id ?? "");
    expect(named.filter((id, place) => named.indexOf(id) !== place)).toEqual([]);
    const linked = [...page.text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id ?? "");
    expect(linked.filter((id) => !named.includes(id))).toEqual([]);
  });

  test("contains every route and every object of the document, each route under a unique name", () => {
    const routes = routesOf(document);
    expect(routes.length).toBeGreaterThan(10);
    for (const { method, path, operation } of routes) {
      // A hand-written name: not derived from its method and path.
      expect(operation.operationId).toMatch(/^(?!post|put|patch)[a-z]+[A-Z][A-Za-z]+$/);
      expect(operation.operationId).not.toMatch(/Id|Api|Host$|Address$/);
      expect(page.text).toContain(`<article id="${operation.operationId}">`);
      expect(page.text).toContain(`<b>${method}</b><span>${path}</span>`);
      for (const { name } of operation.parameters ?? []) expect(page.text).toContain(`<code>${name}</code>`);
    }
    expect(new Set(routes.map(({ operation }) => operation.operationId)).size).toBe(routes.length);
    for (const name of Object.keys(document.components.schemas)) expect(page.text).toContain(`id="object-${name}"`);
  });

  test("has for every route of an API key an example for curl that works when it is pasted", async () => {
    const home = tempFolder("curl");
    writeFileSync(join(home, ".curlrc"), 'silent\nwrite-out = "\\n%{http_code}"\n');
    const plain = page.text.replace(/&#(\d+);/g, (_, n) => String.fromCharCode(Number(n)));
    // Its example needs a page with a picture in the internet.
    const isTried = ({ operation }: Route) => operation.operationId !== "getDestinationImage";
    for (const { method, path, operation } of routesOf(document).filter(isForKeys).filter(isTried)) {
      const article = plain.slice(plain.indexOf(`<article id="${operation.operationId}">`));
      const example = /<pre class="curl"><code>(curl [\s\S]*?)<\/code><\/pre>/.exec(article)?.[1];
      if (example === undefined) throw new Error(`no example of ${method} ${path}`);
      const [own, real] = (await needs[operation.operationId]?.()) ?? ["", ""];
      const line = example.replace(own, () => real);
      const kind = Object.keys(ids).find((known) => path.startsWith(known));
      if (kind === undefined && path.includes("{")) throw new Error(`nobody knows what stands in ${path}`);
      const variable = /\{(\w+)\}/.exec(path)?.[1];
      const { code, stdout } = await runProcess(["bash", "-c", line], {
        env: {
          PATH: String(process.env.PATH),
          CURL_HOME: home,
          QUICKLINK: site.server.url,
          KEY: site.server.key,
          ...(variable && kind && { [variable.toUpperCase()]: await ids[kind]?.() }),
        },
      });
      const status = Number(stdout.slice(stdout.lastIndexOf("\n") + 1));
      expect({ line, code, stdout, works: status >= 200 && status < 300 }).toMatchObject({ code: 0, works: true });
    }
  });

  test("answers HEAD, and nothing but that and GET", async () => {
    expect((await site.visit("/docs", {}, "HEAD")).status).toBe(200);
    expect((await site.visit("/docs", {}, "POST")).status).toBe(405);
  });
});
