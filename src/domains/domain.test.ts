import { expect, test } from "bun:test";
import { parseHost } from "./domain.ts";

test.each([
  ["links.example.com", "links.example.com"],
  ["Links.Example.COM.", "links.example.com"],
  [" go.bücher.example ", "go.xn--bcher-kva.example"],
])("%j is the host %s", (given, host) => {
  expect(parseHost(given)).toBe(host);
});

test.each([
  "",
  "localhost",
  "example",
  "https://example.com",
  "example.com/path",
  "example.com:8080",
  "user@example.com",
  "127.0.0.1",
  "2130706433",
  "0x7f.1",
  "[::1]",
  "-a.example.com",
  "a..example.com",
  "*.example.com",
  "a_b.example.com",
  "example.com\r\nHost: other",
  `${"a".repeat(64)}.example.com`,
  `${"abcdefghi.".repeat(26)}com`,
])("%j is no host for links", (given) => {
  expect(parseHost(given)).toBeUndefined();
});
