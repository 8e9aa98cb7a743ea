import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { granted, type Verdict } from "../limits/verdict.ts";
import type { Target, TargetFile } from "../links/link.ts";
import { type Answer, complete, type Decision, decide, type VisitFacts } from "./decide.ts";

const now = Date.UTC(2026, 10, 16);
const link: Target = {
  url: "https://example.com/",
  file: null,
  permanent: false,
  expiresAt: null,
  fallbackUrl: null,
  password: false,
  suspended: false,
  choice: null,
};
const file: TargetFile = { key: "stored/a/b", name: "plan.pdf", type: "application/pdf", sizeBytes: 9, sha256: null };
const visit: VisitFacts = { head: false, prefetch: false, bot: false, preview: false, unlocked: false, stopped: false };
const fallbackUrl = "https://example.com/sorry";
const denied: Verdict = { kind: "denied", retryAfterSeconds: 1_209_600 };
const unavailable: Verdict = { kind: "unavailable", retryAfterSeconds: 5 };

const to302 = { kind: "redirect", url: link.url, status: 302 } as const;
const toFallback = { kind: "redirect", url: fallbackUrl, status: 302, draws: "exempt" } as const;

const isAnswer = (decision: Decision): decision is Answer => "draws" in decision;

const forwarding: Target["choice"] = { rules: [], split: [], forwardQuery: true };

describe("decide", () => {
  const cases: [string, Partial<Target> | undefined, Partial<VisitFacts>, Decision][] = [
    ["a link that was stopped says so", { suspended: true }, {}, { kind: "suspended" }],
    [
      "a link that was stopped says so even if it has expired, falls back, or asks for a password",
      { suspended: true, expiresAt: now, fallbackUrl, password: true },
      { preview: true },
      { kind: "suspended" },
    ],
    ["a visit is redirected, and counted", {}, {}, { ...to302, reason: "counted", draws: "hits" }],
    [
      "a link to a file leads to its download, and is counted alike",
      { url: "", file },
      {},
      { kind: "download", url: "", status: 302, reason: "counted", draws: "hits" },
    ],
    [
      "a link to a file is never permanent, for the download's address is not",
      { url: "", file, permanent: true },
      { head: true },
      { kind: "download", url: "", status: 302, reason: "head", draws: "exempt" },
    ],
    [
      "the preview of a file is a preview",
      { url: "", file },
      { preview: true },
      { kind: "preview", url: "", status: 302, reason: "preview", draws: "exempt" },
    ],
    [
      "a permanent link answers 301",
      { permanent: true },
      {},
      { ...to302, status: 301, reason: "counted", draws: "hits" },
    ],
    [
      "a permanent link whose answer depends on the visitor answers 302",
      { permanent: true, choice: forwarding },
      {},
      { ...to302, reason: "counted", draws: "hits" },
    ],
    [
      "a permanent link that was unlocked answers 302, for the next visitor has to be asked",
      { permanent: true, password: true },
      { unlocked: true },
      { ...to302, reason: "counted", draws: "hits" },
    ],
    ["a bot is redirected, and exempt", {}, { bot: true }, { ...to302, reason: "bot", draws: "exempt" }],
    ["HEAD is redirected, and exempt", {}, { head: true }, { ...to302, reason: "head", draws: "exempt" }],
    ["a prefetch is redirected, and exempt", {}, { prefetch: true }, { ...to302, reason: "prefetch", draws: "exempt" }],
    [
      "a preview shows the address, and is exempt",
      {},
      { preview: true },
      { ...to302, kind: "preview", reason: "preview", draws: "exempt" },
    ],
    [
      "a preview by a bot is a preview",
      {},
      { preview: true, bot: true, head: true },
      { ...to302, kind: "preview", reason: "preview", draws: "exempt" },
    ],
    ["a link that is not there is missing", undefined, {}, { kind: "missing" }],
    ["a link whose time has come is expired", { expiresAt: now }, {}, { kind: "expired" }],
    [
      "a link a millisecond before its time still works",
      { expiresAt: now + 1 },
      {},
      { ...to302, reason: "counted", draws: "hits" },
    ],
    [
      "an expired link sends visitors to its fallback, and counts no hit",
      { expiresAt: now - 1, fallbackUrl },
      {},
      { ...toFallback, reason: "fallback" },
    ],
    [
      "an expired permanent link sends to its fallback for now only",
      { expiresAt: now, fallbackUrl, permanent: true },
      {},
      { ...toFallback, reason: "fallback" },
    ],
    ["a protected link asks for its password", { password: true }, {}, { kind: "password" }],
    [
      "a protected link asks for its password before it shows a preview",
      { password: true },
      { preview: true },
      { kind: "password" },
    ],
    [
      "a protected link that was unlocked redirects",
      { password: true },
      { unlocked: true },
      { ...to302, reason: "counted", draws: "hits" },
    ],
    [
      "an expired protected link asks for its password first",
      { password: true, expiresAt: now },
      {},
      { kind: "password" },
    ],
    [
      "an expired protected link does not even send to its fallback before the password was given",
      { password: true, expiresAt: now, fallbackUrl },
      {},
      { kind: "password" },
    ],
    [
      "an expired protected link is expired for those who gave the password",
      { password: true, expiresAt: now },
      { unlocked: true },
      { kind: "expired" },
    ],
    [
      "an expired protected link sends those who gave the password to its fallback",
      { password: true, expiresAt: now, fallbackUrl },
      { unlocked: true },
      { ...toFallback, reason: "fallback" },
    ],
    [
      "a preview of an expired link shows its fallback, and does not redirect",
      { expiresAt: now, fallbackUrl, permanent: true },
      { preview: true },
      { kind: "preview", url: fallbackUrl, status: 302, reason: "preview", draws: "exempt" },
    ],
    [
      "a preview of an expired link that leads nowhere says that it is expired",
      { expiresAt: now },
      { preview: true },
      { kind: "expired" },
    ],
    [
      "a preview shows nothing of a protected link, whatever was given",
      { password: true, expiresAt: now, fallbackUrl },
      { preview: true, unlocked: true },
      { kind: "password" },
    ],
    [
      "a link with a fallback that is not needed leads to its own address",
      { fallbackUrl },
      {},
      { ...to302, reason: "counted", draws: "hits" },
    ],
  ];

  test.each(cases)("%s", (_, target, facts, decision) => {
    expect(decide(target && { ...link, ...target }, { ...visit, ...facts }, now)).toEqual(decision);
  });
});

