import { expect, test } from "bun:test";
import { readJsonLines } from "./json-lines.ts";
import { rowMost } from "./row.ts";

async function read(text: string, size = 7): Promise<string[]> {
  async function* pieces() {
    for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
  }
  const rows = (await Array.fromAsync(readJsonLines(pieces()))).flat();
  return rows.map((row) => `${row.line} ${"value" in row ? JSON.stringify(row.value) : row.problem}`);
}

test("one value per line, with either line ending, and none needed on the last", async () => {
  expect(await read('{"a":1}\n\n{"b":2}\r\n{"c":3}')).toEqual(['1 {"a":1}', '3 {"b":2}', '4 {"c":3}']);
});

test("an invalid or endless line is reported by its number, and the others are read", async () => {
  const long = `{"a":"${"x".repeat(1_000_000)}"}`;
  const expected = ['1 {"a":1}', "2 is not JSON", `3 has more than ${rowMost} characters`, '4 {"d":4}'];
  expect(await read(`{"a":1}\n{"b":\n${long}\n{"d":4}\n`, 1_000)).toEqual(expected);
  expect(await read(`{"a":1}\n{"b":\n${long}\n{"d":4}\n`, 2_000_000)).toEqual(expected);
});
