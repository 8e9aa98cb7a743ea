import { expect, test } from "bun:test";
import fc from "fast-check";
import { targetOf } from "./request-target.ts";

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
])("the path and query of %j are found whatever stands for the host", (url, path, query) => {
  expect(targetOf(url)).toEqual({ path, query });
});

test("they are those that URL finds, where it finds any", () => {
  const address = fc.webUrl({ withQueryParameters: true });
  fc.assert(
    fc.property(address, (text) => {
      const { href, pathname, search } = new URL(text);
      const { path, query } = targetOf(href);
      return path === pathname && (query === search || (query === "?" && search === ""));
    }),
  );
});
