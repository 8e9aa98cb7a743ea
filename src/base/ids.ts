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
export type PersonId = Id<"person">;
export type SessionId = Id<"session">;
export type InvitationId = Id<"invitation">;
export type HistoryId = Id<"history">;
export type DeviceId = Id<"device">;
export type EmailId = Id<"email">;
export type FileId = Id<"file">;
export type ReportId = Id<"report">;
export type AnnotationId = Id<"annotation">;
export type UtmTemplateId = Id<"utmTemplate">;
export type ShareId = Id<"share">;
export type ImportId = Id<"import">;

const prefixes = {
  tenant: "ten",
  link: "lnk",
  key: "key",
  member: "mem",
  person: "per",
  session: "ses",
  invitation: "inv",
  history: "his",
  device: "dev",
  email: "eml",
  file: "fil",
  report: "rep",
  annotation: "ann",
  utmTemplate: "utm",
  share: "shr",
  import: "imp",
} as const;
export type IdKind = keyof typeof prefixes;

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

export function newId<Name extends IdKind>(name: Name, clock: Pick<Clock, "now">): Id<Name> {
  return `${prefixes[name]}_${time(clock.now())}${nextChance()}` as Id<Name>;
}

/** Random bytes are requested for many IDs at once: each request takes longer than the rest of an ID. */
const poolBytes = 4_096;
let pool = "";
let used = 0;

function nextChance(): string {
  if (used + chanceBytes > pool.length) {
    pool = letters(randomBytes(poolBytes));
    used = 0;
  }
  used += chanceBytes;
  return pool.slice(used - chanceBytes, used);
}

/**
 * The same, and IDs of this process sort in the order in which they were made, also within a millisecond: each is the one
 * before plus one.
 */
export function createOrderedIds<Name extends IdKind>(name: Name): (clock: Pick<Clock, "now">) => Id<Name> {
  let last = { at: -1, chance: new Uint8Array(chanceBytes) };
  return (clock) => {
    const at = clock.now();
    last = { at, chance: at === last.at ? plusOne(last.chance) : randomChance() };
    return idFrom(name, at, last.chance);
  };
}

/** Leaves room to count up. */
function randomChance(): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(randomBytes(chanceBytes)).map((byte) => byte & 31);
  bytes[0] = (bytes[0] ?? 0) & 15;
  return bytes;
}

function plusOne(digits: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const next = digits.slice();
  for (let i = next.length - 1; i >= 0; i--) {
    const digit = next[i] ?? 0;
    next[i] = (digit + 1) & 31;
    if (digit < 31) break;
  }
  return next;
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

let last = { ms: -1, text: "" };

/** Many IDs are made in one millisecond. */
function time(ms: number): string {
  if (last.ms === ms) return last.text;
  let text = "";
  let rest = ms;
  for (let i = 0; i < 10; i++) {
    text = alphabet.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  last = { ms, text };
  return text;
}

/** In place of the bytes of a copy: thousands of pieces that are joined to a text take ten times as long. */
function letters(bytes: Uint8Array): string {
  const text = Buffer.from(bytes);
  for (let i = 0; i < text.length; i++) text[i] = alphabet.charCodeAt((text[i] ?? 0) & 31);
  return text.toString("latin1");
}
