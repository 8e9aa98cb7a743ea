import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { linkTagMost, linkTagsMost } from "../../links/plain-link.ts";
import { packedListMost, packedMark, readTagList, tagListBytesMost, writeTagList } from "./tag-list.ts";

const longest = (letter: string) =>
  Array.from(
    { length: linkTagsMost },
    (_, place) => String.fromCharCode(0x4e00 + place) + letter.repeat(linkTagMost - 1),
  );

describe("the tags of a link are stored as one text", () => {
  test("which has all of them, whatever they are", () => {
    const wide = fc.string({ unit: fc.integer({ min: 0x800, max: 0xd7ff }).map((code) => String.fromCharCode(code)) });
    const tag = fc
      .oneof(fc.string({ unit: "binary" }), wide, fc.constant("\uffff".repeat(linkTagMost)))
      .map((text) => text.replaceAll("\0", "").slice(0, linkTagMost).toWellFormed());
    const tags = fc.uniqueArray(
      tag.filter((text) => text !== ""),
      { maxLength: linkTagsMost, size: "max" },
    );
    fc.assert(fc.property(tags, (some) => expect(readTagList(writeTagList(some))).toEqual(some.toSorted())));
  });

  test("which fits into an index, however long they are", () => {
    for (const letter of ["\uffff", "語", "ü", '"', "\\", "%", "a"]) {
      const list = writeTagList(longest(letter));
      expect(readTagList(list)).toEqual(longest(letter).toSorted());
      expect(Buffer.byteLength(list)).toBeLessThanOrEqual(packedListMost);
    }
  });

  test("which is JSON unless it is too long", () => {
    expect(writeTagList(["b", "a"])).toBe('["a","b"]');
    expect(writeTagList([])).toBe("");
    expect(writeTagList(longest("a"))).toStartWith("[");
    const packed = writeTagList(longest("語"));
    expect(Buffer.byteLength(JSON.stringify(longest("語")))).toBeGreaterThan(tagListBytesMost);
    expect(packed).toStartWith(packedMark);
    expect(packed).not.toContain('"');
  });

  test("which is no list if there are none, or too many lists", () => {
    for (const text of ["", "…"]) expect(readTagList(text)).toEqual([]);
  });
});
