import { describe, expect, test } from "bun:test";
import { formatBytes, formatCount, formatDay } from "./format.ts";
import type { QuotaFacts } from "./quota.ts";
import type { ShareFacts } from "./share.ts";
import { writeMail } from "./templates.ts";

const december = Date.UTC(2026, 11, 1);
const shared: ShareFacts = {
  from: "Acme Ltd",
  shortUrl: "https://go.example.com/abc1234",
  title: "The autumn catalogue",
  host: "shop.example.com",
  message: "Have a look\nat page 12.",
};
const hits: QuotaFacts["of"] = {
  kind: "hits",
  shortUrl: "https://go.example.com/abc1234",
  fallback: false,
  resetsAt: december,
};
const near: QuotaFacts = { tenant: "Acme Ltd", percent: 80, used: 8_123, max: 10_000, of: hits };
const stop = "https://go.example.com/email/unsubscribe/token";

const all = [
  ["share", writeMail("share", shared, stop)],
  ["hits at 80", writeMail("quota", near, stop)],
  ["hits at 100", writeMail("quota", { ...near, percent: 100, used: 10_000 }, stop)],
  ["links at 80", writeMail("quota", { ...near, of: { kind: "links", resetsAt: december } }, stop)],
  ["links at 100", writeMail("quota", { ...near, percent: 100, of: { kind: "links", resetsAt: december } }, stop)],
  ["storage at 80", writeMail("quota", { ...near, of: { kind: "storage" } }, stop)],
  ["storage at 100", writeMail("quota", { ...near, percent: 100, of: { kind: "storage" } }, stop)],
] as const;

/** As a reader that shows no HTML would. */
const seen = (html: string): string =>
  html
    .replace(/<style>[\s\S]*?<\/style>/, "")
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replaceAll(/\s+/g, " ");

describe.each(all)("the email about %s", (_, { subject, text, html }) => {
  test("says the same in text and in HTML", () => {
    const words = (some: string) => some.match(/[\p{L}\p{N}]{4,}/gu) ?? [];
    const inHtml = new Set(words(seen(html)));
    const inText = words(text.replaceAll(stop, ""));
    expect(inText.length).toBeGreaterThan(15);
    expect(inText.filter((word) => !inHtml.has(word))).toEqual([]);
  });

  test("loads nothing from anywhere, and runs nothing", () => {
    expect(html).not.toMatch(/<(?:img|script|link|iframe|object|form|svg|video|base)\b/i);
    expect(html).not.toMatch(/\bsrc=|url\(|@import|\bon\w+=/i);
  });

  test("can be read in the dark, aloud, and on a small screen", () => {
    expect(html).toContain('<html lang="en">');
    expect(html).toContain('name="color-scheme" content="light dark"');
    expect(html).toContain("prefers-color-scheme: dark");
    expect(html).toContain('name="viewport"');
    expect(html.match(/<h1\b/g)).toHaveLength(1);
  });

  test("says whom it is from or about in its subject, in one line", () => {
    expect(subject).toContain("Acme Ltd");
    expect(subject).not.toMatch(/[\r\n]/);
  });

  test("says how to get no more, in both", () => {
    expect(text).toContain(`Unsubscribe: ${stop}`);
    expect(html).toContain(`href="${stop}"`);
  });
});

describe("text written by others", () => {
  const evil = `<script>alert("1")</script>&'" <a href="javascript:x">`;
  const everywhere: ShareFacts = { ...shared, from: evil, title: evil, host: evil, message: `${evil}\n.\n${evil}` };

  test("stays text, wherever it is used", () => {
    for (const { html } of [
      writeMail("share", everywhere, stop),
      writeMail("quota", { ...near, tenant: evil, of: { ...hits, shortUrl: evil } }, stop),
    ]) {
      expect(html).not.toContain("<script>");
      expect(html).not.toContain('<a href="javascript');
      expect(html).not.toContain('"1"');
      expect(seen(html)).toContain(evil);
    }
  });

  test("cannot inject a header through the subject", () => {
    const { subject } = writeMail(
      "share",
      { ...shared, from: "Acme\r\nBcc: all@example.com", title: "a\u2028b\0c" },
      stop,
    );
    expect(subject).toBe("Acme Bcc: all@example.com shared “a b c” with you");
  });

  test("is shortened in a subject, without splitting a character", () => {
    const { subject } = writeMail("share", { ...shared, title: "🔗".repeat(5_000) }, stop);
    expect(subject.length).toBeLessThanOrEqual(201);
    expect(subject.isWellFormed()).toBe(true);
  });

  test("keeps its line breaks, and is distinguishable from ours", () => {
    const { text, html } = writeMail("share", shared, stop);
    expect(text).toContain("> Have a look\n> at page 12.");
    expect(html).toContain("Have a look<br>at page 12.");
  });
});

describe("a share", () => {
  test("shows where it goes and where it leads, and is complete without a title, a message or a host", () => {
    const { text } = writeMail("share", shared, stop);
    expect(text).toContain("Open the link: https://go.example.com/abc1234");
    expect(text).toContain("It leads to shop.example.com.");
    const bare = writeMail("share", { ...shared, title: null, host: null, message: null }, null);
    expect(bare.subject).toBe("Acme Ltd shared a link with you");
    for (const body of [bare.text, bare.html]) expect(body).not.toMatch(/null|undefined|Unsubscribe/);
  });
});

describe("a notice about a limit", () => {
  test("says how much, what happens, and until when", () => {
    const { text } = writeMail("quota", near, stop);
    expect(text).toContain("8,123 of 10,000 visits this month (81 %)");
    expect(text).toContain("see an error page until 1 December 2026 (UTC)");
  });

  test("does not say 100 % before it is so", () => {
    expect(writeMail("quota", { ...near, used: 9_999 }, stop).text).toContain("(99 %)");
  });

  test("knows of a fallback", () => {
    const { text } = writeMail("quota", { ...near, percent: 100, of: { ...hits, fallback: true } }, stop);
    expect(text).toContain("now go to its fallback address");
    expect(text).not.toContain("You can set a fallback");
  });

  test("copes with a limit of 0", () => {
    expect(writeMail("quota", { ...near, used: 0, max: 0 }, stop).text).toContain("(100 %)");
  });
});

test("numbers and days are written for any reader", () => {
  expect([formatCount(1_234_567), formatDay(december - 1), formatDay(december)]).toEqual([
    "1,234,567",
    "30 November 2026 (UTC)",
    "1 December 2026 (UTC)",
  ]);
  expect([0, 999, 1_000, 999_999, 812_500_000, 999_999_999, 1_000_000_000, 5e18].map(formatBytes)).toEqual([
    "0 bytes",
    "999 bytes",
    "1 kB",
    "999.9 kB",
    "812.5 MB",
    "999.9 MB",
    "1 GB",
    "5,000 PB",
  ]);
});
