import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { idFrom, type LinkId, type TenantId } from "../base/ids.ts";
import type { Link } from "../links/link.ts";
import { splitMost } from "../links/routing/choice.ts";
import { days, devices, type RuleCondition, rulesMostChars, systems } from "../links/routing/rules.ts";
import { parseNewLink } from "../links/schemas.ts";
import { textOf } from "./decode-text.ts";
import { exportLinks } from "./export.ts";
import type { Fields } from "./formats.ts";
import { readRecords } from "./records.ts";
import type { Row } from "./row.ts";

const seen: string[] = [];

async function read(content: string | Uint8Array): Promise<Row<Fields>[]> {
  async function* bytes() {
    yield typeof content === "string" ? new TextEncoder().encode(content) : content;
  }
  const recognised = (format: string, passedOver: readonly string[]) => seen.push([format, ...passedOver].join(" "));
  return (await Array.fromAsync(readRecords(textOf(bytes()), { recognised }))).flat();
}

const values = async (content: string | Uint8Array) =>
  (await read(content)).map((row) => ("value" in row ? row.value : `${row.line}: ${row.problem}`));

test("empty lines before the first row count, in however many pieces they come", async () => {
  async function* text() {
    for (let piece = 0; piece < 20; piece++) yield "\n".repeat(100);
    yield "url\nhttps://example.com/\nftp://example.com/,x\n";
  }
  const rows = (await Array.fromAsync(readRecords(text(), { recognised() {} }))).flat();
  expect(rows.map(({ line }) => line)).toEqual([2_002, 2_003]);
});

