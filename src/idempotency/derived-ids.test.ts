import { expect, test } from "bun:test";
import { derive, type IdSource } from "./derived-ids.ts";

const source: IdSource = {
  serverSecret: new Uint8Array(32).fill(1),
  key: "a key",
  seed: "a seed",
  createdAt: Date.UTC(2026, 10, 16),
};

test("the same three things give the same ids and secrets, and each of them changes all", () => {
  const valuesOf = (change: Partial<IdSource>) => {
    const { id, secret } = derive({ ...source, ...change });
    return [id("link"), id("link", 1), id("file"), Buffer.from(secret("key")).toString("hex")];
  };
  const values = valuesOf({});
  expect(valuesOf({})).toEqual(values);
  expect(new Set(values).size).toBe(values.length);
  for (const change of [{ serverSecret: new Uint8Array(32).fill(2) }, { key: "another" }, { seed: "another" }]) {
    expect(valuesOf(change).filter((value, i) => value === values[i])).toEqual([]);
  }
});

test("what is sealed with one key cannot be opened with another", () => {
  const sealed = derive(source).seal("an answer");
  expect(derive(source).open(sealed)).toBe("an answer");
  expect(() => derive({ ...source, key: "another" }).open(sealed)).toThrow();
});
