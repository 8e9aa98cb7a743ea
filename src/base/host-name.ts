import { isIP } from "node:net";

/** More than DNS allows, with room for a port. */
const headerMost = 300;
const bracketed = /^\[([0-9a-f:.]+)\](?::\d{0,5})?$/;
const named = /^([a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?(?::\d{0,5})?$/;
const beyondAscii = /[^\u0020-\u007e]/;

/**
 * The name in a `Host` header: lower case, without the port and without the one trailing dot that DNS allows. Empty if
 * the client sent none, which HTTP/1.0 allows. `undefined` if it is no name at all, or two of them.
 */
export function hostName(header: string | null): string | undefined {
  if (header === null || header === "") return "";
  // Beyond ASCII, lower case changes letters into others: K (the Kelvin sign) into k.
  if (header.length > headerMost || beyondAscii.test(header)) return undefined;
  const text = header.toLowerCase();
  if (!text.startsWith("[")) return named.exec(text)?.[1];
  const address = bracketed.exec(text)?.[1] ?? "";
  return isIP(address) === 6 ? `[${address}]` : undefined;
}

/** Whether nobody can own the name in DNS: an IP address, a name without a dot, or none. */
export const isNameless = (name: string): boolean => !name.includes(".") || name.startsWith("[") || isIP(name) !== 0;
