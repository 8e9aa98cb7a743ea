import { describe, expect, test } from "bun:test";
import { formerForm, linkForm } from "./form.ts";
import type { Known } from "./resolve.ts";

const plain: Known = {
  ...{ url: "https://example.com/", permanent: false, expiresAt: null, fallbackUrl: null },
  ...{ password: false, hitsMax: null, choice: null, pattern: undefined },
};
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
const json = (known: Known) => JSON.parse(JSON.stringify(linkForm.toJson(known))) as Record<string, unknown>;

describe("a link in the shared cache", () => {
  test("comes back as it was, with rules and without", () => {
    for (const known of [
      plain,
      ruled,
      { ...plain, password: true, hitsMax: 5, expiresAt: 7, fallbackUrl: "https://f/" },
    ]) {
      expect(linkForm.fromJson(json(known))).toEqual(known);
    }
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
