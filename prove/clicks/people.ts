/**
 * Visitors whose facts are known. Each is one address and one User-Agent, and sends the same headers with every request:
 * so every report about them can be computed from the requests that were answered, whichever of them was first.
 */
import { type ClickFacts, dimensions } from "../../src/clicks/click.ts";
import type { HitReason } from "../../src/redirect/decide.ts";

export interface Person {
  /** Whole lines, as they are sent. */
  readonly headers: string;
  /** From its question mark on, or empty. */
  readonly query: string;
  readonly reason: HitReason;
  /** Has the cookie of `/clicks/exclude`. */
  readonly excluded: boolean;
  readonly facts: ClickFacts;
  /** Undefined: may not be recognised. */
  readonly visitor: string | undefined;
}

interface Agent {
  readonly text: string;
  readonly device?: string;
  readonly os?: string;
  readonly browser?: string;
  readonly bot?: string;
}

const agents: readonly Agent[] = [
  {
    text: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
    ...{ device: "desktop", os: "linux", browser: "Chrome" },
  },
  {
    text: "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0",
    ...{ device: "desktop", os: "windows", browser: "Firefox" },
  },
  {
    text: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
    ...{ device: "mobile", os: "ios", browser: "Safari" },
  },
  {
    text: "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36",
    ...{ device: "mobile", os: "android", browser: "Chrome" },
  },
  {
    text: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0",
    ...{ device: "desktop", os: "windows", browser: "Edge" },
  },
];

const bots: readonly Agent[] = [
  { text: "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", bot: "preview" },
  { text: "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", bot: "crawler" },
  { text: "curl/8.5.0", bot: "library" },
];

/** Networks whose country the bundled table knows, and one that is reserved. */
const networks = [
  { from: "5.9", country: "DE" },
  { from: "126.0", country: "JP" },
  { from: "90.0", country: "FR" },
  { from: "88.0", country: "ES" },
  { from: "177.0", country: "BR" },
  { from: "198.18", country: "" },
] as const;

const languages = [
  { header: "en-US,en;q=0.9", language: "en" },
  { header: "de-DE,de;q=0.9,en;q=0.5", language: "de" },
  { header: "fr", language: "fr" },
  { header: "", language: "" },
] as const;

const campaigns = [
  { utm_source: "newsletter", utm_medium: "email", utm_campaign: "spring" },
  { utm_source: "poster", utm_medium: "print", utm_campaign: "spring" },
  { utm_source: "mastodon", utm_medium: "social", utm_campaign: "launch, part 2" },
  { utm_source: "", utm_medium: "", utm_campaign: "" },
] as const;

const referrers = 20;

/** What must be found nowhere: an address, the network of one, and an email address in several places. */
export const planted = {
  addresses: ["198.51.100.171", "2001:db8:5eed:cafe:1:2:3:4", "2001:db8:5eed:cafe"],
  email: "jo.planted@mail.example",
  /** The site that these visitors came from. This is a fact, and must be found. */
  referrer: "planted-marker.example",
} as const;

const noFacts = Object.fromEntries(dimensions.map((name) => [name, ""])) as ClickFacts;

/** `group` (below 50): people of different groups share no address. */
export function createPeople(group: number, count: number): Person[] {
  return Array.from({ length: count }, (_, place) => personOf(group, place));
}

function personOf(group: number, place: number): Person {
  const isBot = place % 10 === 7;
  const agent = pick(isBot ? bots : agents, place, 3);
  const network = pick(networks, place, 5);
  const language = pick(languages, place, 7);
  const campaign = pick(campaigns, place, 11);
  const scanned = place % 13 === 4;
  const isPrefetch = place % 37 === 11;
  const [asksNotToBeTracked, excluded] = [place % 41 === 5, place % 97 === 6];
  const referrer = place % 3 === 0 ? "" : `news${(place * 7) % referrers}.example`;
  const address = `${network.from}.${group * 5 + (place >> 8)}.${place & 255}`;
  const headers = lines({
    "User-Agent": agent.text,
    "X-Forwarded-For": address,
    "Accept-Language": language.header,
    Referer: referrer === "" ? "" : `https://www.${referrer}/story/${place}?q=private`,
    "Sec-Purpose": isPrefetch ? "prefetch" : "",
    DNT: asksNotToBeTracked ? "1" : "",
    Cookie: excluded ? "theme=dark; ql_exclude=1" : "",
  });
  const parameters = new URLSearchParams(Object.entries(campaign).filter(([, value]) => value !== ""));
  const query = [scanned ? "qr" : "", parameters.toString()].filter((part) => part !== "").join("&");
  const { device = "", os = "", browser = "", bot = "" } = agent;
  const facts: ClickFacts = asksNotToBeTracked
    ? noFacts
    : {
        ...{ country: network.country, region: "", city: "", device, os, browser, bot, referrer, ...campaign },
        ...{ language: language.language, source: scanned ? "qr" : "link", variant: "" },
      };
  const reason: HitReason = isPrefetch ? "prefetch" : isBot ? "bot" : "counted";
  const visitor = asksNotToBeTracked || reason !== "counted" ? undefined : `${address} ${agent.text}`;
  return { headers, query: query === "" ? "" : `?${query}`, reason, excluded, facts, visitor };
}

/** Some people with the planted address and email in everything that they send. */
export function createPlanted(): Person[] {
  const [agent] = agents;
  return planted.addresses.slice(0, 2).map((address, place) => ({
    headers: lines({
      "User-Agent": place === 0 ? (agent?.text ?? "") : `${agent?.text} (${planted.email})`,
      "X-Forwarded-For": address,
      "Accept-Language": "en",
      Referer: `https://${planted.email.replace("@", "%40")}@${planted.referrer}/${planted.email}?from=${address}`,
      Cookie: `address=${address}; email=${planted.email}`,
      From: planted.email,
    }),
    query: `?utm_source=${encodeURIComponent(planted.email)}&utm_medium=${address}&utm_campaign=${planted.email}&email=${planted.email}`,
    ...{ reason: "counted", excluded: false },
    facts: {
      ...{ ...noFacts, device: "desktop", os: "linux", browser: "Chrome", language: "en", source: "link" },
      referrer: planted.referrer,
    },
    visitor: address,
  }));
}

/** Spread, so that facts do not go together. */
const pick = <Item>(items: readonly Item[], place: number, spread: number): Item =>
  items[(Math.imul(place * 2 + 1, 2_654_435_761 + spread * 40_503) >>> 8) % items.length] as Item;

const lines = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
