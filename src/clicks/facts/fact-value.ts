import { isIP } from "node:net";
import { none, other } from "../click.ts";

/** The longest value of a fact. Longer ones are cut: nobody reads more in a list. */
export const factMost = 100;

/**
 * A text from a visitor's request as it is kept: without what cannot be shown, and never longer than `factMost`. An email
 * address or IP address does not belong in a report about clicks, although some tools put one into a parameter.
 */
export function factValue(text: string): string {
  const plain = text.slice(0, lookedAt).toWellFormed().replace(unwanted, "").trim();
  if (plain === other || isPersonal(plain)) return none;
  if (plain.length <= factMost) return plain;
  // Not in the middle of a character, which could not be stored.
  const end = isHighSurrogate(plain.charCodeAt(factMost - 1)) ? factMost - 1 : factMost;
  // Copied, because a part of a string keeps all of it in memory.
  return Buffer.from(plain.slice(0, end).trimEnd()).toString();
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

/** Also if it is encoded once too often, and with a port. */
function isPersonal(text: string): boolean {
  if (email.test(text.includes("%") ? text.replace(encodedAt, "@") : text)) return true;
  const [, inBrackets, plain = text] = addressPattern.exec(text) ?? [];
  return isIP(inBrackets ?? plain) !== 0;
}

/** Long enough that an address which is cut off is still seen as one. */
const lookedAt = 1_024;
const unwanted = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const encodedAt = /%(?:25)*40/g;
/** `[address]`, `[address]:443` or `address:443`. */
const addressPattern = /^(?:\[([\da-f:.]+)\]|([\d.]+))(?::\d{1,5})?$/i;
const email = /[^\s@]@[^\s@]+\.[^\s@]/;
