import { describe, expect, test } from "bun:test";
import { hasAlready, requestedRange } from "./range.ts";

const etag = '"abc"';
const modified = "Mon, 16 Nov 2026 01:02:03 GMT";
const ask = (range: string, more: Record<string, string> = {}, size = 100) =>
  requestedRange(new Headers({ range, ...more }), size, etag, modified);

const whole = { kind: "whole" };
const beyond = { kind: "beyond" };
const part = (start: number, length: number) => ({ kind: "part", start, length });

describe("a range of 100 bytes", () => {
  test.each([
    ["bytes=0-0", part(0, 1)],
    ["bytes=0-", part(0, 100)],
    ["bytes=10-19", part(10, 10)],
    ["bytes=90-1000", part(90, 10)],
    ["bytes=-10", part(90, 10)],
    ["bytes=-1000", part(0, 100)],
    ["BYTES=99-", part(99, 1)],
    ["bytes=100-", beyond],
    ["bytes=-0", beyond],
    ["bytes=20-10", whole],
    ["bytes=-", whole],
    ["bytes=0-1,5-6", whole],
    ["bytes=a-b", whole],
    ["bytes=0x1-2", whole],
    ["bytes=99999999999999999999-", whole],
    ["lines=0-1", whole],
    ["", whole],
  ])("%j", (range, asked) => expect(ask(range)).toMatchObject(asked));

  test("of an empty file is beyond it", () => {
    expect(ask("bytes=0-", {}, 0)).toEqual({ kind: "beyond" });
    expect(ask("bytes=-5", {}, 0)).toEqual({ kind: "beyond" });
  });

  test("is good only for the file that the client has a part of", () => {
    expect(ask("bytes=1-2", { "if-range": etag })).toMatchObject(part(1, 2));
    expect(ask("bytes=1-2", { "if-range": modified })).toMatchObject(part(1, 2));
    expect(ask("bytes=1-2", { "if-range": '"other"' })).toMatchObject(whole);
    expect(ask("bytes=1-2", { "if-range": `W/${etag}` })).toMatchObject(whole);
  });
});

test.each([
  [etag, true],
  [`W/${etag}`, true],
  [`"x", ${etag}`, true],
  ["*", true],
  ['"x"', false],
  ["abc", false],
])("If-None-Match %j: %p", (known, has) => {
  expect(hasAlready(new Headers({ "if-none-match": known }), etag)).toBe(has);
  expect(hasAlready(new Headers({ "if-none-match": known }), undefined)).toBe(false);
});
