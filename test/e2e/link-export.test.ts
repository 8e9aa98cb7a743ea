/** All links that match as one table. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readCsv } from "../../src/import-export/csv.ts";
import { databases, type ProblemBody, type Site, startSite } from "./servers.ts";

describe.each(databases)("on %s", (database) => {
  let site: Site;
  let otherKey: string;
  /** Several pages of the export, and a rest. */
  const count = 450;

  beforeAll(async () => {
    site = await startSite(database);
    otherKey = await site.tenant("other");
    const links = Array.from({ length: count }, (_, place) => ({
      ...{
        url: `https://example.com/${place}`,
        code: `export-${place}`,
        tags: place % 3 === 0 ? ["third", "all"] : ["all"],
      },
      title: place === 0 ? '=1+1, "quoted"' : null,
    }));
    expect((await site.call("POST", "/api/links/bulk", { body: { links, atomic: true } })).status).toBe(200);
    const foreign = { url: "https://example.com/foreign", code: "foreign" };
    expect((await site.call("POST", "/api/links", { key: otherKey, body: foreign })).status).toBe(201);
  }, 60_000);

  afterAll(async () => {
    expect(await site.server.stop()).toBe(0);
  });

  async function rows(query = "", key?: string): Promise<string[][]> {
    const reply = await site.call("GET", `/api/links/export${query}`, key === undefined ? {} : { key });
    expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "text/csv;charset=utf-8"]);
    const found: string[][] = [];
    for await (const rows of readCsv(one(reply.text))) {
      for (const row of rows) if ("value" in row) found.push(row.value);
    }
    return found;
  }

  test("has every link once, in order, and nothing of another workspace", async () => {
    const [title = [], ...links] = await rows("?sort=createdAt&order=asc");
    const urls = links.map((cells) => cells[title.indexOf("url")]);
    expect(links.length).toBe(count);
    expect(new Set(urls).size).toBe(count);
    expect(urls).not.toContain("https://example.com/foreign");
    const newestFirst = (await rows()).slice(1).map((cells) => cells[title.indexOf("url")]);
    expect(newestFirst).toEqual(urls.toReversed());
    expect((await rows("", otherKey)).length).toBe(2);
  });

  test("takes the filters of the list, and disarms formulas", async () => {
    const [title = [], ...thirds] = await rows("?tag=third&sort=clicks&order=desc");
    expect(thirds.length).toBe(count / 3);
    expect(new Set(thirds.map((cells) => cells[title.indexOf("tags")]))).toEqual(new Set(["third, all"]));
    const formula = thirds.find((cells) => cells[title.indexOf("url")] === "https://example.com/0");
    expect(formula?.[title.indexOf("title")]).toBe(`'=1+1, "quoted"`);
    expect((await rows("?search=no-such-thing")).length).toBe(1);
  });

  test("names a parameter that it does not know", async () => {
    const reply = await site.call("GET", "/api/links/export?cursor=x");
    expect(reply.json<ProblemBody>().errors?.map(({ field }) => field)).toEqual(["cursor"]);
  });
});

async function* one(text: string): AsyncGenerator<string> {
  yield text;
}
