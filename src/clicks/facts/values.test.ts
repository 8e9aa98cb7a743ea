import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createBots } from "../../redirect/bots.ts";
import { createAgents } from "../../redirect/user-agents.ts";
import { createBotKinds } from "./bot-kinds.ts";
import { factMost, factValue } from "./fact-value.ts";
import { cityRecord, createPlaces } from "./places.ts";
import { referrerHost } from "./referrer.ts";
import { createVisitorHash, joinParts } from "./visitor-hash.ts";

describe("a value", () => {
  test.each([
    ["spring", "spring"],
    ["  Spring sale ", "Spring sale"],
    ["a\u0000b\r\nc\u202ed", "abcd"],
    ["…", ""],
    [" … ", ""],
    ["jane@example.com", ""],
    ["to jane@example.com now", ""],
    ["jane%40example%2Ecom", ""],
    ["jane%2540example%252ecom", ""],
    ["jane＠example．com", ""],
    ["ip-203.0.113.7", ""],
    ["user_203.0.113.7:443,x", ""],
    ["from 2001:db8::7, today", ""],
    ["id=[2001:db8:0:0:1:2:3:7]", ""],
    ["203.0.113.7.example.com", "203.0.113.7.example.com"],
    ["release 1.2.3.4.5", "release 1.2.3.4.5"],
    ["300.1.2.3", "300.1.2.3"],
    ["at 10:30:15", "at 10:30:15"],
    ["spring::sale", "spring::sale"],
    ["Foo::add", "Foo::add"],
    ["203.0.113.7", ""],
    ["2001:db8::1", ""],
    ["[2001:db8::1]", ""],
    ["jane%40example.com", ""],
    ["to+jane%2540example.com", ""],
    ["203.0.113.7:443", ""],
    ["[2001:db8::1]:443", ""],
    ["100%40", "100%40"],
    ["me@home", "me@home"],
    ["1.2", "1.2"],
    ["\ud800x", "\ufffdx"],
  ])("%j is kept as %j", (text, expected) => {
    expect(factValue(text)).toBe(expected);
  });

  test("is never long, marked as other, broken or with control characters, whatever is sent", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        const value = factValue(text);
        expect(value.length).toBeLessThanOrEqual(factMost);
        expect(value.isWellFormed()).toBe(true);
        expect(value).not.toBe("…");
        expect(value).not.toMatch(/\p{Cc}/u);
        expect(value).toBe(value.trim());
      }),
      { numRuns: 2_000 },
    );
    expect(factValue(`${"a".repeat(99)}😀`)).toBe("a".repeat(99));
    expect(factValue(`${"a".repeat(98)}😀b`)).toBe(`${"a".repeat(98)}😀`);
  });
});

test.each([
  ["https://www.google.com/", "google.com"],
  ["https://News.Example.COM:8443/a?b#c", "news.example.com"],
  ["http://user:secret@example.com/", "example.com"],
  ["https://example.com./", "example.com"],
  ["https://bücher.example/", "xn--bcher-kva.example"],
  ["https://t.co/abc", "t.co"],
  ["https://www.com/", "com"],
  ["android-app://com.google.android.gm/", "android-app://com.google.android.gm"],
  ["android-app://Org.Telegram.Messenger", "android-app://org.telegram.messenger"],
  ["ios-app://389801252/http/instagram.com", "ios-app://389801252"],
  ["about:blank", ""],
  ["file:///home/jane/letter.html", ""],
  ["javascript:alert(1)", ""],
  ["https://", ""],
  ["https://a b/", ""],
  ["http://203.0.113.7/", ""],
  ["http://[2001:db8::1]/", ""],
  ["example.com", ""],
  ["", ""],
  [`https://${"a".repeat(5_000)}/`, "a".repeat(factMost)],
])("the referrer %j is kept as %j", (header, expected) => {
  expect(referrerHost(header)).toBe(expected);
});