describe("complete", () => {
  const counted: Answer = { ...to302, reason: "counted", draws: "hits" };
  const exempt: Answer = { ...to302, reason: "bot", draws: "exempt" };
  const withFallback = { ...link, fallbackUrl };

  const cases: [string, Target, Answer, Verdict, Decision][] = [
    ["a visit that is denied is spent", link, counted, denied, { kind: "spent", retryAfterSeconds: 1_209_600 }],
    [
      "a visit that is denied goes to the fallback, if there is one",
      withFallback,
      counted,
      denied,
      { ...toFallback, reason: "over_quota" },
    ],
    [
      "an exempt answer that is denied is spent, fallback or not",
      withFallback,
      exempt,
      denied,
      { kind: "spent", retryAfterSeconds: 1_209_600 },
    ],
    [
      "a visit that cannot be counted is unavailable, not denied",
      withFallback,
      counted,
      unavailable,
      { kind: "unavailable", retryAfterSeconds: 5 },
    ],
    [
      "an exempt answer that cannot be counted is unavailable",
      link,
      exempt,
      unavailable,
      { kind: "unavailable", retryAfterSeconds: 5 },
    ],
  ];

  test.each(cases)("%s", (_, target, answer, verdict, decision) => {
    expect(complete(target, answer, verdict)).toEqual(decision);
  });
});

