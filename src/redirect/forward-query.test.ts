import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { sentMost, withUtm } from "../links/routing/utm.ts";
import { addVisitorQuery, queryOf } from "./forward-query.ts";

describe("forwarded parameters", () => {
  test.each([
    ["https://example.com/", "a=1&b=2", "https://example.com/?a=1&b=2"],
    ["https://example.com/?x=%20y", "a=1", "https://example.com/?x=%20y&a=1"],
    ["https://example.com/?a=own", "a=1&a=2&b=3", "https://example.com/?a=own&b=3"],
    ["https://example.com/?", "a=1", "https://example.com/?a=1"],
    ["https://example.com/?x&", "a=1", "https://example.com/?x&a=1"],
    ["https://example.com/#top", "a=1", "https://example.com/?a=1#top"],
    ["https://example.com/#what?", "a=1", "https://example.com/?a=1#what?"],
    ["https://example.com/", "a=%0d%0aSet-Cookie:x", "https://example.com/?a=%0D%0ASet-Cookie%3Ax"],
    ["https://example.com/", "a=1&a=2", "https://example.com/?a=1&a=2"],
    ["https://example.com/", "", "https://example.com/"],
    ["https://example.com/", "qr", "https://example.com/"],
    ["https://example.com/", "qr=&a=1", "https://example.com/?a=1"],
    ["https://example.com/", "qr=7&a=1", "https://example.com/?qr=7&a=1"],
  ])("stand behind those of the address: %s with %s", (url, query, expected) => {
    expect(addVisitorQuery(url, query)).toBe(expected);
  });

  test("are left out if the address gets too long", () => {
    expect(addVisitorQuery("https://example.com/?own=1", `a=${"x".repeat(sentMost)}`)).toBe(
      "https://example.com/?own=1",
    );
    expect(addVisitorQuery("https://example.com/", `a=${"ü".repeat(1_000)}`)).toBe("https://example.com/");
  });

  test("never change host, path, fragment or the address's own parameters, and it stays plain ASCII", () => {
    const url = "https://example.com/p/a?own=1&%61=2#frag";
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (query) => {
        const sent = addVisitorQuery(url, query);
        const parsed = new URL(sent);
        return (
          parsed.href === sent &&
          sent.startsWith("https://example.com/p/a?own=1&%61=2") &&
          parsed.hash === "#frag" &&
          parsed.searchParams.getAll("own").join() === "1" &&
          parsed.searchParams.getAll("a").join() === "2" &&
          /^[\x21-\x7e]+$/.test(sent) &&
          sent.length <= sentMost
        );
      }),
      { numRuns: 2_000 },
    );
  });
});

test("a query is what follows the question mark", () => {
  expect(["http://h/abc", "http://h/abc?", "http://h/abc?a=1?b"].map(queryOf)).toEqual(["", "", "a=1?b"]);
});

test("UTM parameters are added unless the address has them", () => {
  const utm = { source: "a b", campaign: "ü" };
  expect(withUtm("https://example.com/", utm)).toBe("https://example.com/?utm_source=a+b&utm_campaign=%C3%BC");
  expect(withUtm("https://example.com/?utm_source=x", utm)).toBe(
    "https://example.com/?utm_source=x&utm_campaign=%C3%BC",
  );
  expect(withUtm("https://example.com/", null)).toBe("https://example.com/");
});
