import { isIP } from "node:net";
import { none, other } from "../click.ts";

/** The longest value of a fact. Longer ones are cut: nobody reads more in a list. */
export const factMost = 100;

/**
 * A text from a visitor's request as it is kept: without what cannot be shown, and never longer than `factMost`. An email
 * address or IP address does not belong in a report about clicks, although some tools put one into a parameter.
 */
export function factValue(text: string): string {
  const plain = shownText(text.slice(0, lookedAt)).trim();
  if (plain === other || isPersonal(plain)) return none;
  if (plain.length <= factMost) return plain;
  // Not in the middle of a character, which could not be stored.
  const end = isHighSurrogate(plain.charCodeAt(factMost - 1)) ? factMost - 1 : factMost;
  // Copied, because a part of a string keeps all of it in memory.
  return Buffer.from(plain.slice(0, end).trimEnd()).toString();
}

/** Without what cannot be shown, or stored. */
export const shownText = (text: string): string => text.toWellFormed().replace(unwanted, "");

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

/** Also within a text, if it is encoded once too often, or in the wide characters of Asian keyboards. */
function isPersonal(text: string): boolean {
  const plain = text.normalize("NFKC");
  const decoded = plain.includes("%") ? plain.replace(encodedAt, "@").replace(encodedDot, ".") : plain;
  if (email.test(decoded)) return true;
  return [ipv4, ipv6].some((pattern) => (decoded.match(pattern) ?? []).some((found) => isIP(found) !== 0));
}

/** Long enough that an address which is cut off is still seen as one. */
const lookedAt = 1_024;
const unwanted = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const encodedAt = /%(?:25)*40/g;
const encodedDot = /%(?:25)*2e/gi;
/** Longer runs of numbers are no addresses, and neither is what begins or ends within a word, such as `Foo::add`. */
const ipv4 = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/g;
const ipv6 = /(?<![a-z\d:.])(?:[\da-f]{0,4}:){2,8}[\da-f.]{0,15}(?![a-z\d:.])/gi;
const email = /[^\s@]@[^\s@]+\.[^\s@]/;
