import { isReserved, slugPattern } from "../../codes/slugs.ts";

/** Codes that somebody might take instead of the one they wanted. */
const codeMost = 64;
const endMost = 5; // the longest end that is added: "-2026"

/** The nearest code to a text: "Café & Bar" becomes "Cafe-Bar". May still be too short. */
export function codeFrom(text: string): string {
  return text
    .slice(0, 200)
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/[^A-Za-z0-9_]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, codeMost);
}

/** In the order in which they are offered. Always the same for the same day, so that they do not change while typing. */
export function variantsOf(code: string, year: number): string[] {
  const stem = (code === "" ? "link" : code).slice(0, codeMost - endMost);
  const ends = ["-2", `-${year}`, "-3", "-new", "-go", "-4", "-5", "-6", "-7", "-8", "-9", "-10"];
  return ends.map((end) => `${stem}${end}`).filter((one) => slugPattern.test(one) && !isReserved(one));
}
