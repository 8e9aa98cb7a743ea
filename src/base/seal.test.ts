import { describe, expect, test } from "bun:test";
import { createRing, newKey, parseKeys, writeKeys } from "./seal.ts";

const [old, next] = [newKey(), newKey()];
const ring = createRing([old]);
const context = "sendgrid ten_1";
const opened = (secret: string) => ({ kind: "opened" as const, secret });

describe("what was sealed", () => {
  test.each(["SG.key.of-a-tenant", "", "ключ 🔑", "x".repeat(10_000)])("opens again as it was", (secret) => {
    expect(ring.open(ring.seal(secret, context), context)).toEqual(opened(secret));
  });

  test("never looks the same twice, and does not show what is in it", () => {
    const texts = new Set(Array.from({ length: 1_000 }, () => ring.seal("SG.visible", context)));
    expect(texts.size).toBe(1_000);
    for (const text of texts) expect(text).not.toContain("visible");
  });

  test("does not open in another tenant's row, or for another purpose", () => {
    const sealed = ring.seal("secret", context);
    expect(ring.open(sealed, "sendgrid ten_2")).toEqual({ kind: "broken" });
    expect(ring.open(sealed, "webhook ten_1")).toEqual({ kind: "broken" });
  });

  test("does not open when any part of it is another", () => {
    const sealed = ring.seal("secret", context);
    const parts = sealed.split(".");
    for (const place of [2, 3, 4]) {
      const part = parts[place] ?? "";
      const changed = parts.with(place, (part.startsWith("A") ? "B" : "A") + part.slice(1)).join(".");
      expect(ring.open(changed, context)).toEqual({ kind: "broken" });
      expect(ring.open(parts.with(place, part.slice(0, -4)).join("."), context)).toEqual({ kind: "broken" });
    }
    for (const text of ["", "v1", `v2${sealed.slice(2)}`, `${sealed}.x`, sealed.slice(3), "SG.plain.text"]) {
      expect(ring.open(text, context)).toEqual({ kind: "broken" });
    }
  });

  test("is not taken for another key's by its name", () => {
    const renamed = ring.seal("secret", context).replace(old.id, next.id);
    expect(createRing([old, next]).open(renamed, context)).toEqual({ kind: "broken" });
    expect(createRing([{ id: next.id, key: old.key }]).open(renamed, context)).toEqual({ kind: "broken" });
  });
});

describe("a ring of several keys", () => {
  const both = createRing([next, old]);

  test("opens what any of them sealed, and seals with the first", () => {
    const sealed = ring.seal("secret", context);
    expect(both.open(sealed, context)).toEqual(opened("secret"));
    expect([both.isCurrent(sealed), both.isCurrent(both.seal("secret", context))]).toEqual([false, true]);
  });

  test("says which key is missing when one is", () => {
    expect(ring.open(both.seal("secret", context), context)).toEqual({ kind: "unknown_key", keyId: next.id });
  });

  test("is read as it was written", () => {
    expect(writeKeys(parseKeys(writeKeys([next, old])))).toBe(writeKeys([next, old]));
  });

  test("needs at least one key", () => {
    expect(() => createRing([])).toThrow();
  });
});
