import { none } from "../click.ts";

/**
 * The tags of a link as one text, the value of the dimension `tags`: a sorted JSON list. It is part of a unique index, and an entry of
 * PostgreSQL's has at most 2,704 bytes. A link may have 20 tags of 50 characters, which take up to 3 bytes each: 3,061 bytes. A list that
 * is too long is packed: its UTF-16 units, four bytes as five characters, in 2,551 bytes at most. So every list fits, with all of its tags.
 */
export const tagListBytesMost = 2_400;
export const packedListMost = 2_600;

/** No JSON list begins with it. */
export const packedMark = "~";
/** No tag contains it: PostgreSQL does not store it. */
const separator = "\0";

/** `tags`: as they are stored. */
export function writeTagList(tags: readonly string[]): string {
  if (tags.length === 0) return none;
  const sorted = tags.toSorted();
  const text = JSON.stringify(sorted);
  if (Buffer.byteLength(text) <= tagListBytesMost) return text;
  // More than a link may have would not fit.
  for (;;) {
    const packed = packedMark + pack(sorted.join(separator));
    if (packed.length <= packedListMost) return packed;
    sorted.pop();
  }
}

/** None and "other" are no lists. */
export function readTagList(list: string): readonly string[] {
  if (list.startsWith(packedMark)) return unpack(list.slice(packedMark.length)).split(separator);
  return list.startsWith("[") ? (JSON.parse(list) as string[]) : [];
}

/** Z85 (ZeroMQ RFC 32). Each takes one byte, and none is a quote: a search for a tag as JSON finds no packed list. */
const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
const base = digits.length;
const groupChars = 5;
const placeOf = new Map([...digits].map((digit, place) => [digit, place]));

/** An odd number of units is filled up with a separator. */
function pack(text: string): string {
  let packed = "";
  for (let at = 0; at < text.length; at += 2) {
    let group = text.charCodeAt(at) * 0x1_0000 + (at + 1 < text.length ? text.charCodeAt(at + 1) : 0);
    let chars = "";
    for (let place = 0; place < groupChars; place++) {
      chars = (digits[group % base] ?? "") + chars;
      group = Math.floor(group / base);
    }
    packed += chars;
  }
  return packed;
}

function unpack(packed: string): string {
  const units: number[] = [];
  for (let at = 0; at < packed.length; at += groupChars) {
    let group = 0;
    for (const digit of packed.slice(at, at + groupChars)) group = group * base + (placeOf.get(digit) ?? 0);
    units.push(Math.floor(group / 0x1_0000), group % 0x1_0000);
  }
  if (units.at(-1) === 0) units.pop();
  return String.fromCharCode(...units);
}
