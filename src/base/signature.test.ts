import { describe, expect, test } from "bun:test";
import { dayMs, manualClock } from "./clock.ts";
import { createSigningKeys, type SigningKey } from "./signature.ts";
import { parseSigningKeys, rotated, saltKey, verifyDays, writeSigningKeys } from "./signing-keys.ts";

const start = Date.UTC(2026, 10, 16, 12);
const keyOf = (id: string): SigningKey => ({ id, key: Buffer.from(id.padEnd(32)) });

describe("signing keys", () => {
  test("sign with the first, and verify with all of them", () => {
    const clock = manualClock(start);
    const before = createSigningKeys([keyOf("one")], clock).signerFor("files");
    const after = createSigningKeys([keyOf("two"), keyOf("one")], clock).signerFor("files");
    expect(after.isSigned("text", before.sign("text"))).toBe(true);
    expect(after.isSigned("text", after.sign("text"))).toBe(true);
    expect(before.isSigned("text", after.sign("text"))).toBe(false);
    expect(after.isSigned("text", "")).toBe(false);
  });

  test("a signature for one purpose is invalid for another, with any key", () => {
    const keys = createSigningKeys([keyOf("two"), keyOf("one")], manualClock(start));
    const signature = keys.signerFor("files").sign("text");
    expect(keys.signerFor("passes").isSigned("text", signature)).toBe(false);
  });

  test("a previous key verifies until its day, also on a server that keeps running", () => {
    const clock = manualClock(start);
    const before = [keyOf("one")];
    const signature = createSigningKeys(before, clock).signerFor("passes").sign("text");
    const signer = createSigningKeys(rotated(before, start), clock).signerFor("passes");
    clock.advance(verifyDays * dayMs);
    expect(signer.isSigned("text", signature)).toBe(true);
    clock.advance(dayMs);
    expect(signer.isSigned("text", signature)).toBe(false);
  });

  test("rotated again, a former key keeps its day, and one whose day has come is left out", () => {
    const [first, former] = rotated(rotated([keyOf("one")], start), start + dayMs).slice(1);
    expect((first?.until ?? 0) - (former?.until ?? 0)).toBe(dayMs);
    expect(rotated([keyOf("two"), { ...keyOf("one"), until: start }], start).map(({ id }) => id)).toEqual([
      expect.stringMatching(/^k[0-9a-f]{8}$/),
      "two",
    ]);
  });

  test("are the same once written and read", () => {
    const keys = rotated([saltKey("a salt of sixteen or more"), { ...keyOf("one"), until: start + dayMs }], start);
    expect(parseSigningKeys(writeSigningKeys(keys).replaceAll(",", ", "))).toMatchObject([
      { id: keys[0]?.id },
      { id: "salt", key: Buffer.from("a salt of sixteen or more"), until: keys[1]?.until },
      { id: "one", until: Date.UTC(2026, 10, 17) },
    ]);
  });

  test("derived from the salt, they sign as they did before there were any", () => {
    const signer = createSigningKeys([saltKey("a salt for tests of signing")], manualClock(start)).signerFor("files");
    expect(signer.sign("text")).toBe("ry9oFYfqZR-UhQf93s5LeV6Riyad1sJY7xHB7KF6Htw");
  });
});
