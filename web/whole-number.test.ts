import { expect, test } from "bun:test";
import { wholeNumberOf } from "./whole-number.ts";

test("a number is read with the separators of any language", () => {
  for (const text of ["10000", "10,000", "10.000", "10 000", "10’000", " 10000 "])
    expect(wholeNumberOf(text)).toBe(10_000);
});

test("nothing typed is null, and what is no number stays what was typed", () => {
  expect(wholeNumberOf(" ")).toBeNull();
  for (const text of ["1O", "1.5", "-1", "1e3", "ten"]) expect<unknown>(wholeNumberOf(text)).toBe(text);
});
