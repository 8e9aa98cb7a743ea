import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { makePerson } from "../ground/people.ts";
import { tempFolder } from "../ground/temp.ts";
import { databases, type ProblemBody, type Site, startSite } from "./servers.ts";

type CodeCheck = {
  isFree: boolean;
  state: string;
  message: string | null;
  domain: string;
  link: string | null;
  trashedLink: string | null;
  suggestions: string[];
};
type Destination = {
  isValid: boolean;
  url: string | null;
  errors: { field: string; code: string; message: string }[];
  page: Record<string, unknown> | null;
};

for (const database of databases) {
  describe(`checks before a link is created, on ${database}`, () => {
    let site: Site;
    let foreignKey: string;
    let page: Server;
    let address: string;
    let asked = 0;

    beforeAll(async () => {
      page = createServer((request, response) => {
        asked++;
        if (request.url === "/moved") return void response.writeHead(302, { location: "/" }).end();
        if (request.url === "/inside") {
          return void response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data" }).end();
        }
        if (request.url?.startsWith("/images/")) return sendImage(request.url, response);
        const named = new URL(request.url ?? "/", "http://page").searchParams.get("image");
        if (named !== null) {
          response.writeHead(200, { "content-type": "text/html" });
          return void response.end(`<meta property="og:image" content="/images/${named}">`);
        }
        if (request.url === "/gone") return void response.writeHead(404).end();
        response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(
          `<title>Plain</title><meta property="og:title" content="Winter &amp; ice">
           <meta name="description" content="All about <ice>"><meta property="og:image" content="/ice.png">`,
        );
      });
      await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
      const { port } = page.address() as AddressInfo;
      address = `http://127.0.0.1:${port}`;
      const blocklist = join(tempFolder("list"), "blocked.txt");
      writeFileSync(blocklist, "blocked.example\n");
      site = await startSite(database, {
        QL_FETCH_ALLOW: "127.0.0.1",
        QL_FETCH_PORTS: `80,443,${port}`,
        QL_BLOCKLIST: blocklist,
      });
      foreignKey = await site.tenant("foreign");
    });

    afterAll(async () => {
      page.close();
      expect(await site.server.stop()).toBe(0);
    });

    const check = async (code: string, key?: string): Promise<CodeCheck> => {
      const path = `/api/links/check?code=${encodeURIComponent(code)}`;
      return (await site.call("GET", path, key === undefined ? {} : { key })).json<CodeCheck>();
    };
    const checkUrl = async (url: string, key?: string): Promise<Destination> => {
      const path = `/api/links/check-destination?url=${encodeURIComponent(url)}`;
      return (await site.call("GET", path, key === undefined ? {} : { key })).json<Destination>();
    };

    test("a code is free until a link has it, and again for its owner once that is deleted for good", async () => {
      expect(await check("winter")).toMatchObject({ isFree: true, state: "free", message: null, suggestions: [] });
      const { id } = await site.create({ url: "https://example.com", code: "winter" });
      expect(await check("winter")).toMatchObject({ isFree: false, state: "yours", link: id, trashedLink: null });
      expect(await check("winter", foreignKey)).toEqual({
        ...{ code: "winter", domain: expect.any(String), isFree: false, state: "taken" },
        ...{ message: expect.stringContaining("is taken"), link: null, trashedLink: null },
        suggestions: expect.arrayContaining(["winter-2"]),
      });
      await site.call("DELETE", `/api/links/${id}`);
      expect(await check("winter")).toMatchObject({ state: "in_trash", link: null, trashedLink: id });
      expect(await check("winter", foreignKey)).toMatchObject({ state: "taken", link: null, trashedLink: null });
      await site.call("DELETE", `/api/trash/${id}`);
      expect(await check("winter")).toMatchObject({ state: "free" });
      expect(await check("winter", foreignKey)).toMatchObject({ state: "taken", link: null, trashedLink: null });
    });

    test("what it says is what creating says, and every suggestion can be created", async () => {
      await site.create({ url: "https://example.com", code: "summer" });
      for (const code of ["summer", "api", "ab", "a b c", "ünïcode", "", "x".repeat(65), "fresh-one"]) {
        const { isFree, suggestions } = await check(code);
        const made = await site.call("POST", "/api/links", { body: { url: "https://example.com", code } });
        expect({ code, isFree }).toEqual({ code, isFree: made.status === 201 });
        if (isFree) continue;
        expect(suggestions.length).toBeGreaterThan(0);
        for (const suggested of suggestions) {
          const other = await site.call("POST", "/api/links", {
            body: { url: "https://example.com", code: suggested },
          });
          expect(other.status).toBe(201);
        }
      }
    });

    test("a domain that is not yours is refused by name, and a link's ID is still found beside these routes", async () => {
      const reply = await site.call("GET", "/api/links/check?code=abc&domain=other.example");
      expect(reply.json<ProblemBody>()).toMatchObject({ code: "invalid_input", errors: [{ field: "domain" }] });
      expect((await site.call("GET", "/api/links/check")).json<ProblemBody>().errors?.[0]?.field).toBe("code");
      const { id } = await site.create({ url: "https://example.com" });
      expect((await site.call("GET", `/api/links/${id}`)).status).toBe(200);
      const viewer = await makePerson(site, { roles: { default: "viewer" } });
      expect((await viewer.call("GET", "/api/links/check?code=abc")).status).toBe(403);
      const member = await makePerson(site, { roles: { default: "member" } });
      expect((await member.call("GET", "/api/links/check?code=abc-free")).status).toBe(200);
    });

    test("a destination is shown as stored, with its title, description and image", async () => {
      const found = await checkUrl(` ${address}/moved `);
      expect(found).toMatchObject({ isValid: true, url: `${address}/moved`, errors: [] });
      expect(found.page).toEqual({
        ...{ state: "ok", httpStatus: 200, reason: null, finalUrl: `${address}/`, responseMs: expect.any(Number) },
        ...{ title: "Winter & ice", description: "All about <ice>", imageUrl: `${address}/ice.png` },
      });
      const before = asked;
      await checkUrl(`${address}/moved`);
      expect(asked).toBe(before);
      await checkUrl(`${address}/moved`, foreignKey);
      expect(asked).toBeGreaterThan(before);
      expect((await checkUrl(`${address}/gone`)).page).toMatchObject({
        state: "failing",
        httpStatus: 404,
        title: null,
      });
    });

    test("the image of a destination is sent from here, if it is one that cannot hold a script", async () => {
      const image = (named: string, key?: string) => {
        const url = encodeURIComponent(`${address}/?image=${named}`);
        return site.call("GET", `/api/links/check-destination/image?url=${url}`, key === undefined ? {} : { key });
      };
      const sent = await image("fine.png");
      expect([sent.status, sent.headers.get("content-type")]).toEqual([200, "image/png"]);
      expect(sent.headers.get("content-security-policy")).toContain("sandbox");
      expect(sent.headers.get("x-content-type-options")).toBe("nosniff");
      for (const named of ["script.svg", "page.png", "large.png", "inside.png", "gone.png"]) {
        expect([named, (await image(named)).status]).toEqual([named, 404]);
      }
      const viewer = await makePerson(site, { roles: { default: "viewer" } });
      expect((await viewer.call("GET", "/api/links/check-destination/image?url=x")).status).toBe(403);
    });

    test("a bad destination gets the words of the link form, and no request is made", async () => {
      const before = asked;
      for (const url of ["", "no", "ftp://example.com/", "https://a:b@example.com/", "https://sub.blocked.example/x"]) {
        const { isValid, errors, page: found } = await checkUrl(url);
        const made = await site.call("POST", "/api/links", { body: { url } });
        expect({ url, isValid, errors, found }).toEqual({
          ...{ url, isValid: false, found: null },
          errors: made.json<ProblemBody>().errors ?? [],
        });
      }
      expect(asked).toBe(before);
    });

    test("nothing of a private network is reached, not even through a redirect", async () => {
      for (const url of ["http://10.0.0.1/", "http://[::1]/", "http://0x7f000002/", `${address}/inside`]) {
        const { page: found } = await checkUrl(url);
        expect({ url, ...found }).toMatchObject({ state: "unchecked", reason: "private_address", title: null });
      }
    });
  });
}

const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Images by name: one that is fine, and those that must not be passed on. */
function sendImage(path: string, response: ServerResponse): void {
  const svg = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  switch (path.slice("/images/".length)) {
    case "fine.png":
      return void response.writeHead(200, { "content-type": "text/html" }).end(pixel);
    case "script.svg":
      return void response.writeHead(200, { "content-type": "image/svg+xml" }).end(svg);
    case "page.png":
      return void response.writeHead(200, { "content-type": "image/png" }).end("<html><script>alert(1)</script>");
    case "large.png":
      return void response
        .writeHead(200, { "content-type": "image/png" })
        .end(Buffer.concat([pixel, Buffer.alloc(2_000_000)]));
    case "inside.png":
      return void response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data" }).end();
    default:
      return void response.writeHead(404).end();
  }
}
