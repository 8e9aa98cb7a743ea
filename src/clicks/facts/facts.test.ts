import { heapStats } from "bun:jsc";
import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { manualClock } from "../../base/clock.ts";
import { createMetrics } from "../../base/metrics.ts";
import { cacheKey } from "../../links/link.ts";
import { createBots } from "../../redirect/bots.ts";
import { queryOf } from "../../redirect/forward-query.ts";
import { createAgents } from "../../redirect/user-agents.ts";
import type { LinkNumber, TenantNumber } from "../../sql/schema.ts";
import { type ClickFacts, dimensions, other } from "../click.ts";
import { createBotKinds } from "./bot-kinds.ts";
import { createCapture } from "./capture.ts";
import { type RecordedLink, recordedLink } from "./columns.ts";
import { createFacts, type SeenFacts } from "./facts.ts";
import { createVisitorHash } from "./visitor-hash.ts";

const secret = createHmac("sha256", "for tests").digest();
const target = recordedLink({ link: 1 as LinkNumber, tenant: 2 as TenantNumber, tags: [], facts: true });
const chrome =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36";
const here = "203.0.113.77";

const newFacts = (clock = manualClock(0)) =>
  createFacts({
    clock,
    agentOf: createAgents(),
    botKindOf: createBotKinds(createBots()),
    places: {
      isReady: true,
      of: (address) => ({ country: address.startsWith("203.") ? "DE" : "AT", region: "Bavaria, DE", city: "" }),
    },
    hash: createVisitorHash(secret),
    ownHosts: new Set(["go.example.com"]),
  });

interface Visit extends Partial<SeenFacts> {
  readonly headers?: Record<string, string>;
  readonly variant?: string;
  readonly to?: string;
  readonly domain?: string;
  readonly link?: RecordedLink;
}

const readFacts = newFacts();

function read({ headers = {}, variant = "", to = "", domain = "", link = target, ...seen }: Visit, facts = readFacts) {
  const visit = {
    headers: new Headers({ "user-agent": chrome, ...headers }),
    ...{ query: "", address: here, country: undefined, ...seen },
  };
  const known = facts(visit, cacheKey(domain, "abc"), link, variant, to);
  if (known === "excluded") return known;
  const texts = known.facts.map(({ text }) => text);
  return {
    ...(Object.fromEntries(dimensions.map((name, i) => [name, texts[i]])) as ClickFacts),
    visitor: known.visitor,
  };
}

const nothing = Object.fromEntries(dimensions.map((name) => [name, ""]));