describe("the kind of a bot", () => {
  const kindOf = createBotKinds(createBots());
  test.each([
    [
      "",
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
    ],
    ["", "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"],
    ["preview", "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"],
    ["preview", "WhatsApp/2.23.20.0"],
    ["preview", "Twitterbot/1.0"],
    ["preview", "TelegramBot (like TwitterBot)"],
    ["preview", "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"],
    // iMessage sends both names, so that sites give it a preview.
    [
      "preview",
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0",
    ],
    ["preview", "LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)"],
    ["preview", "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)"],
    ["preview", "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com"],
    ["preview", "Mastodon/4.3.0 (http.rb/5.2.0; +https://mastodon.social/)"],
    ["preview", "Mozilla/5.0 (compatible; Pinterestbot/1.0; +http://www.pinterest.com/bot.html)"],
    ["preview", "Mozilla/5.0 (compatible; redditbot/1.0; +http://www.reddit.com/feedback)"],
    ["ai", "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"],
    ["ai", "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)"],
    ["ai", "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot"],
    ["ai", "CCBot/2.0 (https://commoncrawl.org/faq/)"],
    ["ai", "Mozilla/5.0 (compatible; Google-NotebookLM)"],
    ["ai", "Mozilla/5.0 (compatible; GoogleAgent-Mariner)"],
    // Read a page to their user, now and under their former name.
    [
      "ai",
      "Mozilla/5.0 (Linux; Android 7.0; SM-G930V Build/NRD90M) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/59.0.3071.125 Mobile Safari/537.36 (compatible; Google-Read-Aloud; +https://support.google.com/webmasters/answer/1061943)",
    ],
    ["ai", "Mozilla/5.0 (compatible; google-speakr)"],
    // Index pages for the search of a language model.
    ["ai", "meta-webindexer/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)"],
    ["ai", "Mozilla/5.0 (compatible; OAI-SearchBot/1.3; +https://openai.com/searchbot)"],
    ["preview", "GoogleMessages"],
    ["monitor", "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)"],
    ["monitor", "Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)"],
    ["monitor", "kube-probe/1.30"],
    ["library", "curl/8.5.0"],
    ["library", "python-requests/2.32.3"],
    ["library", "Go-http-client/2.0"],
    ["library", "axios/1.7.2"],
    ["crawler", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"],
    ["crawler", "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"],
    ["crawler", "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"],
    ["other", ""],
  ])("%s: %s", (kind, userAgent) => {
    expect(kindOf(userAgent)).toBe(kind);
  });
});

test.each([
  [
    "Safari",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
  ],
  [
    "Safari",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15",
  ],
  ["Firefox", "Mozilla/5.0 (Android 14; Mobile; rv:143.0) Gecko/143.0 Firefox/143.0"],
  [
    "Edge",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
  ],
  [
    "Samsung Internet",
    "Mozilla/5.0 (Linux; Android 14; SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36",
  ],
  [
    "Chrome",
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
  ],
])("the browser %s is known by its User-Agent on any device", (browser, userAgent) => {
  expect(createAgents()(userAgent).browser).toBe(browser);
});

describe("places", () => {
  const countries = { isReady: true, ofAddress: (address: string) => (address === "::1" ? undefined : "DE") };
  const cities = (country: string) => ({ get: () => ({ country, region: "Bavaria", city: "Munich" }) });

  test("have the country of the table that rules use; a city of another country is not believed", () => {
    expect(createPlaces(countries, undefined).of("203.0.113.7")).toEqual({ country: "DE", region: "", city: "" });
    const munich = { country: "DE", region: "Bavaria, DE", city: "Munich, Bavaria, DE" };
    expect(createPlaces(countries, cities("DE")).of("203.0.113.7")).toEqual(munich);
    expect(createPlaces(countries, cities("AT")).of("203.0.113.7")).toEqual({ country: "DE", region: "", city: "" });
    expect(createPlaces(countries, cities("DE")).of("::1")).toEqual({ country: "", region: "", city: "" });
  });

  test.each([
    [{ country: { iso_code: "DE" }, subdivisions: [{ names: { en: "Bavaria" } }], city: { names: { en: "Munich" } } }],
    [{ country_code: "DE", state1: "Bavaria", city: "Munich" }],
  ])("are read from either form of a record: %j", (record) => {
    expect(cityRecord(record)).toEqual({ country: "DE", region: "Bavaria", city: "Munich" });
  });

  test.each([[null], ["Munich"], [[]]])("a record that is %j tells nothing", (record) => {
    expect(cityRecord(record)).toBeUndefined();
  });
});

test("both parts of a visitor's hash matter, and it fits 53 bits and is never 0", () => {
  const part = fc.maxSafeNat();
  fc.assert(
    fc.property(part, part, part, (network, agent, other) => {
      const joined = joinParts(network, agent);
      expect(Number.isSafeInteger(joined)).toBe(true);
      expect(BigInt(joined)).toBe((BigInt(network) + BigInt(agent)) % 2n ** 53n || 1n);
      if (other !== agent) expect(joinParts(network, other)).not.toBe(joined);
    }),
  );
  const hash = createVisitorHash(new Uint8Array(32));
  expect(hash("network", "a")).not.toBe(hash("agent", "a"));
  expect(hash("network", "a")).not.toBe(createVisitorHash(new Uint8Array(32).fill(1))("network", "a"));
});
