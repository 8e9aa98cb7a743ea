import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { linkTagsMost, linkTitleMost, readPlainLink } from "./plain-link.ts";
import { createSchema, toInput } from "./schemas.ts";

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.constantFrom("", " ", "\u0000", "\ud800", "a\tb", "x".repeat(linkTitleMost), "x".repeat(linkTitleMost + 1)),
);
const anyValue = fc.oneof(
  anyText,
  fc.boolean(),
  fc.constantFrom(null, undefined, 1, 1.5, "active", "disabled", "2030-01-01T00:00:00Z", {}),
  fc.array(fc.oneof(anyText, fc.constantFrom("a", "b", 1)), { maxLength: 4 }),
  fc
    .integer({ min: linkTagsMost - 1, max: linkTagsMost + 1 })
    .map((count) => Array.from({ length: count }, (_, i) => `tag ${i}`)),
);
const names = [...Object.keys(createSchema.shape), "unknown", "__proto__"];
const url = fc.constantFrom("https://example.com/", "", " ", "\u0000", "x".repeat(2_048), "x".repeat(2_049));
const link = fc
  .record({ url: fc.oneof(url, anyValue), rest: fc.dictionary(fc.constantFrom(...names), anyValue, { maxKeys: 4 }) })
  .map(({ url: leadsTo, rest }) => ({ url: leadsTo, ...rest }));

describe("a link that is read without the schema", () => {
  test("is what the schema makes of it; whatever the schema refuses is left to it", () => {
    fc.assert(
      fc.property(link, (sent) => {
        const plain = readPlainLink(sent);
        if (plain === undefined) return;
        const { success, data } = createSchema.safeParse(sent);
        expect(success).toBe(true);
        if (data !== undefined) expect(plain).toEqual(toInput(data));
      }),
      { numRuns: 3_000 },
    );
  });

  test("is an ordinary one", () => {
    const sent = { url: "https://example.com/", code: "spring", title: "Frühling", tags: ["sale", "spring"] };
    expect(readPlainLink(sent)).toEqual({ ...sent, file: null });
    expect(readPlainLink({ url: sent.url, status: "disabled", permanent: true, expiresAt: null })).toBeDefined();
  });
});

test("anything that is not an object is left to the schema", () => {
  for (const sent of [null, undefined, 1, "https://example.com/", []]) expect(readPlainLink(sent)).toBeUndefined();
});
