import { expect, test } from "bun:test";
import { alphabet } from "./codes.ts";
import { privateCode } from "./private.ts";

test("a private code is twelve letters and digits, and never one twice", () => {
  const codes = Array.from({ length: 10_000 }, privateCode);
  expect(codes.filter((code) => !/^[0-9A-Za-z]{12}$/.test(code))).toEqual([]);
  expect(new Set(codes).size).toBe(codes.length);
});

test("all characters are equally likely", () => {
  const counts = new Map([...alphabet].map((character) => [character, 0]));
  const codes = 20_000;
  for (let i = 0; i < codes; i++) {
    for (const character of privateCode()) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  const expected = (codes * 12) / 62;
  // Seven standard deviations: chance alone fails this once in about ten billion runs. If bytes above the largest
  // multiple of 62 were used, the first eight characters would be a quarter too frequent, which is fourteen deviations.
  const deviation = Math.sqrt(expected * (1 - 1 / 62));
  for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(7 * deviation);
});
