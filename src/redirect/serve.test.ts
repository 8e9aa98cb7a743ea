import { describe, expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import { createMetrics } from "../base/metrics.ts";
import type { Verdict } from "../limits/verdict.ts";
import type { TargetFile } from "../links/link.ts";
import type { LinkNumber, TenantNumber } from "../sql/schema.ts";
import type { KnownTenants, Standing } from "../tenants/known-tenants.ts";
import { defaultLimits } from "../tenants/tenants.ts";
import { createBots } from "./bots.ts";
import { hitReasons } from "./decide.ts";
import { type CachedLink, cachedLink } from "./link-source.ts";
import { toResponse } from "./redirection.ts";
import { createRouting } from "./routing.ts";
import { createRedirect, type ServeRedirect } from "./serve.ts";
import { createAgents } from "./user-agents.ts";
import { createVisitors } from "./visitors.ts";

const now = Date.UTC(2026, 10, 17);
const log = createLog("silent", { write() {} }, false, () => now);
const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0";
const home = "https://example.com/";
const file: TargetFile = { key: "k", name: "a.pdf", type: "application/pdf", sizeBytes: 1, sha256: null };
const plain = cachedLink({
  ...{ url: home, file: null, permanent: false, expiresAt: null, fallbackUrl: null, password: false },
  ...{ suspended: false, choice: null, hitsPerMonth: null },
  clicks: { link: 1 as LinkNumber, tenant: 1 as TenantNumber, tags: [], facts: true },
});
const choice = { rules: [], split: [], forwardQuery: false };

interface Visit {
  readonly link?: Partial<CachedLink> | undefined;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  /** Answers of the limits, in turn. */
  readonly verdicts?: readonly Verdict["kind"][];
  /** Answers only after a turn of the loop, as a limit does that has to be asked for. */
  readonly late?: boolean;
  readonly query?: string;
  readonly tenants?: Partial<KnownTenants>;
}

const standing: Standing = {
  ...{ isStopped: false, hitsPerLink: null, facts: true, plan: defaultLimits, generation: 1 },
};
const tenants: Partial<KnownTenants> = {
  ...{ generation: 1, peek: () => standing, lookup: () => Promise.reject(new Error("asked for what was in memory")) },
  recall: () => undefined,
};

/** Serves one visit from memory, and returns the status with all records that it left. */
async function visit(given: Visit) {
  const { serve, records, seen } = open(given);
  return { ...(await ask(serve, given)), records, ...seen };
}

/** A server that has one link in memory, and the records that its visits leave. */
function open({ link = {}, ...more }: Visit) {
  const clock = manualClock(now);
  const addressOf = () => "203.0.113.7";
  const visitors = createVisitors({
    countries: { of: (request) => request.headers.get("x-country") ?? "DE" },
    agentOf: createAgents(),
    addressOf,
    secret: new Uint8Array(32),
  });
  const known = { version: 1, value: { ...plain, ...link } };
  const verdicts = [...(more.verdicts ?? [])];
  const records: string[] = [];
  const seen: { max?: number | null; facts?: boolean } = {};
  const serve = createRedirect({
    cache: {
      peek: (key: string) => (key === "abc" ? known : undefined),
      lookup: async () => known,
      announce() {},
    } as never,
    tenants: { ...tenants, ...more.tenants } as KnownTenants,
    hosts: { of: () => ({ kind: "ours", named: true }) },
    isBot: createBots(),
    meters: {
      of: () => ({}),
      spend(_meter: unknown, _draws: unknown, max: number | null) {
        seen.max = max;
        const verdict = { kind: verdicts.shift() ?? "granted", retryAfterSeconds: 1 };
        return more.late === true ? Promise.resolve(verdict) : verdict;
      },
    } as never,
    guesses: { blockedFor: () => undefined, missed: async () => undefined, blocked: 0 },
    gate: {
      isOpen: (request) => request.headers.get("cookie") === "open",
      tryPassword: async (request) =>
        (await request.text()) === "right" ? { kind: "open", version: 1, pass: "a=b" } : { kind: "wrong_password" },
    },
    routeVisitor: createRouting(visitors, clock),
    capture: {
      record(_request, key, { link: number, facts }, reason, variant, url) {
        records.push([key, number, hitReasons[reason], variant, url].join(" | "));
        seen.facts = facts;
      },
    },
    detailsOf: async () => undefined,
    brands: { of: () => undefined },
    addressOf,
    signDownload: async () => "https://files.example/signed",
    wait: { redis: 50, sql: 100 },
    clock,
    metrics: createMetrics(),
    log,
  });
  return { serve, records, seen };
}

async function ask(serve: ServeRedirect, { path = "abc", method = "GET", headers = {}, query = "" }: Visit) {
  const body = method === "POST" ? { body: headers["x-password"] ?? "right" } : {};
  const request = new Request(`http://localhost/${path}${query}`, {
    ...{ method, headers: { "user-agent": browser, ...headers } },
    ...body,
  });
  const reply = await serve(request, path, "");
  const response = reply && toResponse(reply);
  const header = (name: string) => response?.headers.get(name) ?? undefined;
  return { status: response?.status, location: header("location"), caching: header("cache-control") };
}

const record = (reason: string, variant = "", url = home) => `abc | 1 | ${reason} | ${variant} | ${url}`;
const rules = [
  { when: { country: ["FR"] }, url: `${home}fr` },
  { when: { country: ["DE"] }, url: `${home}de` },
];
const split = [
  { url: `${home}a`, weight: 1 },
  { url: `${home}b`, weight: 1_000_000_000 },
];

describe("an answer that counts is recorded exactly once:", () => {
  const cases: [string, Visit, number, string][] = [
    ["a redirect", {}, 302, record("counted")],
    ["one whose limit was asked", { late: true }, 302, record("counted")],
    ["a permanent one", { link: { permanent: true } }, 301, record("counted")],
    ["a bot", { headers: { "user-agent": "curl/8.5.0" } }, 302, record("bot")],
    ["HEAD", { method: "HEAD" }, 302, record("head")],
    ["a prefetch", { headers: { "sec-purpose": "prefetch" } }, 302, record("prefetch")],
    ["a preview", { path: "abc+" }, 200, record("preview")],
    [
      "a preview of a link with rules",
      { path: "abc+", link: { choice: { ...choice, rules } } },
      200,
      record("preview"),
    ],
    [
      "a preview of an expired link, with the campaign of what it shows",
      { path: "abc+", link: { expiresAt: 1, fallbackUrl: `${home}f` } },
      200,
      record("preview", "", `${home}f`),
    ],
    [
      "an expired link with a fallback, with the campaign of the fallback",
      { link: { expiresAt: 1, fallbackUrl: `${home}f` } },
      302,
      record("fallback", "", `${home}f`),
    ],
    [
      "a link over its limit, with a fallback",
      { link: { fallbackUrl: `${home}f`, choice: { ...choice, rules } }, verdicts: ["denied", "granted"] },
      302,
      record("over_quota", "", `${home}f`),
    ],
    [
      "the same if the limits are asked",
      { link: { fallbackUrl: `${home}f` }, verdicts: ["denied", "granted"], late: true },
      302,
      record("over_quota", "", `${home}f`),
    ],
    ["a rule", { link: { choice: { ...choice, rules } } }, 302, record("counted", "rule 2", `${home}de`)],
    ["a part of a split", { link: { choice: { ...choice, split } } }, 302, record("counted", "split 2", `${home}b`)],
    [
      "no rule that fits, and no split",
      { link: { choice: { ...choice, rules: rules.slice(0, 1) } } },
      302,
      record("counted"),
    ],
    [
      "forwarded parameters, which are not part of the destination's campaign",
      { link: { choice: { ...choice, forwardQuery: true } }, query: "?a=1" },
      302,
      record("counted"),
    ],
    ["a download", { link: { url: "", file } }, 302, record("counted", "", "")],
    ["an open password session", { link: { password: true }, headers: { cookie: "open" } }, 302, record("counted")],
    ["the right password", { link: { password: true }, method: "POST" }, 303, record("counted")],
  ];
  test.each(cases)("%s", async (_, given, status, expected) => {
    const answer = await visit(given);
    expect([answer.status, answer.records]).toEqual([status, [expected]]);
  });
});

describe("what does not count is not recorded:", () => {
  const cases: [string, Visit, number][] = [
    ["a suspended link", { link: { suspended: true } }, 451],
    ["an expired link", { link: { expiresAt: 1 } }, 410],
    ["a password that is asked for", { link: { password: true } }, 401],
    ["a wrong password", { link: { password: true }, method: "POST", headers: { "x-password": "wrong" } }, 403],
    ["a link over its limit", { verdicts: ["denied"] }, 429],
    ["a link over both limits", { link: { fallbackUrl: home }, verdicts: ["denied", "denied"] }, 429],
    ["a limit that cannot be asked", { verdicts: ["unavailable"] }, 503],
    ["a form sent to a link without a password", { method: "POST" }, 405],
  ];
  test.each(cases)("%s", async (_, given, status) => {
    const answer = await visit(given);
    expect([answer.status, answer.records]).toEqual([status, []]);
  });
});

describe("a link in memory is put together with its tenant:", () => {
  const other = (more: Partial<Standing>): Standing => ({ ...standing, generation: 2, ...more });
  const news = (more: Partial<Standing>) => ({ generation: 2, peek: () => other(more) });
  const awaited = (more: Partial<Standing>) => ({
    ...{ generation: 2, peek: () => undefined, lookup: async () => other(more) },
  });
  const cases: [string, Visit, number][] = [
    ["as it is in memory", { link: { standing }, tenants: { peek: () => undefined } }, 302],
    ["which was stopped", { link: { standing }, tenants: news({ isStopped: true }) }, 451],
    ["which was not, any more", { link: { standing: { ...standing, isStopped: true } }, tenants: news({}) }, 302],
    ["which must be looked up", { link: { standing }, tenants: awaited({}) }, 302],
    ["which was stopped, and must be looked up", { link: { standing }, tenants: awaited({ isStopped: true }) }, 451],
    ["a preview", { path: "abc+", link: { standing }, tenants: news({ isStopped: true }) }, 451],
    ["the right password", { method: "POST", link: { password: true }, tenants: news({ isStopped: true }) }, 451],
    ["which cannot be looked up", { link: { standing }, tenants: { generation: 2, peek: () => undefined } }, 503],
    [
      "which cannot be looked up, as it was last known",
      { link: { standing }, tenants: { generation: 2, peek: () => undefined, recall: () => other({}) } },
      302,
    ],
    [
      "which is not looked up in time, as it was last known",
      {
        link: { standing },
        tenants: { generation: 2, peek: () => undefined, lookup: () => new Promise(() => {}), recall: () => other({}) },
      },
      302,
    ],
  ];
  test.each(cases)("%s", async (_, given, status) => expect((await visit(given)).status).toBe(status));

  test("its limit is that of the tenant, within which the owner may set one", async () => {
    const maxOf = async (hitsPerMonth: number | null, hitsPerLink: number | null) =>
      (await visit({ link: { hitsPerMonth, standing }, tenants: news({ hitsPerLink }) })).max;
    expect(await maxOf(null, null)).toBeNull();
    expect(await maxOf(null, 5)).toBe(5);
    expect(await maxOf(7, 5)).toBe(5);
    expect(await maxOf(3, 5)).toBe(3);
    expect(await maxOf(3, null)).toBe(3);
  });

  test("facts are recorded if both allow it", async () => {
    const withFacts = async (ownFacts: boolean, facts: boolean) =>
      (await visit({ link: { ownFacts, standing, clicks: { ...plain.clicks } }, tenants: news({ facts }) })).facts;
    expect(await withFacts(true, true)).toBe(true);
    expect(await withFacts(true, false)).toBe(false);
    expect(await withFacts(false, true)).toBe(false);
  });
});

test("the mark of a QR code is not forwarded, everything else is", async () => {
  const link = { choice: { ...choice, forwardQuery: true } };
  expect((await visit({ link, query: "?qr" })).location).toBe(home);
  expect((await visit({ link, query: "?qr&a=1" })).location).toBe(`${home}?a=1`);
});

describe("a visitor gets their own destination, whoever came before:", () => {
  const caching = "private, no-store";

  test("of the rules", async () => {
    const { serve } = open({ link: { choice: { ...choice, rules } } });
    for (const [country, url] of ["FR", "DE", "JP", "JP", "DE", "FR"].map((code) => [code, toOf[code] ?? home])) {
      const headers = { "x-country": country ?? "" };
      expect(await ask(serve, { headers })).toEqual({ status: 302, location: url, caching });
    }
  });

  test("with their own parameters", async () => {
    const { serve } = open({ link: { choice: { ...choice, rules, forwardQuery: true } } });
    for (const query of ["?a=1", "", "?a=2", ""]) {
      expect(await ask(serve, { query })).toEqual({ status: 302, location: `${home}de${query}`, caching });
    }
  });
});

const toOf: Readonly<Record<string, string>> = { FR: `${home}fr`, DE: `${home}de` };
