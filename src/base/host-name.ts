import { isIP } from "node:net";

/** More than DNS allows, plus a port. */
const headerMost = 300;
const bracketed = /^\[([0-9a-f:.]+)\](?::\d{0,5})?$/;
const named = /^([a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?(?::\d{0,5})?$/;
const beyondAscii = /[^\u0020-\u007e]/;

/**
 * The name in a `Host` header: lower case, without the port and without the one trailing dot that DNS allows. Empty if
 * the client sent none, as HTTP/1.0 allows. `undefined` if it is not exactly one name.
 */
export function hostName(header: string | null): string | undefined {
  if (header === null || header === "") return "";
  // Beyond ASCII, lower-casing can produce ASCII letters: K (the Kelvin sign) becomes k.
  if (header.length > headerMost || beyondAscii.test(header)) return undefined;
  const text = header.toLowerCase();
  if (!text.startsWith("[")) return named.exec(text)?.[1];
  const address = bracketed.exec(text)?.[1] ?? "";
  return isIP(address) === 6 ? `[${address}]` : undefined;
}

/** Whether DNS cannot assign the name to an owner: an IP address, a name without a dot, or none. */
export const isNameless = (name: string): boolean => !name.includes(".") || name.startsWith("[") || isIP(name) !== 0;
