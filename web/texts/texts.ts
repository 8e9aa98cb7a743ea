import { formatNumber } from "../format.ts";

/**
 * All texts of the dashboard are in this folder, one file for each part of it. A text is a string, or a function of what it
 * names. With the pseudo-language every text is shown with accents and brackets: what stays plain was written elsewhere.
 */
export type Texts = { readonly [name: string]: string | ((...given: never[]) => string) | Texts };

export const isPseudo = (() => {
  try {
    return localStorage.getItem("quicklink-language") === "pseudo";
  } catch {
    return false;
  }
})();

export function texts<Given extends Texts>(given: Given): Given {
  return isPseudo ? (disguised(given) as Given) : given;
}

function disguised(given: Texts): Texts {
  const entries = Object.entries(given).map(([name, text]) => {
    if (typeof text === "string") return [name, disguise(text)];
    if (typeof text === "function") return [name, (...values: never[]) => disguise(text(...values))];
    return [name, disguised(text)];
  });
  return Object.fromEntries(entries) as Texts;
}

const accents: Readonly<Record<string, string>> = {
  ...{ a: "á", b: "ƀ", c: "ç", d: "ð", e: "é", f: "ƒ", g: "ĝ", h: "ĥ", i: "í", j: "ĵ", k: "ķ", l: "ļ", m: "ɱ" },
  ...{ n: "ñ", o: "ó", p: "þ", q: "ɋ", r: "ŕ", s: "š", t: "ţ", u: "ú", v: "ṽ", w: "ŵ", x: "ẋ", y: "ý", z: "ž" },
};

export const disguise = (text: string): string =>
  `⟦${[...text].map((letter) => accents[letter.toLowerCase()] ?? letter).join("")}⟧`;

/** "1 link", "2,000 links". */
export const numbered = (count: number, one: string, other: string): string =>
  `${formatNumber(count)} ${plural(count, one, other)}`;

const plurals = new Intl.PluralRules("en");

/** "1 link", "2 links": the number is formatted by the caller. */
export const plural = (count: number, one: string, other: string): string =>
  plurals.select(count) === "one" ? one : other;
