/** The server names values for public pages, and the dashboard for its reader: one fact must not have two names. */
import { expect, test } from "bun:test";
import { breakdownNames } from "../src/clicks/click.ts";
import { namedValue } from "../src/clicks/value-names.ts";
import { valueName } from "../web/pages/report/values.ts";
import { reportTexts } from "../web/texts/report.ts";

const values: Readonly<Record<string, readonly string[]>> = {
  country: ["DE", "US", "XX", "nowhere"],
  language: ["de", "pt-BR", "zh-Hant", "not a language"],
  region: ["Bavaria, DE", "Bavaria"],
  city: ["Munich, Bavaria, DE"],
  device: Object.keys(reportTexts.devices),
  os: Object.keys(reportTexts.systems),
  browser: ["Chrome", "other"],
  source: Object.keys(reportTexts.sources),
  variant: ["rule 1", "split 2", "something else"],
  referrer: ["news.example"],
};

test("share pages name values as the dashboard does", () => {
  const pairs = breakdownNames.flatMap((name) =>
    ["", "constructor", ...(values[name] ?? [])].map((value) => [name, value] as const),
  );
  expect(pairs.length).toBeGreaterThan(50);
  expect(pairs.map(([name, value]) => [name, value, namedValue(name, value)])).toEqual(
    pairs.map(([name, value]) => [name, value, value === "constructor" ? value : valueName(name, value)]),
  );
});
