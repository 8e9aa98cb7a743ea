/** `npm run prove -- outage` notices what it is there to notice. */
import { describe, expect, test } from "bun:test";
import { fallsBack, interrupted, judge, type Phases, unavailable } from "../prove/outage/judge.ts";
import { planted } from "../prove/outage/planted.ts";
import { createQuestions, isLimited, type Kind, kinds } from "../prove/outage/questions.ts";
import { add, createTally, type Tally } from "../prove/outage/tally.ts";
import { mutant } from "./ground/mutant.ts";

const asked = 100;

interface Visit {
  readonly ms: number;
  readonly refusals: number;
}

/** So many visits of each kind, all answered right in the end. */
function tallyOf(visit: (kind: Kind, n: number) => Partial<Visit> = () => ({})): Tally {
  const tally = createTally();
  for (const kind of kinds) {
    for (let n = 0; n < asked; n++) {
      const { ms = 2, refusals = 0 } = visit(kind, n);
      const url = kind === "missing" ? undefined : "https://example.com/";
      const answer = url === undefined ? 404 : 302;
      add(tally, { kind, code: "code", url, port: 0 }, { answer, location: url, refusals, withoutRetry: 0, ms });
    }
  }
  return tally;
}

const well = (): Phases => ({ idle: tallyOf(), outage: tallyOf(), recovery: tallyOf(), after: tallyOf() });
const during = (outage: Tally): Phases => ({ ...well(), outage });

describe("the judge of outages", () => {
  test("finds nothing wrong where nothing is", () => {
    expect(judge(fallsBack, well())).toEqual([]);
  });

  test.each(["warm", "warm_limited", "cold", "cold_limited", "missing", "hot_limited"] as const)(
    "sees that one in three of %s is told 503 while Redis is away, though all are answered in the end",
    (kind) => {
      const faults = judge(
        fallsBack,
        during(tallyOf((one, n) => (one === kind && n % 3 === 0 ? { refusals: 1 } : {}))),
      );
      expect(faults).toEqual([`34 of 200 ${kind} were told 503 (outage, recovery)`]);
    },
  );

  test("forgives no 503 for a link in memory", () => {
    const faults = judge(unavailable, during(tallyOf((kind, n) => (kind === "hot" && n === 7 ? { refusals: 1 } : {}))));
    expect(faults).toEqual(["1 of 200 hot were told 503 (outage, recovery)"]);
  });

  test("allows links that only SQL knows to be refused while it is unavailable, and not before or after", () => {
    const refused = () => tallyOf((kind) => (kind === "cold" ? { refusals: 1 } : {}));
    expect(judge(unavailable, { ...well(), outage: refused(), recovery: refused() })).toEqual([]);
    expect(judge(unavailable, { ...well(), idle: refused() })).toEqual(["100 of 100 cold were told 503 (idle)"]);
    expect(judge(unavailable, { ...well(), after: refused() })).toEqual(["100 of 100 cold were told 503 (after)"]);
  });

  test("sees lookups that take a tenth of a second longer, though most visitors ask memory", () => {
    const slow = tallyOf((kind) => (kind.startsWith("hot") ? {} : { ms: 102 }));
    expect(judge(fallsBack, during(slow))).toEqual([expect.stringContaining("half of looked_up waited 102")]);
  });

  test("sees leases that are waited for, though one visitor in five asks for one", () => {
    const slow = tallyOf((kind, n) => (kind === "hot_limited" && n % 5 === 0 ? { ms: 202 } : {}));
    expect(judge(fallsBack, during(slow))).toEqual([expect.stringContaining("95 % of leased waited 202")]);
  });

  test("holds times against those of the same run, so a busy machine is forgiven and a slower answer is not", () => {
    const busy = (factor: number) => tallyOf(() => ({ ms: 40 * factor }));
    expect(judge(fallsBack, { ...well(), idle: busy(1), outage: busy(2) })).toEqual([]);
    expect(judge(fallsBack, { ...well(), idle: busy(1), outage: busy(3) })).not.toEqual([]);
  });

  test("allows a failover a second and no more", () => {
    const longest = (ms: number) => during(tallyOf((kind, n) => (kind === "warm" && n === 0 ? { ms } : {})));
    expect(judge(interrupted, longest(990))).toEqual([]);
    expect(judge(interrupted, longest(1_100))).toEqual([expect.stringContaining("the last of looked_up waited")]);
  });

  test("sees a wrong answer wherever it is given", () => {
    const wrong = tallyOf();
    const question = { kind: "cold", code: "code", url: "https://example.com/", port: 0 } as const;
    add(wrong, question, { answer: 404, location: undefined, refusals: 0, withoutRetry: 0, ms: 2 });
    expect(judge(fallsBack, { ...well(), after: wrong })).toEqual(["1 wrong answers (after)"]);
  });

  test("does not judge by nothing", () => {
    expect(judge(fallsBack, { ...well(), outage: createTally() })).not.toEqual([]);
  });
});

test("half of the visits of an outage go to links with limits", () => {
  const stock = (name: string) => Array.from({ length: 1_000 }, (_, i) => ({ code: `${name}-${i}`, url: name }));
  const questions = createQuestions(stock("plain"), stock("limited"));
  const visits = Array.from({ length: 400 }, () => questions.next());
  expect(visits.filter(({ kind }) => isLimited(kind)).length).toBe(200);
  expect(new Set(visits.map(({ kind }) => kind)).size).toBeGreaterThan(4);
});

test.each(Object.keys(planted))("the mistake %s can still be planted", (name) => {
  expect(mutant(planted[name] ?? [])).toContain("mutant-");
});
