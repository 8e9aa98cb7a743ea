import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { LinkId, TenantId } from "../base/ids.ts";
import { parseNewLink } from "../links/api.ts";
import type { Link } from "../links/link.ts";
import { exportLinks } from "./export.ts";
import type { Fields } from "./formats.ts";
import { readRecords } from "./records.ts";
import type { Row } from "./row.ts";
import { textOf } from "./text.ts";

const seen: string[] = [];

async function read(content: string | Uint8Array): Promise<Row<Fields>[]> {
  async function* bytes() {
    yield typeof content === "string" ? new TextEncoder().encode(content) : content;
  }
  const rows: Row<Fields>[] = [];
  const recognised = (format: string, passedOver: readonly string[]) => seen.push([format, ...passedOver].join(" "));
  for await (const row of readRecords(textOf(bytes()), { recognised })) rows.push(row);
  return rows;
}

const values = async (content: string | Uint8Array) =>
  (await read(content)).map((row) => ("value" in row ? row.value : `${row.line}: ${row.problem}`));

describe("our own", () => {
  test("columns are found by name, in any order and case; what is not known is said", async () => {
    expect(
      await values('\ufeffURL,Mood,expiresat,Tags,permanent\nhttps://example.com/,good,2027-01-31,"a, b",yes\n'),
    ).toEqual([
      { url: "https://example.com/", expiresAt: "2027-01-31T00:00:00.000Z", tags: ["a", "b"], permanent: true },
    ]);
    expect(seen.at(-1)).toBe("quicklink Mood");
  });

  test("a row with too few cells, or bytes that are no UTF-8, is refused by its line", async () => {
    const bytes = Buffer.concat([
      Buffer.from("url,title\nhttps://example.com/\nhttps://example.com/,Caf"),
      Buffer.from([0xe9]),
      Buffer.from("\nhttps://example.com/,fine\n"),
    ]);
    expect(await values(bytes)).toEqual([
      "2: has 1 cells, and there are 2 columns",
      "3: has bytes that are not UTF-8",
      { url: "https://example.com/", title: "fine" },
    ]);
  });

  test("lines of JSON are as the API takes them, and what the API shows besides is passed over", async () => {
    const line = {
      id: "lnk_1",
      domain: "x",
      shortUrl: "y",
      version: 3,
      updatedAt: "z",
      url: "https://example.com/",
      title: null,
    };
    expect(await values(`${JSON.stringify(line)}\n[1]\n`)).toEqual([
      { url: "https://example.com/", title: null },
      "2: is not an object",
    ]);
  });
});

describe("a file that is not what it should be is refused as a whole, with what to do", () => {
  test.each([
    ["UTF-16", Buffer.from("\ufeffurl\nhttps://example.com/\n", "utf16le"), /UTF-16/],
    ["UTF-16 without a mark", Buffer.from("url\nhttps://example.com/\n", "utf16le"), /UTF-16/],
    ["nothing", "", /empty/],
    ["no address", "name,age\nx,1\n", /no url, but name, age/],
    ["semicolons", "url;title\nhttps://example.com/;x\n", /separated by commas/],
    ["a page of Bitly's API", '{"links":[],"pagination":{}}\n', /jq -c '\.links\[\]'/],
    ["a broken head", '"url,title\nhttps://example.com/,x\n', /Line 1, which names the columns/],
  ])("%s", async (_, content, sentence) => {
    await expect(read(content)).rejects.toThrow(sentence);
  });
});

const link = fc.record({
  id: fc.constant("lnk_0" as LinkId),
  tenantId: fc.constant("ten_0" as TenantId),
  domain: fc.constant(""),
  code: fc.stringMatching(/^[A-Za-z0-9_-]{3,64}$/),
  url: fc.webUrl({ withQueryParameters: true }).map((text) => new URL(text).href),
  permanent: fc.boolean(),
  status: fc.constantFrom("active" as const, "disabled" as const),
  expiresAt: fc.option(fc.integer({ min: 0, max: 4e12 })),
  title: fc.option(oneLine(200)),
  notes: fc.option(oneLine(100).map((text) => `${text}\nand "more",\r\n=1+1`)),
  tags: fc.uniqueArray(oneLine(50), { maxLength: 5 }),
  fallbackUrl: fc.option(fc.webUrl()),
  hitsPerMonth: fc.option(fc.integer({ min: 1, max: 1_000_000_000 })),
  version: fc.constant(1),
  createdAt: fc.integer({ min: 0, max: 4e12 }),
  updatedAt: fc.constant(0),
});

/** As the API takes them: not blank, no control characters. */
function oneLine(most: number) {
  const dangerous = fc.constantFrom("=SUM(1)", "+1", "-1", "@x", "'=x", "''@", "[a]", "a,b", " x ");
  const any = fc.string({ unit: "grapheme", minLength: 1, maxLength: most / 4 });
  return fc
    .oneof(any, dangerous)
    .filter((text) => text.trim() !== "" && !/[\p{Cc}\ufffd]/u.test(text) && text.isWellFormed());
}

describe.each(["csv", "jsonl"] as const)("what is exported as %s", (format) => {
  test("is imported as it was", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(link, { minLength: 1, maxLength: 5 }), async (links) => {
        let text = "";
        const more = { file: null, rules: [], split: [], utm: null, forwardQuery: false, password: false };
        const store = { listUp: async (): Promise<Link[]> => links.map((link) => ({ ...more, ...link })) };
        for await (const page of exportLinks(store, "ten_0" as TenantId, format)) text += page.text;
        const back = (await values(text)).map((value) => {
          if (typeof value === "string") throw new Error(value);
          const { createdAt, ...sent } = value;
          const read = parseNewLink(sent);
          return {
            title: null,
            notes: null,
            tags: [],
            fallbackUrl: null,
            hitsPerMonth: null,
            ...read,
            createdAt: Date.parse(String(createdAt)),
          };
        });
        const fields = links.map(({ id: _i, tenantId: _t, domain: _d, version: _v, updatedAt: _u, ...rest }) => rest);
        expect(back as unknown).toEqual(fields);
      }),
      { numRuns: 300 },
    );
  });
});
