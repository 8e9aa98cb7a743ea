import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Texts } from "./texts.ts";

/** Words that end like a plural and may follow a one: "1 is unused", "1 was too fast". */
const singular = new Set([
  "is",
  "was",
  "has",
  "this",
  "as",
  "invites",
  "owns",
  "matches",
  "shows",
  "stays",
  "contains",
  "yes",
]);

/** "1 clicks", "1 matching clicks", "1 new links". */
const wrongAfterOne = /(?<![\d.,:–-])1 (?:\p{L}+ )?(\p{L}+s)\b/u;

function pluralsIn(text: string): boolean {
  if (pluralVerb.test(text)) return true;
  const found = wrongAfterOne.exec(text);
  return found !== null && !singular.has(found[1] ?? "") && !/^1 (?:of|in|a|by|or|and|per) /.test(found[0]);
}

/** "1 link already have", "1 more were too fast". */
const pluralVerb = /(?<![\d.,])1 \p{L}+ (?:already |now )?(?:have|are|were|do|count)\b/u;

/** Of every text that takes something: what it says if all that it takes is 1. */
function saidOfOne(texts: Texts, path: string): [path: string, text: string][] {
  return Object.entries(texts).flatMap(([name, text]) => {
    const place = `${path}.${name}`;
    // A plural without its number is shown beside one.
    if (typeof text === "string") return isPluralNoun(text) ? [[place, `1 ${text}`] as [string, string]] : [];
    if (typeof text !== "function") return saidOfOne(text, place);
    return [[place, ofOne(text as (...given: unknown[]) => string)] as [string, string]];
  });
}

const isPluralNoun = (text: string): boolean => /^\p{Ll}+s$/u.test(text) && !singular.has(text);

function ofOne(text: (...given: unknown[]) => string): string {
  const given = (one: unknown) => Array.from({ length: Math.max(1, text.length) }, () => one);
  try {
    return text(...given(1));
  } catch {
    // It takes a name, and not a number.
    return text(...given("1"));
  }
}

const files = [...new Bun.Glob("*.ts").scanSync(import.meta.dir)].filter((file) => !file.includes(".test."));

test.each(files.toSorted())("no text of %s counts one as many", async (file) => {
  const made = (await import(join(import.meta.dir, file))) as Readonly<Record<string, unknown>>;
  const all = Object.entries(made).filter(([, texts]) => typeof texts === "object" && texts !== null);
  const said = all.flatMap(([name, texts]) => saidOfOne(texts as Texts, name));
  expect(said.filter(([, text]) => pluralsIn(text))).toEqual([]);
});

test.each([
  "1 clicks",
  "At 1 hits a day",
  "1 matching clicks are in the total",
  "+1 rules",
  "last 1 days",
  "1 of 1 hits",
])("%s would be found", (text) => {
  expect(pluralsIn(text)).toBe(true);
});

test.each(["1 click", "1 was too fast to show", "11 clicks", "2,001 clicks", "1 of 3 links", "1 in 5 min"])(
  "%s is right",
  (text) => {
    expect(pluralsIn(text)).toBe(false);
  },
);
