import { describe, expect, test } from "bun:test";
import type { TargetFile } from "../links/link.ts";
import { formerForm, linkForm } from "./form.ts";
import type { Known } from "./resolve.ts";

const file: TargetFile = {
  ...{ key: "stored/ten_1/fil_1", name: "Grüße.pdf", type: "application/pdf", sizeBytes: 12 },
  sha256: "ab".repeat(32),
};
const known = (more: Partial<Known>): Known => ({
  ...{ url: "https://example.com/", file: null, permanent: false, expiresAt: null, fallbackUrl: null },
  ...{ password: false, hitsMax: null, choice: null, pattern: undefined, ...more },
});
const plain = known({});
const ruled: Known = {
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
const json = (value: Known) => JSON.parse(JSON.stringify(linkForm.toJson(value))) as Record<string, unknown>;
const back = (value: Known) => linkForm.fromJson(json(value));

describe("a link in the shared cache", () => {
  test.each([
    plain,
    ruled,
    known({ permanent: true, expiresAt: 5, fallbackUrl: "https://example.com/sorry", hitsMax: 7, password: true }),
    known({ suspended: true }),
    known({ url: "", file }),
    known({ url: "", file: { ...file, sha256: null } }),
  ])("comes back as it went: %#", (value) => {
    expect(back(value)).toEqual(value);
  });

  test("that was written before there were files is read as ever", () => {
    expect(linkForm.fromJson({ u: "https://example.com/", p: false })).toEqual(known({}));
  });

  test("to a file has no address that a server of the version before could send visitors to", () => {
    expect(linkForm.toJson(known({ url: "", file }))).not.toHaveProperty("u");
  });

  test.each([
    [{ p: false }],
    [{ u: "", p: false, d: { k: "x" } }],
    [{ p: false, d: null }],
    [{ d: { k: 1 }, p: false }],
  ])("that makes no sense is refused: %j", (json) => {
    expect(() => linkForm.fromJson(json)).toThrow();
  });

  test("takes no more room for rules that it has not", () => {
    expect(JSON.stringify(linkForm.toJson(plain))).toBe('{"u":"https://example.com/","p":false}');
  });

  test("that says more than this version knows is not read as if it did not", () => {
    expect(() => linkForm.fromJson({ ...json(plain), z: 1 })).toThrow("more than this version knows");
    expect(() => linkForm.fromJson({ ...json(plain), s: "x" })).toThrow();
    expect(() => linkForm.fromJson({ ...json(plain), r: {} })).toThrow();
  });

  test("with a rule of a newer version loses that rule, and not its condition", () => {
    const rules = [{ when: { moon: ["full"] }, url: "https://example.com/" }, ...(ruled.choice?.rules ?? [])];
    expect(linkForm.fromJson({ ...json(plain), r: rules })?.choice?.rules).toEqual(ruled.choice?.rules ?? []);
  });

  test("in the form before, which knows of no rules, tells nothing but its version", () => {
    expect(formerForm.name).not.toBe(linkForm.name);
    expect(formerForm.fromJson(json(plain))).toBeUndefined();
  });
});
