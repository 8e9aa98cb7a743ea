import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readCsv, undisarm, writeCsv } from "./csv.ts";
import { rowMost } from "./row.ts";

async function* pieces(...texts: string[]): AsyncGenerator<string> {
  yield* texts;
}

/** Rows as `line: cells`, broken ones as `line! reason`. */
async function read(...texts: string[]): Promise<string[]> {
  const rows = (await Array.fromAsync(readCsv(pieces(...texts)))).flat();
  return rows.map((row) => ("value" in row ? `${row.line}: ${row.value.join("|")}` : `${row.line}! ${row.problem}`));
}

describe("rows", () => {
  test("end with whichever line end, also several kinds in one file", async () => {
    expect(await read("a,b\nc,d\r\ne,f\rg,h")).toEqual(["1: a|b", "2: c|d", "3: e|f", "4: g|h"]);
  });

  test("may have commas, quotes and line ends in quoted cells, and are counted by lines", async () => {
    expect(await read('"a,b","say ""hi""","two\r\nlines"\nnext,x,y\n')).toEqual([
      '1: a,b|say "hi"|two\r\nlines',
      "3: next|x|y",
    ]);
  });

  test("that are empty are none; a cell may be", async () => {
    expect(await read("a,b\n\n\r\n,\n")).toEqual(["1: a|b", "4: |"]);
  });
});

describe("a broken row takes no other with it", () => {
  test.each([
    ["a quote in a cell that does not begin with one", 'b"ad,x', "has a quote in an unquoted cell"],
    ["a quote that is closed too early", '"b"ad,x', "has text after a closing quote"],
    ["a quote that is never closed", '"bad,x', "has a quote that is never closed"],
    ["a cell of a megabyte", `${"x".repeat(1_000_000)},x`, `has more than ${rowMost} characters`],
    ["a quoted cell of a megabyte", `"${"x".repeat(1_000_000)}",x`, `has more than ${rowMost} characters`],
  ])("%s", async (_, row, why) => {
    const text = `a,1\nb,2\n${row}\nc,4\nd,5\n`;
    const expected = ["1: a|1", "2: b|2", expect.stringContaining(`3! ${why}`), "4: c|4", "5: d|5"];
    expect(await read(text)).toEqual(expected);
    // As read from a file: split at any point.
    expect(await read(...(text.match(/[\s\S]{1,1000}/g) ?? []))).toEqual(expected);
  });

  test("an open quote that runs into the next quoted cell loses its own row only", async () => {
    expect(await read('a,"open\nb,"closed"\nc,3\n')).toEqual([
      expect.stringContaining("1! has text after"),
      "2: b|closed",
      "3: c|3",
    ]);
  });
});

test("a quote that is never closed is given up after the longest row, not at the end of the file", async () => {
  let sent = 0;
  async function* endless() {
    yield 'a,"';
    for (; sent < 100 * rowMost; sent += 10_000) yield "x".repeat(10_000);
  }
  for await (const [row] of readCsv(endless())) {
    if (row === undefined) continue;
    expect(row).toMatchObject({ line: 1, problem: expect.stringContaining("never closed") });
    break;
  }
  expect(sent).toBeLessThan(2 * rowMost);
});

describe("what is written is read", () => {
  const cell = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 20 }),
    fc
      .array(fc.constantFrom("'", "=", "+", "-", "@", "\t", "\r", "\n", '"', ",", "a"), { maxLength: 8 })
      .map((some) => some.join("")),
  );
  const row = fc.array(cell, { minLength: 2, maxLength: 5 });

  test("again, cell by cell, wherever it is cut", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 8 }), fc.integer({ min: 1, max: 30 }), async (rows, size) => {
        const text = rows.map(writeCsv).join("");
        const cut: string[] = [];
        for (let at = 0; at < text.length; at += size) cut.push(text.slice(at, at + size));
        const found: string[][] = [];
        for await (const some of readCsv(pieces(...cut))) {
          for (const one of some) if ("value" in one) found.push(one.value.map(undisarm));
        }
        expect(found).toEqual(rows);
      }),
      { numRuns: 500 },
    );
  });

  test("and no cell of it is a formula to a spreadsheet", () => {
    fc.assert(
      fc.property(cell, (text) => {
        const written = writeCsv([text, ""]).replace(/^"/, "");
        expect(written).not.toMatch(/^[=+\-@\t\r]/);
      }),
      { numRuns: 500 },
    );
  });
});