describe("the facts of a visit", () => {
  test("have the campaign of the destination that the visitor got, and not of another one of the link", () => {
    const link = { ...target };
    const campaignTo = (name: string, of = link) => {
      const known = read({ to: `https://example.com/?utm_campaign=${name}`, link: of });
      return known === "excluded" ? known : known.utm_campaign;
    };
    for (const name of ["own", "rule", "own", "split", "rule"]) expect(campaignTo(name)).toBe(name);
    expect(campaignTo("other", { ...target })).toBe("other");
  });

  test("are read once for a long destination, also if the link answered with its fallback first", () => {
    const link = { ...target };
    const long = `https://example.com/${"a".repeat(300)}?utm_campaign=own`;
    for (const to of ["https://example.com/?utm_campaign=fallback", long]) read({ to, link });
    expect(link.campaign).toMatchObject({ destination: long, campaign: { text: "own" } });
  });

  test("are read from the request, the link and its destination", () => {
    expect(
      read({
        headers: { referer: "https://www.News.example/article?user=7", "accept-language": "fr;q=0.8, de-AT" },
        query: "qr&utm_source=poster",
        to: "https://example.com/?utm_source=own&utm_medium=print&utm_campaign=Spring%20sale",
        variant: "rule 2",
      }),
    ).toEqual({
      ...{ country: "DE", region: "Bavaria, DE", city: "" },
      ...{ device: "desktop", browser: "Chrome", os: "windows" },
      ...{ referrer: "news.example", language: "de" },
      ...{ utm_source: "poster", utm_medium: "print", utm_campaign: "Spring sale" },
      ...{ source: "qr", variant: "rule 2", bot: "" },
      visitor: expect.any(Number),
    });
  });

  test("a bare visit has a source, and what its address and User-Agent tell", () => {
    expect(read({ address: undefined })).toEqual({
      ...{ ...nothing, device: "desktop", browser: "Chrome", os: "windows", source: "link" },
      visitor: 0,
    } as unknown as ReturnType<typeof read>);
  });

  test("a flood of new User-Agents is other after 500 in a second, and its visitors are still told apart", () => {
    const clock = manualClock(0);
    const facts = newFacts(clock);
    const visit = (number: number) => read({ headers: { "user-agent": `${chrome} ${number}` } }, facts);
    const flood = Array.from({ length: 600 }, (_, number) => visit(number));
    const desktop = { device: "desktop", browser: "Chrome", os: "windows" };
    const unparsed = { device: other, browser: other, os: other, country: "DE", bot: "" };
    expect(flood[499]).toMatchObject(desktop);
    expect(flood[500]).toMatchObject(unparsed);
    expect(new Set(flood.map((one) => one !== "excluded" && one.visitor)).size).toBe(600);
    expect(visit(7)).toMatchObject(desktop);
    clock.advance(1_000);
    expect(visit(599)).toEqual({ ...(flood[599] as object), ...desktop } as ReturnType<typeof read>);
  });

  test("the word of our proxy about the country wins, and then region and city are unknown", () => {
    expect(read({ country: "FR" })).toMatchObject({ country: "FR", region: "", city: "" });
    expect(read({ country: "DE" })).toMatchObject({ country: "DE", region: "Bavaria, DE" });
  });

  test.each([
    ["our own host", "https://go.example.com/abc+", "", ""],
    ["the link's custom domain", "https://www.links.example/", "www.links.example", ""],
    ["another tenant's domain", "https://links.example/", "other.example", "links.example"],
  ])("%s as a referrer", (_, referer, domain, expected) => {
    expect(read({ headers: { referer }, domain })).toMatchObject({ referrer: expected });
  });

  test.each([
    ["?qr", "qr"],
    ["?qr=", "qr"],
    ["?a=1&qr", "qr"],
    ["?qr=7", "link"],
    ["?QR", "link"],
    ["", "link"],
  ])("a query of %j means source %s", (query, source) => {
    expect(read({ query: query.slice(1) })).toMatchObject({ source });
  });
});

