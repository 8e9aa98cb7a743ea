/** `npm run prove -- outage` notices what it is there to notice. */
import { describe, expect, test } from "bun:test";
import { fallsBack, type Impact, interrupted, judge, type Phases, unavailable } from "../prove/outage/judge.ts";
import { createQuestions, isLimited, type Kind, kinds } from "../prove/outage/questions.ts";
import { add, createTally, type Tally } from "../prove/outage/tally.ts";
import { type Claim, verdictOf } from "../prove/proof.ts";

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

const notHeld = (claims: readonly Claim[]): string[] =>
  claims.flatMap((claim) =>
    verdictOf(claim) === "held" ? [] : [`${claim.measure} ${verdictOf(claim)}: ${claim.done}`],
  );
const faultsOf = (impact: Impact, phases: Phases): string[] => notHeld(judge("a row", impact, phases));

describe("the judge of outages", () => {
  test("finds nothing wrong where nothing is", () => {
    expect(faultsOf(fallsBack, well())).toEqual([]);
  });

  test.each(["warm", "warm_limited", "cold", "cold_limited", "missing", "hot_limited"] as const)(
    "sees that one in three of %s is told 503 while Redis is away, though all are answered in the end",
    (kind) => {
      const faults = faultsOf(
        fallsBack,
        during(tallyOf((one, n) => (one === kind && n % 3 === 0 ? { refusals: 1 } : {}))),
      );
      expect(faults).toEqual([
        expect.stringContaining(`refused missed: 503s beyond those tolerated: 34 of 200 ${kind} (during)`),
      ]);
    },
  );

  test("forgives no 503 for a link in memory", () => {
    const faults = faultsOf(
      unavailable,
      during(tallyOf((kind, n) => (kind === "hot" && n === 7 ? { refusals: 1 } : {}))),
    );
    expect(faults).toEqual([expect.stringContaining("1 of 200 hot (during)")]);
  });

  test("allows links that only SQL knows to be refused while it is unavailable, and not before or after", () => {
    const refused = () => tallyOf((kind) => (kind === "cold" ? { refusals: 1 } : {}));
    expect(faultsOf(unavailable, { ...well(), outage: refused(), recovery: refused() })).toEqual([]);
    expect(faultsOf(unavailable, { ...well(), idle: refused() })).toEqual([
      expect.stringContaining("100 of 100 cold (before)"),
    ]);
    expect(faultsOf(unavailable, { ...well(), after: refused() })).toEqual([
      expect.stringContaining("100 of 100 cold (after)"),
    ]);
  });

  test("sees lookups that take a tenth of a second longer, though most visitors ask memory", () => {
    const slow = tallyOf((kind) => (kind.startsWith("hot") ? {} : { ms: 102 }));
    expect(faultsOf(fallsBack, during(slow))).toEqual([expect.stringContaining("half of looked_up waited 102")]);
  });

  test("sees leases that are waited for, though one visitor in five asks for one", () => {
    const slow = tallyOf((kind, n) => (kind === "hot_limited" && n % 5 === 0 ? { ms: 202 } : {}));
    expect(faultsOf(fallsBack, during(slow))).toEqual([expect.stringContaining("95 % of leased waited 202")]);
  });

  test("holds times against those of the same run, so a busy machine is forgiven and a slower answer is not", () => {
    const busy = (factor: number) => tallyOf(() => ({ ms: 40 * factor }));
    expect(faultsOf(fallsBack, { ...well(), idle: busy(1), outage: busy(2) })).toEqual([]);
    expect(faultsOf(fallsBack, { ...well(), idle: busy(1), outage: busy(3) })).not.toEqual([]);
  });

  test("allows a failover a second and no more", () => {
    const longest = (ms: number) => during(tallyOf((kind, n) => (kind === "warm" && n === 0 ? { ms } : {})));
    expect(faultsOf(interrupted, longest(990))).toEqual([]);
    expect(faultsOf(interrupted, longest(1_100))).toEqual([expect.stringContaining("the last of looked_up waited")]);
  });

  test("sees a wrong answer wherever it is given", () => {
    const wrong = tallyOf();
    const question = { kind: "cold", code: "code", url: "https://example.com/", port: 0 } as const;
    add(wrong, question, { answer: 404, location: undefined, refusals: 0, withoutRetry: 0, ms: 2 });
    expect(faultsOf(fallsBack, { ...well(), after: wrong })).toEqual([expect.stringContaining("1 wrongly 404")]);
  });

  test("repeats what a busy machine refused or delayed, and excuses no wrong answer", () => {
    const busy = tallyOf((kind) => (kind === "hot" ? { ms: 500, refusals: 1 } : {}));
    busy.control.push(...Array.from({ length: 40 }, () => 50));
    busy.false404++;
    expect(faultsOf(fallsBack, during(busy)).map((fault) => fault.split(":")[0])).toEqual([
      ...["wrong missed", "refused not judged", "waits not judged"],
    ]);
  });

  test("does not judge by nothing", () => {
    expect(faultsOf(fallsBack, { ...well(), outage: createTally() })).not.toEqual([]);
  });
});

test("half of the visits of an outage go to links with limits", () => {
  const stock = (name: string) => Array.from({ length: 1_000 }, (_, i) => ({ code: `${name}-${i}`, url: name }));
  const questions = createQuestions(stock("plain"), stock("limited"));
  const visits = Array.from({ length: 400 }, () => questions.next());
  expect(visits.filter(({ kind }) => isLimited(kind)).length).toBe(200);
  expect(new Set(visits.map(({ kind }) => kind)).size).toBeGreaterThan(4);
});