describe("whatever the link and the request", () => {
  const anyTarget: fc.Arbitrary<Target> = fc.record({
    url: fc.constant(link.url),
    file: fc.constantFrom(null, file),
    permanent: fc.boolean(),
    expiresAt: fc.oneof(fc.constant(null), fc.integer({ min: now - 2, max: now + 2 })),
    fallbackUrl: fc.constantFrom(null, fallbackUrl),
    password: fc.boolean(),
    suspended: fc.boolean(),
    choice: fc.constantFrom(null, forwarding),
  });
  const anyFacts: fc.Arbitrary<VisitFacts> = fc.record({
    head: fc.boolean(),
    prefetch: fc.boolean(),
    bot: fc.boolean(),
    preview: fc.boolean(),
    unlocked: fc.boolean(),
    stopped: fc.boolean(),
  });
  const seconds = fc.integer({ min: 1, max: 2_678_400 });
  const anyVerdict: fc.Arbitrary<Verdict> = fc.oneof(
    fc.constant(granted),
    seconds.map((retryAfterSeconds): Verdict => ({ kind: "denied", retryAfterSeconds })),
    seconds.map((retryAfterSeconds): Verdict => ({ kind: "unavailable", retryAfterSeconds })),
  );

  /** As the server does it: ask, and ask again for the fallback. */
  function run(target: Target, facts: VisitFacts, verdicts: readonly Verdict[]): { seen: Decision[]; final: Decision } {
    const seen = [decide(target, facts, now)];
    for (const verdict of verdicts) {
      const last = seen.at(-1);
      if (last === undefined || !isAnswer(last)) break;
      const next = complete(target, last, verdict);
      if (next === last) break;
      seen.push(next);
    }
    return { seen, final: seen.at(-1) ?? { kind: "missing" } };
  }

  const property = (holds: (target: Target, facts: VisitFacts, outcome: ReturnType<typeof run>) => boolean) =>
    fc.assert(
      fc.property(anyTarget, anyFacts, fc.tuple(anyVerdict, anyVerdict), (target, facts, verdicts) =>
        holds(target, facts, run(target, facts, verdicts)),
      ),
      { numRuns: 1_000 },
    );

  test("only what is counted draws on the hits", () => {
    property((_, __, { seen }) =>
      seen.filter(isAnswer).every((a) => (a.draws === "hits") === (a.reason === "counted")),
    );
  });

  test("only a person's GET is counted", () => {
    property((_, facts, { seen }) => {
      const counted = seen.some((decision) => isAnswer(decision) && decision.reason === "counted");
      return !counted || !(facts.head || facts.bot || facts.prefetch || facts.preview);
    });
  });

  test("an expired link never reveals its URL", () => {
    property(({ expiresAt, url }, _, { seen }) => {
      const told = seen.some((decision) => isAnswer(decision) && decision.url === url);
      return expiresAt === null || expiresAt > now || !told;
    });
  });

  test("a protected link answers nothing but the question for its password while locked, or in a preview", () => {
    property(({ password, suspended }, { unlocked, preview, stopped }, { final }) => {
      const closed = password && !suspended && !stopped && (!unlocked || preview);
      return !closed || final.kind === "password";
    });
  });

  test("what is granted is answered as it was decided, the very same object", () => {
    fc.assert(
      fc.property(anyTarget, anyFacts, (target, facts) => {
        const decision = decide(target, facts, now);
        return !isAnswer(decision) || complete(target, decision, granted) === decision;
      }),
    );
  });

  test("a denial of the exempt limit never redirects", () => {
    fc.assert(
      fc.property(anyTarget, anyFacts, seconds, (target, facts, retryAfterSeconds) => {
        const decision = decide(target, facts, now);
        if (!isAnswer(decision) || decision.draws === "hits") return true;
        return complete(target, decision, { kind: "denied", retryAfterSeconds }).kind === "spent";
      }),
    );
  });

  test("two verdicts are enough: the fallback of a denied visit has no fallback", () => {
    fc.assert(
      fc.property(anyTarget, anyFacts, (target, facts) => {
        const { final } = run(target, facts, [denied, denied]);
        return !isAnswer(final);
      }),
    );
  });

  test("only a permanent link's own URL is sent as 301, and only if every visitor gets it", () => {
    property(({ permanent, file, url, choice, password }, _, { seen }) => {
      const forAll = permanent && file === null && choice === null && !password;
      const sent = seen.filter(isAnswer).filter(({ kind }) => kind !== "preview");
      return sent.every((answer) => (answer.status === 301) === (forAll && answer.url === url));
    });
  });

  test("a preview never redirects", () => {
    property((_, { preview }, { seen }) =>
      seen.every((decision) => !preview || (decision.kind !== "download" && decision.kind !== "redirect")),
    );
  });

  test("a suspended link, or one of a stopped tenant, is suspended, and nothing else", () => {
    property(({ suspended }, { stopped }, { final }) => (suspended || stopped) === (final.kind === "suspended"));
  });
});