describe("privacy", () => {
  test.each([
    ["DNT", { headers: { dnt: "1" } }],
    ["DNT that a proxy has added again", { headers: { dnt: "1, 1" } }],
    ["DNT that a proxy has added", { headers: { dnt: "0, 1" } }],
    ["DNT with an extension", { headers: { dnt: "1xyz" } }],
    ["Global Privacy Control that was sent twice", { headers: { "sec-gpc": "1, 1" } }],
    ["Global Privacy Control", { headers: { "sec-gpc": "1" } }],
    ["a link without facts", { link: { ...target, facts: false } }],
  ])("%s: no fact and no visitor", (_, visit) => {
    const full = { query: "qr&utm_source=a", variant: "rule 1", to: "https://e.com/?utm_medium=b" };
    expect(read({ ...full, ...visit })).toEqual({ ...nothing, visitor: 0 } as unknown as ReturnType<typeof read>);
  });

  test("DNT: 0 is no wish", () => {
    expect(read({ headers: { dnt: "0", "sec-gpc": "0" } })).toMatchObject({ country: "DE" });
  });

  test.each([
    ["ql_exclude=1", true],
    ["a=b; ql_exclude=1; c=d", true],
    ["ql_exclude=0", false],
    ["xql_exclude=1", false],
    ["a=ql_exclude=1", false],
    ["ql_exclude=11", false],
  ])("cookies %j exclude: %p", (cookie, excluded) => {
    expect(read({ headers: { cookie } }) === "excluded").toBe(excluded);
  });

  test("a visitor is the same address and User-Agent; of IPv6, the same network", () => {
    const visitor = (visit: Visit, facts = readFacts) => {
      const known = read(visit, facts);
      return known === "excluded" ? undefined : known.visitor;
    };
    const first = visitor({});
    expect(first).toBeGreaterThan(0);
    expect(visitor({}, newFacts())).toBe(first);
    expect(visitor({ address: "203.0.113.78" })).not.toBe(first);
    expect(visitor({ headers: { "user-agent": `${chrome} x` } })).not.toBe(first);
    expect(visitor({ address: "::ffff:203.0.113.77" })).toBe(first);
    expect(visitor({ address: "2001:db8:1:2::1" })).toBe(visitor({ address: "2001:db8:1:2:ffff::9" }));
    expect(visitor({ address: "2001:db8:1:3::1" })).not.toBe(visitor({ address: "2001:db8:1:2::1" }));
  });

  test("a planted address and email are nowhere in a batch", () => {
    const email = "jane.roe@mail.example";
    const clock = manualClock(0);
    const capture = createCapture({
      readFacts: newFacts(),
      visitOf: ({ headers, url }) => ({ headers, query: queryOf(url), address: here, country: undefined }),
      clock,
      metrics: createMetrics(),
    });
    const planted = [
      { query: `utm_source=${email}&utm_medium=${here}&utm_campaign=for%20${email}` },
      { query: `utm_source=${email.replace("@", "%2540")}&utm_medium=${here}:443` },
      // The query is cut within the address.
      { query: `pad=${"x".repeat(994)}&utm_source=${email}` },
      { query: "", referer: `https://${email}@mail.example/inbox?from=${email}` },
      { query: "", referer: `http://${here}/`, "x-forwarded-for": here, from: email },
      { query: "", "accept-language": `${email}`, cookie: `user=${email}` },
    ];
    for (const { query, ...headers } of planted) {
      const request = new Request(`http://go.example.com/abc?${query}`, {
        headers: { "user-agent": chrome, ...headers } as Record<string, string>,
      });
      capture.record(request, cacheKey("", "abc"), target, 0, "", `https://example.com/?utm_campaign=${email}`);
    }
    const batch = capture.drain(100);
    expect(batch?.at.length).toBe(planted.length);
    const text = JSON.stringify(batch);
    expect(text).not.toContain(here);
    expect(text).not.toContain("jane");
  });
});

test("20,000 distinct visits are read with bounded memory", () => {
  const facts = newFacts();
  const before = keptBytes();
  for (let i = 0; i < 20_000; i++) {
    const headers = new Headers({
      "user-agent": `Agent/${i} ${"u".repeat(250)}`,
      referer: `https://host-${i}.example/${"r".repeat(200)}`,
      "accept-language": `de-${i},${"x".repeat(200)}`,
    });
    const seen = {
      query: `utm_source=s${i}&${"q".repeat(1_000)}`,
      address: `198.51.${i % 256}.${Math.floor(i / 256) % 256}`,
      country: undefined,
    };
    facts({ headers, ...seen }, cacheKey("", "abc"), target, "", `https://example.com/?utm_campaign=${i}`);
  }
  const kept = keptBytes() - before;
  expect(facts).toBeFunction(); // it is still needed, so what it keeps was counted
  expect(kept / 1e6).toBeLessThan(30);
}, 60_000);

/** Of this process, without what was kept for nothing: other test files run in it too. */
function keptBytes(): number {
  Bun.gc(true);
  const { heapSize, extraMemorySize } = heapStats();
  return heapSize + extraMemorySize;
}
