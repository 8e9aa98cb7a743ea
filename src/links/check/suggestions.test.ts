import { expect, test } from "bun:test";
import { slugPattern } from "../../codes/slugs.ts";
import { codeFrom, variantsOf } from "./suggestions.ts";

test("a text becomes the nearest code", () => {
  expect(codeFrom("Café & Bar")).toBe("Cafe-Bar");
  expect(codeFrom("  winter sale!  ")).toBe("winter-sale");
  expect(codeFrom("日本")).toBe("");
  expect(codeFrom("a".repeat(500))).toHaveLength(64);
});

test("every variant is a code that can be chosen, however long or short the wanted one is", () => {
  for (const wanted of ["", "a", "winter", "a".repeat(64), "-_-"]) {
    const variants = variantsOf(wanted, 2026);
    expect(variants.length).toBeGreaterThanOrEqual(10);
    expect(variants.filter((one) => !slugPattern.test(one))).toEqual([]);
    expect(new Set(variants).size).toBe(variants.length);
  }
});
