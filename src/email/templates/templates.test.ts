import { describe, expect, test } from "bun:test";
import type { DigestFacts } from "./digest.ts";
import { formatBytes, formatCount, formatDay } from "./format.ts";
import type { LinkNoticeFacts, NoticeLink } from "./link-notices.ts";
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

const about: LinkNoticeFacts = {
  ...{ tenant: "Acme Ltd", zone: "Europe/Berlin" },
  links: [
    {
      ...{ url: "https://go.example.com/winter", title: "Winter sale", at: Date.UTC(2026, 10, 16, 13, 5) },
      ...{ clicks: 1_234, usual: 31.5, answer: "answers 404" },
    },
  ],
};
const week: DigestFacts = {
  ...{
    tenant: "Acme Ltd",
    zone: "Europe/Berlin",
    clicks: 2_400,
    visitors: 1_100,
    before: { clicks: 2_000, visitors: 0 },
  },
  days: [100, 200, 300, 400, 500, 900, 0].map((clicks, day) => ({ start: Date.UTC(2026, 10, 8 + day, 23), clicks })),
  links: [{ url: "https://go.example.com/winter", title: "Winter sale", clicks: 1_200 }],
  countries: [
    { value: "DE", clicks: 1_800 },
    { value: "", clicks: 500 },
    { value: "…", clicks: 100 },
  ],
  referrers: [{ value: "", clicks: 2_400 }],
  dead: [{ url: "https://go.example.com/autumn", title: null }],
  nearLimit: [{ url: "https://go.example.com/winter", used: 9_000, max: 10_000 }],
};

const all = [
  ["share", writeMail("share", shared, stop)],
  ["hits at 80", writeMail("quota", near, stop)],
  ["hits at 100", writeMail("quota", { ...near, percent: 100, used: 10_000 }, stop)],
  ["links at 80", writeMail("quota", { ...near, of: { kind: "links", resetsAt: december } }, stop)],
  ["links at 100", writeMail("quota", { ...near, percent: 100, of: { kind: "links", resetsAt: december } }, stop)],
  ["storage at 80", writeMail("quota", { ...near, of: { kind: "storage" } }, stop)],
  ["first clicks", writeMail("firstClick", about, stop)],
  ["a spike", writeMail("spike", about, stop)],
  [
    "a drop",
    writeMail("drop", { ...about, links: [about.links[0], ...about.links].flatMap((one) => one ?? []) }, stop),
  ],
  ["a dead destination", writeMail("deadTarget", about, stop)],
  ["the week", writeMail("digest", week, stop)],
  ["storage at 100", writeMail("quota", { ...near, percent: 100, of: { kind: "storage" } }, stop)],
] as const;

/** As a reader that shows no HTML would. */
const seen = (html: string): string =>
  html
    .replace(/<style>[\s\S]*?<\/style>/, "")
    .replaceAll(/aria-label="([^"]*)"/g, '">$1<i "')
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replaceAll(/\s+/g, " ");

describe.each(all)("the email about %s", (_, { subject, text, html }) => {
  test("says the same in text and in HTML", () => {
    const words = (some: string) => some.match(/[\p{L}\p{N}]{4,}/gu) ?? [];
    const inHtml = new Set(words(seen(html)));
    const inText = words(text.replaceAll(stop, "").replaceAll("https://", ""));
    expect(inText.length).toBeGreaterThan(15);
    expect(inText.filter((word) => !inHtml.has(word))).toEqual([]);
  });

  test("loads nothing from anywhere, and runs nothing", () => {
    expect(html).not.toMatch(/<(?:img|script|link|iframe|object|form|svg|video|base)\b/i);
    expect(html).not.toMatch(/\bsrc=|url\(|@import|\bon\w+=|data:/i);
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
    expect(text).toMatch(/^(?:Unsubscribe|Switch off [\w ]+): https:\/\/go\.example\.com\/email\/unsubscribe\/token$/m);
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
      writeMail(
        "deadTarget",
        { ...about, tenant: evil, links: about.links.map((one) => ({ ...one, title: evil })) },
        stop,
      ),
      writeMail("digest", { ...week, tenant: evil, referrers: [{ value: evil, clicks: 1 }], countries: [] }, stop),
    ]) {
      expect(html).not.toContain("<script>");
      expect(html).not.toContain('<a href="javascript');
      expect(html).not.toContain('alert("1"');
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

describe("the week", () => {
  const { text, html, subject } = writeMail("digest", week, stop);

  test("says what it was, by the reader's calendar", () => {
    expect(subject).toBe("Your week: 2,400 clicks: Acme Ltd");
    expect(text).toContain("Acme Ltd, 9 to 15 November 2026.");
    expect(text).toContain("Clicks: 2,400 (20 % more than the week before)");
    expect(text).toContain("Daily visitors: 1,100 (none the week before)");
    expect(text).toContain("Germany: 1,800 (75 %)");
    expect(text).toContain("Unknown: 500 (21 %)");
    expect(text).toContain("Other: 100 (4 %)");
    expect(text).toContain("Direct or unknown: 2,400 (100 %)");
    expect(text).toContain("go.example.com/winter: 90 %\n  9,000 of 10,000 visits");
  });

  test("is a picture without an image: bars from zero, in text and in cells, with words for those who see neither", () => {
    expect(text).toContain("▁▂▃▄▅█▁");
    const heights = [...html.matchAll(/ height="(\d+)" style="height:\d+px;background/g)].map(([, height]) =>
      Number(height),
    );
    expect(heights).toEqual([10, 20, 29, 39, 49, 88, 1]);
    expect(html).toContain('aria-label="Clicks a day: Monday 100, Tuesday 200, Wednesday 300');
  });

  test("that goes over the end of a month or a year names both", () => {
    const from = (first: number) =>
      writeMail(
        "digest",
        { ...week, zone: "UTC", days: [0, 6].map((day) => ({ start: first + day * 86_400_000, clicks: 1 })) },
        null,
      ).text;
    expect(from(Date.UTC(2026, 10, 30))).toContain("30 November to 6 December 2026");
    expect(from(Date.UTC(2026, 11, 28))).toContain("28 December 2026 to 3 January 2027");
  });

  test("without anything else to say has no empty headings", () => {
    const none = { ...week, clicks: 0, links: [], countries: [], referrers: [], dead: [], nearLimit: [] };
    const written = writeMail("digest", none, null);
    expect(written.html).not.toContain("<h2");
    expect(written.text).toContain("0 clicks");
  });
});

test("a notice about many links names twenty of them, and says how many more there are", () => {
  const one = about.links[0];
  const links = Array.from(
    { length: 33 },
    (_, place) => ({ ...one, url: `https://go.example.com/link${place}` }) as NoticeLink,
  );
  const { subject, text } = writeMail("firstClick", { ...about, links }, null);
  expect(subject).toBe("33 links had their first click: Acme Ltd");
  expect([text.includes("link19"), text.includes("link20"), text.includes("And 13 more.")]).toEqual([
    true,
    false,
    true,
  ]);
  expect(text).toContain("16 November, 14:05 CET");
});
