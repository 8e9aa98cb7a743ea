import { describe, expect, test } from "bun:test";
import type { TargetFile } from "../links/link.ts";
import { linkForm } from "./form.ts";
import type { Known } from "./resolve.ts";

const file: TargetFile = {
  ...{ key: "stored/ten_1/fil_1", name: "Grüße.pdf", type: "application/pdf", sizeBytes: 12 },
  sha256: "ab".repeat(32),
};
const known = (more: Partial<Known>): Known => ({
  ...{ url: "https://example.com/", file: null, permanent: false, expiresAt: null, fallbackUrl: null },
  ...{ password: false, hitsMax: null, choice: null, pattern: undefined, ...more },
});
const back = (value: Known) => linkForm.fromJson(JSON.parse(JSON.stringify(linkForm.toJson(value))));

describe("a link in the shared cache", () => {
  test.each([
    known({}),
    known({ permanent: true, expiresAt: 5, fallbackUrl: "https://example.com/sorry", hitsMax: 7, password: true }),
    known({ url: "", file }),
    known({ url: "", file: { ...file, sha256: null } }),
  ])("comes back as it went: %#", (value) => {
    expect(back(value)).toEqual(value);
  });

  test("that was written before there were files is read as ever", () => {
    expect(linkForm.fromJson({ u: "https://example.com/", p: false })).toEqual(known({}));
  });

  test("to a file has no address that a server of the version before could send visitors to", () => {
    expect(linkForm.toJson(known({ url: "", file }))).not.toHaveProperty("u");
  });

  test.each([
    [{ p: false }],
    [{ u: "", p: false, d: { k: "x" } }],
    [{ p: false, d: null }],
    [{ d: { k: 1 }, p: false }],
  ])("that makes no sense is refused: %j", (json) => {
    expect(() => linkForm.fromJson(json)).toThrow();
  });
});
