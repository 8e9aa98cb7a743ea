import { expect, test } from "bun:test";
import { createLanguages } from "./languages.ts";

const letters = "abcdefghijklmnopqrstuvwxyz";

test("languages that exist are known without their region, and others are none", () => {
  const languageOf = createLanguages();
  expect(["de-AT,en;q=0.5", "fil", "zh-Hant-TW", "nb", "iw", "EN-us"].map(languageOf)).toEqual([
    ...["de", "fil", "zh", "nb", "iw", "en"],
  ]);
  expect(["", "*", "zz", "qqx", "de_AT", "e", "english"].map(languageOf)).toEqual(["", "", "", "", "", "", ""]);
});

test("all codes that a stranger can make up are fewer than a thousand languages", () => {
  const languageOf = createLanguages();
  const two = [...letters].flatMap((a) => [...letters].map((b) => a + b));
  const codes = [...two, ...two.flatMap((ab) => [...letters].map((c) => ab + c))];
  const found = new Set(codes.map(languageOf));
  expect(codes).toHaveLength(18_252);
  expect(found.size).toBeGreaterThan(500);
  expect(found.size).toBeLessThan(1_000);
});
