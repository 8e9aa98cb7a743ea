import { bestLanguage } from "../../redirect/language.ts";
import { none } from "../click.ts";

/**
 * The preferred language of an Accept-Language header without its region, if there is such a language. Languages are shared by
 * all tenants, and strangers choose this header: of 18,252 possible codes, 927 are languages.
 */
export type LanguageOf = (header: string) => string;

export function createLanguages(): LanguageOf {
  const names = new Intl.DisplayNames("en", { type: "language", fallback: "none" });
  /** Looking up a name takes 20 µs. There are no more codes than two or three letters can be: 2 MB. */
  const known = new Map<string, string>();
  return (header) => {
    const code = bestLanguage(header)?.split("-", 1)[0] ?? none;
    if (code === none) return none;
    let found = known.get(code);
    if (found === undefined) {
      found = names.of(code) === undefined ? none : code;
      known.set(code, found);
    }
    return found;
  };
}
