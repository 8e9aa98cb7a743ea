/**
 * Everything that may be wrong with a CSV file, in one file: the good rows are imported, the bad ones reported by their
 * lines.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../ground/temp.ts";
import { databases, must, query, type Site, startSite } from "./servers.ts";

const folder = tempFolder("bad-csv");
const latin1 = (text: string) => Buffer.from(text, "latin1");

/** Each row with its own line end. */
const content = Buffer.concat([
  Buffer.from("\ufeffurl,code,title\r\n"),
  Buffer.from("https://example.com/1,unix-end,One\n"),
  Buffer.from("https://example.com/2,mac-end,Two\r"),
  Buffer.from('https://example.com/3,formula,"=HYPERLINK(""http://evil.example"",""x"")"\r\n'),
  Buffer.from("=1+1,not-a-url,Formula\n"),
  latin1("https://example.com/5,latin-1,Caf\xe9\n"),
  Buffer.from(`https://example.com/6,huge-cell,${"x".repeat(1_000_000)}\n`),
  Buffer.from('https://example.com/7,broken"quote,Seven\n'),
  Buffer.from('https://example.com/8,early-end,"Eig"ht\n'),
  Buffer.from("https://example.com/9,.*(a+)+$,Nine\n"),
  Buffer.from("https://example.com/10,unix-end,Twice\n"),
  Buffer.from("https://example.com/11,last-one,Eleven"),
]);

describe.each([...databases])("a CSV file with everything wrong, into %s", (database) => {
  let site: Site;

  beforeAll(async () => {
    site = await startSite(database);
  }, 60_000);

  afterAll(() => site.server.stop());

  test("loses its bad rows only, each told by its line, and a formula goes out disarmed", async () => {
    const [path, errors, out] = ["links.csv", "errors", "out.csv"].map((name) => join(folder, `${database}-${name}`));
    writeFileSync(path ?? "", content);
    const { code, stdout } = await site.cli("import", path ?? "", "--json", "--errors", errors ?? "");
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { made: 4, present: 0, refused: 7 }]);
    const told = readFileSync(errors ?? "", "utf8")
      .trimEnd()
      .split("\n");
    expect(told.map((line) => Number.parseInt(line, 10))).toEqual([5, 6, 7, 8, 9, 10, 11]);

    const rows = await query(site.env, "select code, title from links order by code");
    expect(rows).toEqual([
      { code: "formula", title: '=HYPERLINK("http://evil.example","x")' },
      { code: "last-one", title: "Eleven" },
      { code: "mac-end", title: "Two" },
      { code: "unix-end", title: "One" },
    ]);

    must(await site.cli("export", "--out", out ?? ""));
    expect(readFileSync(out ?? "", "utf8")).toContain(`"'=HYPERLINK(""http://evil.example"",""x"")"`);
  });

  test("writes nothing in UTF-16, and says how to convert it", async () => {
    const path = join(folder, `${database}-utf16.csv`);
    writeFileSync(path, Buffer.from("\ufeffurl,code\nhttps://example.com/,wide\n", "utf16le"));
    const before = await site.rows();
    const { code, stderr } = await site.cli("import", path);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/UTF-16[\s\S]*iconv/)]);
    expect(await site.rows()).toEqual(before);
  });
});
