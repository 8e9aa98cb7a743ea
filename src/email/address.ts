import { domainToASCII } from "node:url";
import type { Mailbox } from "./providers/provider.ts";

/**
 * An address as we keep and compare it: one that can be written into a header and an SMTP command as it is. The part
 * before the @ may have any letters (RFC 6531) and keeps its case, for it is the receiver's; the host becomes lower-case
 * ASCII. No quoting, no comments, no address literals: nobody's real address needs them, and they are where
 * injections hide. Nothing if it is none.
 */
export function parseAddress(text: string): string | undefined {
  const [, local = "", host = ""] = /^([^@]+)@([^@]+)$/.exec(text) ?? [];
  if (Buffer.byteLength(local) > 64 || !local.isWellFormed()) return undefined;
  if (!local.split(".").every((part) => atom.test(part))) return undefined;
  // domainToASCII reads a URL's host, and would drop what follows it.
  const ascii = /[/\\?#:\s]/.test(host) ? "" : domainToASCII(host);
  if (ascii.length > 253 || !ascii.split(".").every((part) => label.test(part))) return undefined;
  const address = `${local.normalize("NFC")}@${ascii}`;
  return Buffer.byteLength(address) <= 254 ? address : undefined;
}

// RFC 5322's atoms joined by dots, and any character beyond ASCII that is no space, control or direction mark.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const atom = /^(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]|[^\u0000-\u00a0\p{C}\p{Z}])+$/u;
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** `Links <links@example.com>`, or the address alone. For a setting: throws what is wrong. */
export function parseMailbox(text: string): Mailbox {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  const [, name = "", inner] = /^([^<>\u0000-\u001f\u007f"]*)<([^<>]+)>$/.exec(text.trim()) ?? [];
  const address = parseAddress(inner ?? text.trim());
  if (address === undefined)
    throw new Error("is not an address, such as links@example.com or Links <links@example.com>");
  return { name: name.trim() || null, address };
}
