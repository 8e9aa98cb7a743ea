import { describe, expect, test } from "bun:test";
import type { ClickTarget, MeteredTarget, TargetFile } from "../links/link.ts";
import type { LinkNumber, TenantNumber } from "../sql/schema.ts";
import { linkForm } from "./cache-format.ts";
import { type CachedLink, cachedLink } from "./link-source.ts";

const file: TargetFile = {
  ...{ key: "stored/ten_1/fil_1", name: "Grüße.pdf", type: "application/pdf", sizeBytes: 12 },
  sha256: "ab".repeat(32),
};
const clicks: ClickTarget = { link: 7 as LinkNumber, tenant: -3 as TenantNumber, tags: [], facts: true };
const known = (more: Partial<MeteredTarget>): CachedLink =>
  cachedLink({
    ...{ url: "https://example.com/", file: null, permanent: false, expiresAt: null, fallbackUrl: null },
    ...{ password: false, suspended: false, hitsPerMonth: null, choice: null, clicks, ...more },
  });
const plain = known({});
const ruled: CachedLink = {
  ...plain,
  choice: {
    rules: [{ when: { country: ["DE"], from: 5 }, url: "https://example.com/de" }],
    split: [
      { url: "https://example.com/a", weight: 1 },
      { url: "https://example.com/b", weight: 2 },
    ],
    forwardQuery: true,
  },
};
const json = (value: CachedLink) => JSON.parse(JSON.stringify(linkForm.toJson(value))) as Record<string, unknown>;
const back = (value: CachedLink) => linkForm.fromJson(json(value));

describe("a link in the shared cache", () => {
  test.each([
    plain,
    ruled,
    known({ permanent: true, expiresAt: 5, fallbackUrl: "https://example.com/sorry", hitsPerMonth: 7, password: true }),
    known({ suspended: true }),
    known({ hitsPerMonth: 0, expiresAt: 0 }),
    known({ clicks: { ...clicks, tags: ["spring", "ü"] } }),
    known({ clicks: { ...clicks, facts: false } }),
    known({ clicks: { ...clicks, tags: ["spring"], facts: false } }),
    known({ url: "", file }),
    known({ url: "", file: { ...file, sha256: null } }),
  ])("comes back as it went: %#", (value) => {
    expect(back(value)).toEqual(value);
  });

  test.each([
    [null],
    [[]],
    [{}],
    [{ p: 1 }],
    [{ n: [7, -3] }],
    [{ n: [7, -3], u: 7 }],
    [{ n: [7, -3], u: "https://example.com/", p: true }],
    [{ n: [7, -3], u: "https://example.com/", e: null }],
    [{ n: [7, -3], u: "https://example.com/", d: { k: "x", n: "x", t: "x", s: 1 } }],
    [{ n: [7, -3], d: { k: "x" } }],
    [{ n: [7, -3], d: null }],
    [{ u: "https://example.com/" }],
    [{ u: "https://example.com/", n: {} }],
    [{ u: "https://example.com/", n: [7] }],
    [{ u: "https://example.com/", n: ["7", -3] }],
    [{ u: "https://example.com/", n: [7, -3, "spring"] }],
    [{ u: "https://example.com/", n: [7, -3, [], 2] }],
    [{ u: "https://example.com/", n: [7, -3, [], 0, 1] }],
  ])("that makes no sense is refused: %j", (json) => {
    expect(() => linkForm.fromJson(json)).toThrow();
  });

  test("takes no room for what most links do not have", () => {
    expect(JSON.stringify(linkForm.toJson(plain))).toBe('{"u":"https://example.com/","n":[7,-3]}');
  });

  test("that says more than this version knows is not read as if it did not", () => {
    expect(() => linkForm.fromJson({ ...json(plain), z: 1 })).toThrow("more than this version knows");
    expect(() => linkForm.fromJson({ ...json(plain), c: { z: 1 } })).toThrow("more than this version knows");
    expect(() => linkForm.fromJson({ ...json(plain), c: { s: "x" } })).toThrow();
    expect(() => linkForm.fromJson({ ...json(plain), c: { r: {} } })).toThrow();
  });

  test("with a rule of a newer version loses that rule, and not its condition", () => {
    const rules = [{ when: { moon: ["full"] }, url: "https://example.com/" }, ...(ruled.choice?.rules ?? [])];
    expect(linkForm.fromJson({ ...json(plain), c: { r: rules } }).choice?.rules).toEqual(ruled.choice?.rules ?? []);
  });
});
