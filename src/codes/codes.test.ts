import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { codeLength, codeSpace, createCodes, decode, encode } from "./codes.ts";

const salt = "a salt for tests, and only for them";
const codes = createCodes(salt);
const counter = fc.integer({ min: 0, max: codeSpace - 1 });
const edges = [0, 1, 2 ** 21 - 1, 2 ** 21, 2 ** 31, 2 ** 32, codeSpace - 2, codeSpace - 1];

describe("codes", () => {
  test("every code leads back to its counter, also at the edges of the space", () => {
    for (const edge of edges) expect(codes.decode(codes.encode(edge))).toBe(edge);
    fc.assert(fc.property(counter, (n) => codes.decode(codes.encode(n)) === n));
  });

  test("a code is seven letters and digits, whatever the counter", () => {
    fc.assert(fc.property(counter, (n) => /^[0-9A-Za-z]{7}$/.test(codes.encode(n))));
  });

  test("every text of seven letters and digits is the code of some counter", () => {
    const code = fc.stringMatching(/^[0-9A-Za-z]{7}$/);
    fc.assert(
      fc.property(code, (text) => {
        const n = codes.decode(text);
        return n !== undefined && n >= 0 && n < codeSpace && codes.encode(n) === text;
      }),
    );
  });

  test("a code never repeats", () => {
    const count = 20_000;
    const starts = [0, codeSpace - count];
    const issued = new Set(starts.flatMap((start) => Array.from({ length: count }, (_, i) => codes.encode(start + i))));
    expect(issued.size).toBe(starts.length * count);
  });

  test("codes of neighbouring counters have no more in common than by chance", () => {
    const pairs = 5_000;
    const same = Array.from({ length: codeLength }, () => 0);
    let rising = 0;
    for (let n = 0; n < pairs; n++) {
      const [one, two] = [codes.encode(n), codes.encode(n + 1)];
      for (let i = 0; i < codeLength; i++) if (one[i] === two[i]) same[i] = (same[i] ?? 0) + 1;
      if (one < two) rising++;
    }
    // 1/62 = 1.6 %; six standard deviations of 5,000 draws are 1.1 %. The salt is fixed, so the result never varies.
    for (const equal of same) expect(equal / pairs).toBeWithin(0.005, 0.028);
    expect(rising / pairs).toBeWithin(0.45, 0.55);
  });

  test("the same salt gives the same codes, because codes are never looked up", () => {
    const again = createCodes(salt);
    expect(edges.map(again.encode)).toEqual(edges.map(codes.encode));
    expect(again.fingerprint).toBe(codes.fingerprint);
  });

  test("codes that were issued once stay what they are", () => {
    expect([0, 1, 2, codeSpace - 1].map(codes.encode)).toEqual(["cU1cZ6r", "mt8UH6T", "jWxXmxR", "z2u2xpz"]);
  });

  test("another salt gives other codes and another fingerprint", () => {
    const other = createCodes(`${salt}.`);
    const count = 1_000;
    const mine = Array.from({ length: count }, (_, n) => codes.encode(n));
    expect(mine.filter((code, n) => code === other.encode(n))).toEqual([]);
    expect(other.fingerprint).not.toBe(codes.fingerprint);
    expect(codes.fingerprint).not.toContain(salt);
  });

  test("a counter outside the space is refused", () => {
    for (const bad of [-1, codeSpace, codeSpace + 1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(() => codes.encode(bad)).toThrow(RangeError);
    }
  });

  test("what cannot be a code has no counter", () => {
    for (const text of ["", "abcdef", "abcdefgh", "abc-def", "abc_def", "abc def", "abcdefé", "💥abcde"]) {
      expect(codes.decode(text)).toBeUndefined();
    }
  });
});

describe("the alphabet", () => {
  test("numbers and texts are two spellings of the same", () => {
    expect([encode(0), encode(61), encode(62), encode(codeSpace - 1)]).toEqual([
      "0000000",
      "000000z",
      "0000010",
      "zzzzzzz",
    ]);
    fc.assert(fc.property(counter, (n) => decode(encode(n)) === n));
  });

  test("texts are in the order of their numbers", () => {
    fc.assert(fc.property(counter, counter, (a, b) => a < b === encode(a) < encode(b)));
  });
});
