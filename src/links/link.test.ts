import { expect, test } from "bun:test";
import { cacheKey, keyOfPath, ownDomain, shortUrl, splitKey } from "./link.ts";

test("a path with a slash in it names no link, on no domain", () => {
  for (const domain of [ownDomain, "links.acme.example"]) {
    for (const path of ["links.acme.example/sale", "/sale", "sale/", "/"]) {
      expect(keyOfPath(domain, path)).toBeUndefined();
      expect(() => cacheKey(domain, path)).toThrow("slash");
    }
  }
});

test("a key is read back as the domain and code that it was made of", () => {
  for (const domain of [ownDomain, "links.acme.example"]) {
    expect(splitKey(cacheKey(domain, "sale"))).toEqual({ domain, code: "sale" });
  }
});

test("a link is at the server's address, or at its own domain by the same scheme", () => {
  const at = (baseUrl: string, domain: string) => shortUrl(baseUrl, { domain, code: "sale" });
  expect(at("https://go.example.com", "")).toBe("https://go.example.com/sale");
  expect(at("http://localhost:3000", "")).toBe("http://localhost:3000/sale");
  expect(at("https://go.example.com:8443", "links.acme.example")).toBe("https://links.acme.example/sale");
  expect(at("http://localhost:3000", "links.acme.example")).toBe("http://links.acme.example/sale");
});
