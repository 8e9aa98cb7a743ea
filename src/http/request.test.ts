import { describe, expect, test } from "bun:test";
import { BlockList } from "node:net";
import fc from "fast-check";
import { loadConfig } from "../config/config.ts";
import { clientAddress, isLoopback, isTrusted, targetOf } from "./request.ts";

test.each([
  ["http://go.example.com/", "/", ""],
  ["http://go.example.com", "/", ""],
  ["http://go.example.com/abc", "/abc", ""],
  ["http://go.example.com/abc?a=/b?c", "/abc", "?a=/b?c"],
  ["http://go.example.com/?", "/", "?"],
  ["http://go.example.com//evil.example/a", "//evil.example/a", ""],
  ['http://a b<>"/abc', "/abc", ""],
  ["http://[::1/abc", "/abc", ""],
  ["http:///abc", "/abc", ""],
  ["http://host:99999/abc", "/abc", ""],
  ["/abc?d", "/abc", "?d"],
])("the path and query of %j are found, whatever the host is", (url, path, query) => {
  expect(targetOf(url)).toEqual({ path, query });
});

test("path and query are those that URL finds, if it can parse the text", () => {
  const address = fc.webUrl({ withQueryParameters: true });
  fc.assert(
    fc.property(address, (text) => {
      const { href, pathname, search } = new URL(text);
      const { path, query } = targetOf(href);
      return path === pathname && (query === search || (query === "?" && search === ""));
    }),
  );
});

const trusting = (list: string) => loadConfig({ QL_TRUSTED_PROXIES: list }, "/nonexistent").QL_TRUSTED_PROXIES;
const nobody = new BlockList();
const ours = trusting("127.0.0.1, 10.0.0.0/8, 2001:db8::/32");

describe("the client's address", () => {
  const cases: [string, string | undefined, string | null, BlockList, string | undefined][] = [
    ["the peer, when no proxy is trusted", "203.0.113.7", "198.51.100.1", nobody, "203.0.113.7"],
    ["the peer, when it is not one of ours, whatever it claims", "203.0.113.7", "198.51.100.1", ours, "203.0.113.7"],
    ["the peer, when our proxy says nothing", "127.0.0.1", null, ours, "127.0.0.1"],
    ["the one that our proxy names", "127.0.0.1", "198.51.100.1", ours, "198.51.100.1"],
    [
      "the last one that is not ours, whatever was claimed before",
      "10.1.2.3",
      "8.8.8.8, 198.51.100.1",
      ours,
      "198.51.100.1",
    ],
    [
      "the one in front of a chain of our proxies",
      "127.0.0.1",
      "8.8.8.8, 198.51.100.1, 10.9.9.9",
      ours,
      "198.51.100.1",
    ],
    ["the peer, when the chain is ours to its end", "127.0.0.1", "10.1.1.1, 10.2.2.2", ours, "127.0.0.1"],
    ["the peer, when the header is not addresses", "127.0.0.1", "unknown", ours, "127.0.0.1"],
    ["the peer, when the last hop is no address", "127.0.0.1", "198.51.100.1, <script>", ours, "127.0.0.1"],
    ["the peer, when the header is empty", "127.0.0.1", "", ours, "127.0.0.1"],
    ["the one that our proxy on IPv6 names", "2001:db8::1", "2001:db9::5", ours, "2001:db9::5"],
    [
      "the one that our proxy names, seen through a dual-stack socket",
      "::ffff:10.0.0.1",
      "198.51.100.1",
      ours,
      "198.51.100.1",
    ],
    ["the one before a port", "127.0.0.1", "198.51.100.1:4711", ours, "198.51.100.1"],
    ["the one in brackets", "127.0.0.1", "[2001:db9::5]", ours, "2001:db9::5"],
    ["the one in brackets before a port", "127.0.0.1", "[2001:db9::5]:443", ours, "2001:db9::5"],
    [
      "the one in front of our proxies, each with its port",
      "127.0.0.1",
      "8.8.8.8:53, [2001:db9::5]:443, [2001:db8::7]:8080, [2001:db8::8], 10.9.9.9:1",
      ours,
      "2001:db9::5",
    ],
    ["all of a plain IPv6 address, which has no port", "127.0.0.1", "2001:db9::5:443", ours, "2001:db9::5:443"],
    [
      "all of an IPv6 address that ends in an IPv4 address",
      "127.0.0.1",
      "::ffff:198.51.100.1",
      ours,
      "::ffff:198.51.100.1",
    ],
    ["none, when the socket is gone", undefined, "198.51.100.1", ours, undefined],
  ];

  test.each(cases)("is %s", (_, peer, header, trusted, client) => {
    expect(clientAddress(peer, header, trusted)).toBe(client as string);
  });
});

test.each([
  ...[
    "198.51.100.1:",
    "198.51.100.1:x",
    "198.51.100.1:123456",
    "198.51.100.1:80:80",
    "198.51.100:80",
    "198.51.100.256:80",
  ],
  ...[
    ":80",
    "2001:db9::5]:443",
    "[2001:db9::5",
    "[2001:db9::5]443",
    "[2001:db9::5]:",
    "[2001:db9::5]:x",
    "[[2001:db9::5]]",
  ],
  ...["[198.51.100.1]", "[198.51.100.1]:80", "[]", "[]:80", "[unknown]:80", "unknown:80", "::ffff:198.51.100.1:80"],
  ...["198.51.100.1 :80", "198.51.100.1:80 8.8.8.8", "1:2:3:4:5:6:7:8:443"],
])("a hop that is no address, with or without a port, names no client: %j", (hop) => {
  expect(clientAddress("127.0.0.1", hop, ours)).toBe("127.0.0.1");
  expect(clientAddress("127.0.0.1", `198.51.100.9, ${hop}`, ours)).toBe("127.0.0.1");
});

test("an address is the same with and without a port", () => {
  const v4 = fc.ipV4().map((address) => [address, `${address}:`] as const);
  const v6 = fc.ipV6().map((address) => [address, `[${address}]:`] as const);
  fc.assert(
    fc.property(fc.oneof(v4, v6), fc.nat(65_535), ([plain, before], port) => {
      const own = [plain, `${before}${port}`].map((hop) => clientAddress("127.0.0.1", `${hop}, 10.0.0.1:80`, ours));
      return own[0] === own[1];
    }),
  );
});

test("a proxy is trusted by its address or range, and by nothing else", () => {
  const addresses = ["127.0.0.1", "10.255.0.1", "::ffff:10.0.0.1", "2001:db8:ffff::1"];
  expect(addresses.filter((address) => isTrusted(address, ours))).toEqual(addresses);
  const strangers = [
    "127.0.0.2",
    "11.0.0.1",
    "2001:db9::1",
    "::1",
    "",
    "localhost",
    "10.0.0.1, 8.8.8.8",
    "10.0.0.1:80",
  ];
  expect(strangers.filter((address) => isTrusted(address, ours))).toEqual([]);
});

test("loopback addresses are recognized", () => {
  expect(["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"].filter((address) => !isLoopback(address))).toEqual([]);
  expect([undefined, "", "128.0.0.1", "10.127.0.1", "::2", "::ffff:10.0.0.1"].filter(isLoopback)).toEqual([]);
});
