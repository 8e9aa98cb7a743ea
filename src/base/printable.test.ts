import { expect, test } from "bun:test";
import { printable, printableLines } from "./printable.ts";

test.each([
  ["plain text, Ünïcödé 🚀 and 👩\u200d🚀", "plain text, Ünïcödé 🚀 and 👩\u200d🚀"],
  ["over\rwritten", "over\\u000dwritten"],
  ["two\nlines\tapart", "two\\u000alines\\u0009apart"],
  ["\u001b[2Jcleared \u009b1m", "\\u001b[2Jcleared \\u009b1m"],
  ["\u0007\u0008\u007f\u0000", "\\u0007\\u0008\\u007f\\u0000"],
  ["moc\u202e.elpmaxe \u2066a\u2069 \u200f", "moc\\u202e.elpmaxe \\u2066a\\u2069 \\u200f"],
  ["a\u2028b\u2029c\u0085d", "a\\u2028b\\u2029c\\u0085d"],
  ["half \ud83d", "half \ufffd"],
])("%j is shown as %j", (text, shown) => {
  expect(printable(text)).toBe(shown);
});

test("a layout of our own keeps its lines and columns, and nothing else", () => {
  expect(printableLines("a\tb\nc\r\u001b[1A")).toBe("a\tb\nc\\u000d\\u001b[1A");
});
