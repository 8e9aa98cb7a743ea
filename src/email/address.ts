import { domainToASCII } from "node:url";
import type { Mailbox } from "./providers/provider.ts";

/**
 * An email address as we store and compare it: safe to write into a header and an SMTP command. The part before the @
 * may have any letters (RFC 6531) and keeps its case, which belongs to the receiver; the host becomes lower-case ASCII.
 * No quoting, comments or address literals: no real address needs them, and they enable injections. `undefined` if it
 * is not an address.
 */
export function parseAddress(text: string): string | undefined {
  const [, local = "", host = ""] = /^([^@]+)@([^@]+)$/.exec(text) ?? [];
  if (Buffer.byteLength(local) > 64 || !local.isWellFormed()) return undefined;
  if (!local.split(".").every((part) => atom.test(part))) return undefined;
  // domainToASCII parses a URL's host, and would drop everything after it.
  const ascii = /[/\\?#:\s]/.test(host) ? "" : domainToASCII(host);
  if (ascii.length > 253 || !ascii.split(".").every((part) => label.test(part))) return undefined;
  const address = `${local.normalize("NFC")}@${ascii}`;
  return Buffer.byteLength(address) <= 254 ? address : undefined;
}

// RFC 5322's atoms joined by dots, and any character beyond ASCII that is not a space, control or direction mark.
// biome-ignore lint/suspicious/noControlCharactersInRegex: it finds control characters, which are rejected.
const atom = /^(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]|[^\u0000-\u00a0\p{C}\p{Z}])+$/u;
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** `Links <links@example.com>`, or the address alone. For a setting: throws what is wrong. */
export function parseMailbox(text: string): Mailbox {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it finds control characters, which are rejected.
  const [, name = "", inner] = /^([^<>\u0000-\u001f\u007f"]*)<([^<>]+)>$/.exec(text.trim()) ?? [];
  const address = parseAddress(inner ?? text.trim());
  if (address === undefined)
    throw new Error("is not an address, such as links@example.com or Links <links@example.com>");
  return { name: name.trim() || null, address };
}
