import { describe, expect, test } from "bun:test";
import { dayMs, systemClock } from "../base/clock.ts";
import { createSigningKeys } from "../base/signature.ts";
import { createPasses } from "./pass-cookie.ts";

const signerOf = (key: string) =>
  createSigningKeys([{ id: "k1", key: Buffer.from(key) }], systemClock).signerFor("tests");
const now = Date.UTC(2026, 10, 16);
const passes = createPasses(signerOf("a secret"), false);
const cookie = (header: string) => header.split(";")[0] ?? "";
const pass = cookie(passes.issue("abc", "abc", 3, now));

describe("a pass", () => {
  test("is good for its link and version, for a day", () => {
    expect(passes.isGood(pass, "abc", 3, now)).toBe(true);
    expect(passes.isGood(`other=1; ${pass}; more=2`, "abc", 3, now + dayMs - 1)).toBe(true);
    expect(passes.isGood(pass, "abc", 3, now + dayMs)).toBe(false);
  });

  test("is not good for another link, another version, or under another secret", () => {
    expect(passes.isGood(pass, "abd", 3, now)).toBe(false);
    expect(passes.isGood(pass, "abc", 4, now)).toBe(false);
    expect(createPasses(signerOf("another"), false).isGood(pass, "abc", 3, now)).toBe(false);
  });

  test("is not good with any one character changed", () => {
    const start = pass.indexOf("=") + 1;
    for (let i = start; i < pass.length - 1; i++) {
      const other = pass[i] === "1" ? "2" : "1";
      expect(passes.isGood(pass.slice(0, i) + other + pass.slice(i + 1), "abc", 3, now)).toBe(false);
    }
  });

  test.each([
    null,
    "",
    "quicklink-pass",
    "quicklink-pass=",
    "quicklink-pass=.",
    `${pass.split(".")[0]}.`,
    "=;;==",
    `${pass};`.repeat(500),
  ])("is not good if it is none: %p", (cookies) => {
    expect(passes.isGood(cookies, "abc", 4, now)).toBe(false);
  });

  test("goes to the link's own address only, out of reach of scripts, and under https only by https", () => {
    expect(passes.issue("abc", "abc", 3, now)).toMatch(/; Path=\/abc; Max-Age=86400; HttpOnly; SameSite=Lax$/);
    expect(createPasses(signerOf("a secret"), true).issue("abc", "abc", 3, now)).toMatch(
      /^__Secure-quicklink-pass=.*; Secure$/,
    );
  });
});