describe("our own", () => {
  test("columns are found by name, in any order and case; what is not known is said", async () => {
    expect(
      await values('\ufeffURL,Mood,expiresat,Tags,permanent\nhttps://example.com/,good,2027-01-31,"a, b",yes\n'),
    ).toEqual([
      { url: "https://example.com/", expiresAt: "2027-01-31T00:00:00.000Z", tags: ["a", "b"], permanent: true },
    ]);
    expect(seen.at(-1)).toBe("quicklink Mood");
  });

  test("a time without an offset is in UTC, whatever the time zone of this machine", async () => {
    const zone = process.env.TZ;
    process.env.TZ = "Asia/Kathmandu";
    try {
      const times = [
        "2031-01-31",
        "2031-01-31T10:20",
        "2031-01-31T10:20:30.5",
        "2031-01-31 10:20:30",
        "2031-01-31T10:20+0545",
      ];
      const rows = await values(`url,createdAt\n${times.map((time) => `https://example.com/,${time}\n`).join("")}`);
      expect(rows.map((row) => (row as Fields).createdAt)).toEqual([
        "2031-01-31T00:00:00.000Z",
        "2031-01-31T10:20:00.000Z",
        "2031-01-31T10:20:30.500Z",
        "2031-01-31T10:20:30.000Z",
        "2031-01-31T04:35:00.000Z",
      ]);
    } finally {
      process.env.TZ = zone ?? "UTC";
    }
  });

  test("a row with too few cells, or bytes that are not UTF-8, is refused by its line", async () => {
    const bytes = Buffer.concat([
      Buffer.from("url,title\nhttps://example.com/\nhttps://example.com/,Caf"),
      Buffer.from([0xe9]),
      Buffer.from("\nhttps://example.com/,fine\n"),
    ]);
    expect(await values(bytes)).toEqual([
      "2: has 1 cells, but there are 2 columns",
      "3: has bytes that are not UTF-8",
      { url: "https://example.com/", title: "fine" },
    ]);
  });

  test("lines of JSON are as the API takes them, and what the API shows besides is passed over", async () => {
    const line = {
      ...{ id: "lnk_1", shortUrl: "y", version: 3, updatedAt: "z", target: null, suspended: null },
      ...{ url: "https://example.com/", domain: "go.example.com", title: null, password: false },
    };
    expect(await values(`${JSON.stringify(line)}\n[1]\n`)).toEqual([
      { url: "https://example.com/", domain: "go.example.com", title: null },
      "2: is not an object",
    ]);
  });
});

describe("a password", () => {
  test("that a link had elsewhere has its row refused, because without it the link would be open", async () => {
    const refused = /^\d: password: Exports do not contain passwords\./;
    const [csv] = await values("url,password\nhttps://example.com/,true\n");
    expect(csv).toMatch(refused);
    const [line] = await values('{"url":"https://example.com/","password":true}\n');
    expect(line).toMatch(refused);
  });

  test("that is given is the new one", async () => {
    expect(await values("url,password\nhttps://example.com/,'=1+1\nhttps://example.com/,\n")).toEqual([
      { url: "https://example.com/", password: "=1+1" },
      { url: "https://example.com/" },
    ]);
  });
});

test("rules that are not JSON are refused by name", async () => {
  const [row] = await values('url,rules,utm\nhttps://example.com/,[oops,"{""source"":""x""}"\n');
  expect(row).toMatchObject({ rules: "[oops", utm: { source: "x" } });
  expect(() => parseNewLink(row)).toThrow(/rules/);
});

describe("a file that is not what it should be is refused as a whole, with what to do", () => {
  test.each([
    ["UTF-16", Buffer.from("\ufeffurl\nhttps://example.com/\n", "utf16le"), /UTF-16/],
    ["UTF-16 without a mark", Buffer.from("url\nhttps://example.com/\n", "utf16le"), /UTF-16/],
    ["nothing", "", /empty/],
    ["no address", "name,age\nx,1\n", /expected url, found name, age/],
    ["semicolons", "url;title\nhttps://example.com/;x\n", /Separate columns with commas/],
    ["a page of Bitly's API", '{"links":[],"pagination":{}}\n', /jq -c '\.links\[\]'/],
    ["a broken head", '"url,title\nhttps://example.com/,x\n', /Line 1 \(column names\)/],
  ])("%s", async (_, content, sentence) => {
    await expect(read(content)).rejects.toThrow(sentence);
  });
});

const address = fc.webUrl({ withQueryParameters: true }).map((text) => new URL(text).href);
const moment = fc.integer({ min: 0, max: 4e12 });
const some = <Item>(...items: Item[]) => fc.subarray(items, { minLength: 1 });

const when: fc.Arbitrary<RuleCondition> = fc.record(
  {
    country: some("DE", "AT", "BR"),
    device: some(...devices),
    os: some(...systems),
    language: some("de", "pt-br", "zh-hant-tw"),
    from: moment,
    until: moment,
    hours: fc.record(
      {
        zone: fc.constantFrom("Europe/Berlin", "America/Sao_Paulo", "UTC"),
        days: some(...days),
        fromMinute: fc.integer({ min: 0, max: 1_439 }),
        untilMinute: fc.integer({ min: 0, max: 1_440 }),
      },
      { requiredKeys: ["zone", "fromMinute", "untilMinute"] },
    ),
    query: fc.record({ name: oneLine(100), value: fc.string({ maxLength: 20 }) }, { requiredKeys: ["name"] }),
  },
  { requiredKeys: [] },
);

const utm = fc
  .record(
    { source: oneLine(100), medium: oneLine(100), campaign: oneLine(100), term: oneLine(100), content: oneLine(100) },
    { requiredKeys: [] },
  )
  .filter((one) => Object.keys(one).length > 0);

const destined = fc.oneof(
  fc.record({ url: address, file: fc.constant(null) }),
  fc.record({ url: fc.constant(""), file: moment.map((at) => idFrom("file", at, new Uint8Array(16))) }),
);

const fields = fc.record({
  id: fc.constant("lnk_0" as LinkId),
  tenantId: fc.constant("ten_0" as TenantId),
  domain: fc.constantFrom("", "go.example.com", "own.example"),
  code: fc.stringMatching(/^[A-Za-z0-9_-]{3,64}$/),
  permanent: fc.boolean(),
  status: fc.constantFrom("active" as const, "disabled" as const),
  expiresAt: fc.option(moment),
  title: fc.option(oneLine(200)),
  notes: fc.option(oneLine(100).map((text) => `${text}\nand "more",\r\n=1+1`)),
  tags: fc.uniqueArray(oneLine(50), { maxLength: 5 }),
  fallbackUrl: fc.option(fc.webUrl()),
  hitsPerMonth: fc.option(fc.integer({ min: 1, max: 1_000_000_000 })),
  clickFacts: fc.boolean(),
  rules: fc.array(fc.record({ when, url: address }), { maxLength: 3 }),
  split: fc.array(fc.record({ url: address, weight: fc.integer({ min: 1, max: 1_000 }) }), { maxLength: 3 }),
  utm: fc.option(utm),
  forwardQuery: fc.boolean(),
  password: fc.boolean(),
  version: fc.constant(1),
  createdAt: moment,
  updatedAt: fc.constant(0),
});

const link: fc.Arbitrary<Link> = fc.tuple(fields, destined).map(([one, other]) => ({ ...one, ...other }));

/** The defaults of a new link. */
const unsaid = {
  ...{ title: null, notes: null, tags: [], fallbackUrl: null, hitsPerMonth: null, clickFacts: true },
  ...{ rules: [], split: [], utm: null, forwardQuery: false },
};

/** As the API accepts them: not blank, no control characters. */
function oneLine(most: number) {
  const dangerous = fc.constantFrom("=SUM(1)", "+1", "-1", "@x", "'=x", "''@", "[a]", "a,b", " x ");
  const any = fc.string({ unit: "grapheme", minLength: 1, maxLength: most / 4 });
  return fc
    .oneof(any, dangerous)
    .filter((text) => text.trim() !== "" && !/[\p{Cc}\ufffd]/u.test(text) && text.isWellFormed());
}

describe.each(["csv", "jsonl"] as const)("what is exported as %s", (format) => {
  test("is imported unchanged, except for links with a password, which are refused by their line", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(link, { minLength: 1, maxLength: 5 }), async (links) => {
        let text = "";
        for await (const page of exportLinks({ listUp: async () => links }, "ten_0" as TenantId, format)) {
          text += page.text;
        }
        const back = (await read(text)).map((row) => {
          if ("problem" in row) return row.problem.split(":")[0];
          const { createdAt, ...sent } = row.value;
          return { ...unsaid, ...parseNewLink(sent), createdAt: Date.parse(String(createdAt)) };
        });
        const expected = links.map(({ id: _i, tenantId: _t, version: _v, updatedAt: _u, password, ...rest }) =>
          password ? "password" : { ...rest, domain: rest.domain || null },
        );
        expect(back as unknown).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  test("is all of it, page by page", async () => {
    const [one] = fc.sample(link, 1) as [Link];
    const all = Array.from({ length: 2_000 }, (_, i) => ({ ...one, id: String(i).padStart(4, "0") as LinkId }));
    const listUp = async (_: TenantId, limit: number, after = "" as LinkId) =>
      all.filter(({ id }) => id > after).slice(0, limit);
    let links = 0;
    for await (const page of exportLinks({ listUp }, "ten_0" as TenantId, format)) links += page.links;
    expect(links).toBe(2_000);
  });

  test("fits into a row at the longest that links can be", async () => {
    const longest = (length: number) => `https://example.com/${"x".repeat(length - 20)}`;
    const quotes = (length: number) => '"'.repeat(length);
    const rule = { when: { query: { name: quotes(100), value: quotes(200) } }, url: longest(100) };
    const [one] = fc.sample(link, 1);
    const full = {
      ...(one as Link),
      ...{ url: longest(2_048), file: null, fallbackUrl: longest(2_048), password: false },
      ...{ title: quotes(200), notes: quotes(2_000), tags: Array.from({ length: 20 }, (_, i) => quotes(48) + i) },
      rules: Array.from({ length: Math.floor(rulesMostChars / JSON.stringify(rule).length) }, () => rule),
      split: Array.from({ length: splitMost }, () => ({ url: longest(2_048), weight: 1_000 })),
      utm: { source: quotes(200), medium: quotes(200), campaign: quotes(200), term: quotes(200), content: quotes(200) },
    };
    let text = "";
    for await (const page of exportLinks({ listUp: async () => [full] }, "ten_0" as TenantId, format))
      text += page.text;
    expect(await values(text)).toEqual([expect.objectContaining({ title: full.title, utm: full.utm })]);
  });
});
