import { describe, expect, test } from "bun:test";
import { createBots } from "./bots.ts";

const browser = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
const phone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";

describe("a User-Agent", () => {
  test.each([
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
    "Twitterbot/1.0",
    "curl/8.5.0",
    "python-requests/2.32.0",
  ])("is a bot: %s", (agent) => {
    expect(createBots()(agent)).toBe(true);
  });

  test.each([browser, phone])("is a person: %s", (agent) => {
    expect(createBots()(agent)).toBe(false);
  });

  test("that is missing or empty is a bot", () => {
    const isBot = createBots();
    expect([isBot(null), isBot("")]).toEqual([true, true]);
  });

  test("gets the same verdict the second time, and after many others came between", () => {
    const isBot = createBots();
    const agents = Array.from({ length: 5_000 }, (_, i) => (i % 2 === 0 ? `${browser} ${i}` : `Twitterbot/${i}`));
    const first = agents.map(isBot);
    expect(first).toEqual(agents.map((_, i) => i % 2 === 1));
    expect(agents.map(isBot)).toEqual(first);
  });

  test("of any length is answered, by how it begins", () => {
    const isBot = createBots();
    expect(isBot(browser + " x".repeat(500_000))).toBe(false);
    expect(isBot(`Twitterbot/1.0 ${"x".repeat(1_000_000)}`)).toBe(true);
  });
});
