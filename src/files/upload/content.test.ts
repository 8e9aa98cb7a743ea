import { describe, expect, test } from "bun:test";
import { contradiction } from "./content.ts";

const text = (words: string) => new TextEncoder().encode(words);
const png = Uint8Array.from([
  ...[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1],
  ...[8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 13, 0x49, 0x44, 0x41, 0x54],
]);
const zip = Uint8Array.from([0x50, 0x4b, 3, 4, 20, 0, 0, 0, 0, 0, ...new Array(40).fill(0)]);
const elf = Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, ...new Array(60).fill(0)]);
const pdf = text("%PDF-1.7\n%\u00e2\u00e3\n1 0 obj\n");
const words = text("Dear reader,\nthis is no image.\n");

describe("the first bytes of a file", () => {
  const fine: [string, Uint8Array][] = [
    ["image/png", png],
    ["IMAGE/PNG", png],
    ["application/pdf", pdf],
    ["text/plain; charset=utf-8", words],
    ["text/csv", words],
    ["application/json", text('{"a":1}')],
    ["image/svg+xml", text('<?xml version="1.0"?><svg/>')],
    ["application/zip", zip],
    ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", zip],
    ["application/octet-stream", png],
    ["application/octet-stream", words],
    ["application/x-of-our-own", zip],
    ["application/x-of-our-own", words],
    ["text/plain", new Uint8Array(0)],
  ];
  test.each(fine)("may be announced as %s", async (type, head) => {
    expect(await contradiction(type, head)).toBeUndefined();
  });

  const wrong: [string, Uint8Array][] = [
    ["image/png", words],
    ["image/png", pdf],
    ["image/jpeg", png],
    ["application/pdf", text("<!doctype html><script>alert(1)</script>")],
    ["text/plain", png],
    ["text/html", pdf],
    ["text/plain; charset=utf-8", elf],
    ["video/mp4", png],
    ["audio/x-unheard-of", png],
    ["image/png", new Uint8Array(0)],
  ];
  test.each(wrong)("show that it is not %s", async (type, head) => {
    expect(await contradiction(type, head)).toBeString();
  });
});
