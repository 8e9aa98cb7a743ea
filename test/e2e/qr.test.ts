import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readPng, readSvg, scan } from "../ground/pictures.ts";
import { tempFolder } from "../ground/temp.ts";
import { databases, type LinkBody, must, type ProblemBody, type Site, startSite } from "./servers.ts";

for (const database of databases) {
  describe(`QR codes on ${database}`, () => {
    let site: Site;
    let link: LinkBody;

    beforeAll(async () => {
      site = await startSite(database);
      link = await site.create({ url: "https://example.com/", code: "for-a-poster" });
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    const ask = (query: string, headers: Record<string, string> = {}) =>
      fetch(`${site.server.url}/api/links/${link.id}/qr${query}`, {
        headers: { authorization: `Bearer ${site.server.key}`, ...headers },
      });

    test("a link's code leads to its short address with the mark of a scan, as SVG and as PNG", async () => {
      const svg = await ask("");
      expect(svg.headers.get("content-type")).toBe("image/svg+xml");
      expect(svg.headers.get("content-security-policy")).toContain("sandbox");
      expect(svg.headers.get("x-content-type-options")).toBe("nosniff");
      expect(scan(readSvg(await svg.text()))).toBe(`${link.shortUrl}?qr`);
      const png = await ask("?format=png&size=300&margin=2&dark=%23003366&light=ffffff00&level=H");
      expect(png.headers.get("content-type")).toBe("image/png");
      expect(scan(readPng(Buffer.from(await png.arrayBuffer())))).toBe(`${link.shortUrl}?qr`);
    });

    test("a client that has it gets 304, and one that asks for another gets another", async () => {
      const first = await ask("?format=png");
      const etag = first.headers.get("etag") ?? "";
      expect(etag).toMatch(/^"[\w-]{22}"$/);
      const again = await ask("?format=png", { "if-none-match": etag });
      expect([again.status, await again.text()]).toEqual([304, ""]);
      expect((await ask("?format=svg", { "if-none-match": etag })).status).toBe(200);
    });

    test("with the logo of the workspace it can still be read, and another logo is another picture", async () => {
      expect((await ask("?logo=true")).status).toBe(422);
      await site.call("PATCH", "/api/branding", { body: { logo: pixel } });
      const reply = await ask("?logo=true");
      const svg = await reply.text();
      expect(svg).toContain(`<image href="data:image/png;base64,${pixel}"`);
      expect(reply.headers.get("content-security-policy")).toContain("img-src data:");
      expect(scan(readSvg(svg.replace(/<image[^>]*>/, "")))).toBe(`${link.shortUrl}?qr`);
      expect(reply.headers.get("etag")).not.toBe((await ask("?level=H")).headers.get("etag"));
      expect((await ask("?logo=true&format=png")).status).toBe(422);
      await site.call("PATCH", "/api/branding", { body: { logo: null } });
    });

    test.each([
      ["logo=yes", "logo"],
      ["size=63", "size"],
      ["size=2049", "size"],
      ["size=1e3.5", "size"],
      ["margin=11", "margin"],
      ["margin=-1", "margin"],
      ["dark=red", "dark"],
      ["dark=%2312345", "dark"],
      ["light=%23%22%2F%3E%3C", "light"],
      ["dark=ffffff", "dark"],
      ["level=X", "level"],
      ["format=gif", "format"],
      ["colour=000000", "colour"],
    ])("%s is refused by name", async (query, field) => {
      const reply = await site.call("GET", `/api/links/${link.id}/qr?${query}`);
      expect(reply.status).toBe(422);
      expect(reply.json<ProblemBody>().errors?.map((one) => one.field)).toEqual([field]);
    });

    test("the command writes a file, or draws on the terminal", async () => {
      const path = join(tempFolder("qr"), "poster.PNG");
      must(await site.cli("link", "qr", link.code, "--out", path, "--size", "400", "--level", "Q"));
      expect(scan(readPng(readFileSync(path)))).toEndWith(`/${link.code}?qr`);
      expect(must(await site.cli("link", "qr", link.id))).toMatch(/[█▀▄]{5}[\s\S]+\/for-a-poster\n$/);
      expect(await site.cli("link", "qr", link.code, "--out", "poster.gif")).toMatchObject({ code: 2 });
      const missing = join(tempFolder("qr"), "nowhere", "poster.svg");
      expect((await site.cli("link", "qr", link.code, "--out", missing)).stderr).toContain("Cannot write");
    });
  });
}

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
