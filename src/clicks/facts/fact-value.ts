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

const isPersonal = (text: string): boolean => email.test(text) || isIP(text.replace(/^\[|\]$/g, "")) !== 0;

/** Long enough that an address which is cut off is still seen as one. */
const lookedAt = 1_024;
const unwanted = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const email = /[^\s@]@[^\s@]+\.[^\s@]/;
