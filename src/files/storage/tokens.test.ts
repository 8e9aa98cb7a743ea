import { describe, expect, test } from "bun:test";
import { manualClock, systemClock } from "../../base/clock.ts";
import { createSigningKeys } from "../../base/signature.ts";
import { createTokens } from "./tokens.ts";

const signerOf = (key: string) =>
  createSigningKeys([{ id: "k1", key: Buffer.from(key) }], systemClock).signerFor("tests");
const clock = manualClock(1_000_000);
const tokens = createTokens(signerOf("a secret"), clock);
const key = "incoming/fil_1";
const upload = { key, sizeBytes: 10, type: 'text/plain; x="ü"', sha256: null, until: 2_000_000 };
const download = { key, name: "Größe 🎉.txt", type: "text/plain", sha256: "ab", until: 2_000_000 };

describe("a token", () => {
  test("says what was signed", () => {
    expect(tokens.openUpload(tokens.upload(upload))).toEqual(upload);
    expect(tokens.openDownload(tokens.download(download))).toEqual(download);
    expect(tokens.upload(upload)).toMatch(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}$/);
  });

  test("for a download is invalid for an upload, and the other way round", () => {
    expect(() => tokens.openUpload(tokens.download(download))).toThrow("address_invalid");
    expect(() => tokens.openDownload(tokens.upload(upload))).toThrow("address_invalid");
  });

  test("with another secret is invalid", () => {
    const other = createTokens(signerOf("another secret"), clock);
    expect(() => tokens.openUpload(other.upload(upload))).toThrow("address_invalid");
  });

  test("expires in exactly the millisecond that it names", () => {
    const token = tokens.upload({ ...upload, until: clock.now() + 1 });
    expect(tokens.openUpload(token).key).toBe(key);
    clock.advance(1);
    expect(() => tokens.openUpload(token)).toThrow("address_expired");
  });

  test.each(["", ".", "..", "a.b", "a.b.c", "x".repeat(5_000), "é.ü"])("that is %j is none", (token) => {
    expect(() => tokens.openUpload(token)).toThrow("address_invalid");
  });
});
