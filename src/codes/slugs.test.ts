import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createCodes } from "./codes.ts";
import { isReserved, slugPattern } from "./slugs.ts";

describe("a slug", () => {
  test.each(["abc", "a-b", "a_b", "___", "---", "007", "Sale", "x".repeat(64), "__proto__", "constructor"])(
    "may be %j",
    (slug) => {
      expect(slugPattern.test(slug)).toBe(true);
      expect(isReserved(slug)).toBe(false);
    },
  );

  test.each([
    "",
    "ab",
    "x".repeat(65),
    "a b",
    "a.b",
    "a/b",
    "a+b",
    "a%20b",
    "caf\u00e9",
    "\uff41\uff42\uff43",
    "abc\n",
    "\nabc",
    "ab\u0000c",
    "abc\u200b",
  ])("cannot be %j", (slug) => {
    expect(slugPattern.test(slug)).toBe(false);
  });

  test.each(["api", "API", "Api", "app", "docs", "healthz", "readyz", "metrics", "assets", "well-known", "openapi"])(
    "%j is reserved for the server, in any spelling",
    (word) => {
      expect(isReserved(word)).toBe(true);
    },
  );

  test("is reserved or not whatever its case", () => {
    const slug = fc.stringMatching(/^[A-Za-z]{3,10}$/);
    fc.assert(fc.property(slug, (text) => isReserved(text) === isReserved(text.toUpperCase())));
  });

  test("may be anything that is ever generated", () => {
    const { encode } = createCodes("a salt for tests, and only for them");
    fc.assert(fc.property(fc.nat(), (n) => slugPattern.test(encode(n))));
  });
});
