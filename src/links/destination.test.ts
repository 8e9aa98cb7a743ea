import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Problem } from "../base/errors.ts";
import { destinationMost, parseDestination } from "./destination.ts";

const ownHosts = new Set(["go.example.com", "localhost:3000", "xn--krzer-kva.example"]);
const parse = (text: string) => parseDestination("url", text, ownHosts);

/** The code of the refusal, or what was accepted. */
function outcome(text: string): string {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    expect(error.status).toBe(422);
    expect(error.more.errors?.map(({ field }) => field)).toEqual(["url"]);
    return error.more.errors?.[0]?.code ?? "";
  }
}

const refused: Record<string, string[]> = {
  empty: ["", " ", "\t\n", "\u00a0"],
  not_a_url: [
    "example",
    "example.com/page",
    "//example.com",
    "/page",
    "https://",
    "https:///",
    "http://exa mple.com",
    "http://exa<mple.com",
    "https://example.com:99999",
    "https://[::1",
    "https://1.2.3.4.5/",
    "https://%00.example/",
    "https://xn--a.example/",
  ],
  scheme_not_allowed: [
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    " javascript:alert(1)",
    "javascript://example.com/%0aalert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "ftp://example.com/",
    "blob:https://example.com/1",
    "mailto:a@example.com",
    "about:blank",
    "ws://example.com",
    "view-source:https://example.com",
  ],
  control_characters: [
    "java\tscript:alert(1)",
    "java\nscript:alert(1)",
    "java\r\nscript:alert(1)",
    "ht\ttps://example.com/",
    "https:\n//example.com/",
    "https://exa\tmple.com/",
    "https://example.com/a\r\nSet-Cookie: a=b",
    "https://example.com/\u0000",
    "https://example.com/\u007f",
    "https://example.com/\u0085",
    "https://example.com/#\u001b[31m",
  ],
  credentials: [
    "https://user@example.com/",
    "https://user:pass@example.com/",
    "https://:pass@example.com/",
    "https://example.com@evil.example/",
    "https://go.example.com@evil.example/",
  ],
  own_host: [
    "https://go.example.com",
    "http://go.example.com/abc",
    "https://GO.Example.COM/abc",
    "https://go.example.com:443/abc",
    "https://\uff47\uff4f.example.com/abc",
    "https:go.example.com/abc",
    "https:\\\\go.example.com\\abc",
    "http://localhost:3000/abc",
    "https://k\u00fcrzer.example/",
  ],
  too_long: [
    `https://example.com/${"x".repeat(destinationMost)}`,
    // 1,020 characters here, %C3%A9 each in the header.
    `https://example.com/${"\u00e9".repeat(1_000)}`,
    `https://example.com/?${"\u{1f4a5}".repeat(200)}`,
  ],
};

describe("a destination", () => {
  for (const [code, texts] of Object.entries(refused)) {
    test.each(texts.map((text) => [text.length > 60 ? `${text.slice(0, 60)}…` : text, text]))(
      `is refused as ${code}: %j`,
      (_, text) => {
        expect(outcome(text)).toBe(code);
      },
    );
  }

  test("is refused with the name of the field it came in", () => {
    expect(() => parseDestination("fallbackUrl", "data:,", ownHosts)).toThrow(
      expect.objectContaining({
        more: { errors: [expect.objectContaining({ field: "fallbackUrl", code: "scheme_not_allowed" })] },
      }),
    );
  });

  test("that is ours is refused also with the dot that ends a full name", () => {
    expect(outcome("https://go.example.com./abc")).toBe("own_host");
  });

  test.each([
    ["https://example.com", "https://example.com/"],
    ["  https://example.com/a \n", "https://example.com/a"],
    ["HTTP://EXAMPLE.com:80/A", "http://example.com/A"],
    ["https://example.com/a/../b?q=1#f", "https://example.com/b?q=1#f"],
    ["https://b\u00fccher.example/", "https://xn--bcher-kva.example/"],
    ["https://\u4f8b\u3048.\u30c6\u30b9\u30c8/", "https://xn--r8jz45g.xn--zckzah/"],
    ["https://example.com/caf\u00e9?\u00fc#\u00f1", "https://example.com/caf%C3%A9?%C3%BC#%C3%B1"],
    ["https://example.com/\ud800", "https://example.com/%EF%BF%BD"],
    ["https://example.com/a\u2028b", "https://example.com/a%E2%80%A8b"],
    ["https://example.com:8443/", "https://example.com:8443/"],
    ["http://[::1]:8080/", "http://[::1]:8080/"],
    ["http://0x7f.1/", "http://127.0.0.1/"],
    ["https://sub.go.example.com/", "https://sub.go.example.com/"],
    ["http://localhost:3001/", "http://localhost:3001/"],
    ["https://example.com/?next=javascript:alert(1)", "https://example.com/?next=javascript:alert(1)"],
    ["https://example.com/__proto__", "https://example.com/__proto__"],
  ])("is kept as the parser spells it: %j", (text, kept) => {
    expect(parse(text)).toBe(kept);
  });

  test("may have exactly as many characters as are promised", () => {
    const start = "https://example.com/";
    expect(parse(start + "x".repeat(destinationMost - start.length))).toHaveLength(destinationMost);
    expect(outcome(start + "x".repeat(destinationMost - start.length + 1))).toBe("too_long");
  });

  test("that is accepted can stand in a header as it is, whatever was sent", () => {
    const anyText = fc.string({ unit: "binary", maxLength: 300 });
    const grapheme = fc.string({ unit: "grapheme", maxLength: 50 });
    const nearlyUrl = fc
      .tuple(
        fc.constantFrom("http://", "https://", "https:", "HTTP:\\\\", "https:/"),
        fc.oneof(fc.domain(), fc.ipV4(), fc.constantFrom("exämple.com", "EXAMPLE.com", "[::1]"), grapheme),
        fc.oneof(fc.constant("/"), fc.webPath(), grapheme, anyText),
        fc.oneof(
          fc.constant(""),
          anyText.map((text) => `?${text}`),
          anyText.map((text) => `#${text}`),
        ),
      )
      .map((parts) => parts.join(""));
    let accepted = 0;
    fc.assert(
      fc.property(fc.oneof(anyText, fc.webUrl(), { weight: 4, arbitrary: nearlyUrl }), (text) => {
        let url: string;
        try {
          url = parse(text);
        } catch (error) {
          return error instanceof Problem && error.code === "invalid_input";
        }
        accepted++;
        const parsed = new URL(url);
        return (
          /^https?:\/\/[\u0021-\u007e]+$/.test(url) &&
          parsed.href === url &&
          url.length <= destinationMost &&
          parsed.username === "" &&
          parsed.password === "" &&
          !ownHosts.has(parsed.host) &&
          new Headers({ location: url }).get("location") === url
        );
      }),
      { numRuns: 2_000 },
    );
    expect(accepted).toBeGreaterThan(100);
  });

  test("that was accepted is accepted again, unchanged", () => {
    fc.assert(
      fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), (text) => {
        const once = parse(text);
        return parse(once) === once;
      }),
    );
  });
});
