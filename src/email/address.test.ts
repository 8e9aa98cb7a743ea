import { expect, test } from "bun:test";
import { parseAddress, parseMailbox } from "./address.ts";

test.each([
  ["ann@example.com", "ann@example.com"],
  ["Ann.O'Neil+links@Example.COM", "Ann.O'Neil+links@example.com"],
  ["ann@bücher.example", "ann@xn--bcher-kva.example"],
  ["用户@例え.jp", "用户@xn--r8jz45g.jp"],
  ["ann@localhost", "ann@localhost"],
])("%s is kept as %s", (given, kept) => {
  expect(parseAddress(given)).toBe(kept);
});

test.each([
  "",
  "ann",
  "@example.com",
  "ann@",
  "ann@@example.com",
  "a@b@example.com",
  ".ann@example.com",
  "an..n@example.com",
  "ann@example..com",
  "ann@example.com/path",
  "ann@example.com:25",
  "ann@example.com?x",
  "ann@-example.com",
  "ann@[127.0.0.1]",
  '"an n"@example.com',
  "ann (comment)@example.com",
  "ann@example.com\r\nBcc: all@example.com",
  "ann\n@example.com",
  "an\u0000n@example.com",
  "an\u202en@example.com",
  "an\u00a0n@example.com",
  "an\ud800n@example.com",
  "ann@example.com, eve@example.com",
  "<ann@example.com>",
  `${"a".repeat(65)}@example.com`,
  `ann@${"a".repeat(64)}.com`,
  `ann@${"abcdefghi.".repeat(26)}com`,
])("%j is no address", (given) => {
  expect(parseAddress(given)).toBeUndefined();
});

test("a mailbox has a name or none", () => {
  expect(parseMailbox("Links <links@example.com>")).toEqual({ name: "Links", address: "links@example.com" });
  expect(parseMailbox(" links@example.com ")).toEqual({ name: null, address: "links@example.com" });
  expect(() => parseMailbox("Links\r\nBcc: a@b <links@example.com>")).toThrow("is not an address");
});
