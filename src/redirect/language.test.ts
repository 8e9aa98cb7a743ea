import { expect, test } from "bun:test";
import { bestLanguage } from "./language.ts";

test.each([
  [null, undefined],
  ["", undefined],
  ["de", "de"],
  ["DE-at", "de-at"],
  ["en;q=0.5, de;q=0.9, fr;q=0.7", "de"],
  ["en, de", "en"],
  ["*", undefined],
  ["*, fr;q=0.1", "fr"],
  ["de;q=0", undefined],
  ["de;q=7, en;q=0.1", "en"],
  ["de;q=x, en;q=0.1", "en"],
  ["<script>, en;q=0.2", "en"],
  ["zh-Hant-TW;level=1;q=0.8", "zh-hant-tw"],
  [`${"x,".repeat(100_000)}de`, undefined],
])("of %p the most wanted is %p", (header, language) => {
  expect(bestLanguage(header)).toBe(language);
});
