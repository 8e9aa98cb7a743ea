import { randomBytes } from "node:crypto";
import type { Clock } from "./clock.ts";

/**
 * An ID is a prefix that names its kind, and 26 characters of Crockford's Base32: 48 bits of time, 80 random bits. IDs
 * sort by creation time, so the newest rows are neighbours in the index and a page cursor is a plain comparison.
 */
declare const brand: unique symbol;
export type Id<Name extends string> = string & { readonly [brand]: Name };

export type TenantId = Id<"tenant">;
export type LinkId = Id<"link">;
export type KeyId = Id<"key">;
export type MemberId = Id<"member">;
export type EmailId = Id<"email">;
export type FileId = Id<"file">;
export type ReportId = Id<"report">;

const prefixes = {
  tenant: "ten",
  link: "lnk",
  key: "key",
  member: "mem",
  email: "eml",
  file: "fil",
  report: "rep",
} as const;
export type IdKind = keyof typeof prefixes;

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

export function newId<Name extends IdKind>(name: Name, clock: Clock): Id<Name> {
  return idFrom(name, clock.now(), randomBytes(chanceBytes));
}

/** Sorts before every ID of this kind created at that time or later, and after all earlier ones. */
export function idAt<Name extends IdKind>(name: Name, ms: number): Id<Name> {
  return `${prefixes[name]}_${time(Math.max(0, ms))}` as Id<Name>;
}

/** Derives an ID from its input: the same input always gives the same ID. */
export function idFrom<Name extends IdKind>(name: Name, at: number, bytes: Uint8Array): Id<Name> {
  return `${prefixes[name]}_${time(at)}${letters(bytes.subarray(0, chanceBytes))}` as Id<Name>;
}

const chanceBytes = 16; // five bits of each are used

/** Untrusted text becomes an ID only if it has the right shape. */
export function parseId<Name extends IdKind>(name: Name, text: string): Id<Name> | undefined {
  const prefix = `${prefixes[name]}_`;
  return text.length === prefix.length + 26 && text.startsWith(prefix) && /^[a-z]+_[0-9a-z]{26}$/.test(text)
    ? (text as Id<Name>)
    : undefined;
}

function time(ms: number): string {
  let text = "";
  let rest = ms;
  for (let i = 0; i < 10; i++) {
    text = alphabet.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function letters(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += alphabet.charAt(byte & 31);
  return text;
}
