import { expect, test } from "bun:test";
import { cacheKey, keyOfPath, ownDomain, splitKey } from "./link.ts";

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
