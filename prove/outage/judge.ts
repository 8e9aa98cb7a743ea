/**
 * Whether visitors were served as the failure matrix promises, from their answers before, during and after an outage: a
 * claim about wrong answers, one about 503s, and one about waits.
 *
 * Times are compared with twice those of the same run without faults; on top of that a visitor may wait as much longer
 * as the matrix's "user impact" says. A 503 counts for the kind of its link. Only kinds that no store could have
 * answered may get any, and only from the start of the outage until recovery. Otherwise one in fifty is tolerated, but
 * none for a link in memory.
 *
 * The machine is shared, so an idle server is also asked all the time (`control`). A visitor's request takes about four
 * times as many steps: four times its waits are allowed on top, and as many more 503s are tolerated as there were waits
 * with which SQL would have missed its 100 ms. If those are too many, 503s and waits say nothing, and the row must be
 * repeated. Nothing excuses a wrong answer.
 */
import { round } from "../../bench/show.ts";
import type { Claim } from "../proof.ts";
import { type Kind, kinds } from "./questions.ts";
import { askedIn, percentile, sum, type Tally, wrongIn } from "./tally.ts";

export interface Phases {
  readonly idle: Tally;
  readonly outage: Tally;
  /** From its end until all is well. */
  readonly recovery: Tally;
  readonly after: Tally;
}

/** The matrix's words for what visitors notice. */
export interface Impact {
  /** Half of the visitors wait at most this much longer. */
  readonly typicalMs: number;
  /** 95 of 100 do. */
  readonly tailMs: number;
  /** No visitor waits longer than this. */
  readonly longestMs?: number;
  /** Kinds that may get 503. */
  readonly refuses: readonly Kind[];
}

const redisBudgetMs = 50;
const sqlBudgetMs = 100;
const waitsMostMs = redisBudgetMs + sqlBudgetMs;

/** "+10-15 ms latency"; before the breaker opens, what a visitor waits for Redis and then for SQL. */
export const fallsBack: Impact = { typicalMs: 15, tailMs: waitsMostMs, refuses: [] };
/** "< 1 s interruption". */
export const interrupted: Impact = { ...fallsBack, longestMs: 1_000 };
/** "None if mitigated", "slight cache miss increase". */
export const unnoticed: Impact = { typicalMs: 5, tailMs: redisBudgetMs, refuses: [] };
/** "Service unavailable": for what only SQL knows, said in time. What a cache has is served as ever. */
export const unavailable: Impact = {
  ...{ typicalMs: 15, tailMs: waitsMostMs },
  refuses: ["cold", "cold_limited", "missing", "hot_limited", "warm_limited"],
};
/** Without Redis, too: what is in memory is served as ever. */
export const memoryOnly: Impact = { ...unavailable, refuses: [...unavailable.refuses, "warm"] };

/** What a visitor waits for differs: nothing, a lease, or a lookup. */
export const groups: Readonly<Record<string, readonly Kind[]>> = {
  memory: ["hot"],
  leased: ["hot_limited"],
  looked_up: ["warm", "warm_limited", "cold", "cold_limited", "missing"],
};

const noise = 2;
const hands = 4;
const busyMost = 0.15;
const forgivenShare = 0.02;
const forgivenLeast = 2;
const samplesLeast = 30;

export const waitsOf = (tally: Tally, of: readonly Kind[]): number[] => of.flatMap((kind) => tally.by[kind].waits);

/** The share of control's waits with which SQL would have missed its deadline. */
const busyShare = (tallies: readonly Tally[]): number => {
  const waits = tallies.flatMap(({ control }) => control);
  return waits.filter((ms) => ms > sqlBudgetMs / hands).length / Math.max(1, waits.length);
};

/** Inconclusive: something else kept the machine busy. */
const tooBusy = (phases: Phases): boolean =>
  Object.values(phases).some((tally: Tally) => tally.control.length >= samplesLeast && busyShare([tally]) > busyMost);

export function judge(scenario: string, impact: Impact, phases: Phases): Claim[] {
  const tallies = Object.values(phases);
  const asked = sum(tallies, askedIn);
  const busy = tooBusy(phases) ? "something else kept this machine busy" : undefined;
  const refused = refusals(impact, phases);
  const waits = worstWait(impact, phases);
  return [
    {
      ...{ scenario, measure: "wrong", promise: "whatever is unavailable, no visitor gets a wrong answer" },
      done: `${asked} visits: ${sum(tallies, (one) => one.wrongLocation)} to another address, ${sum(tallies, (one) => one.false404)} wrongly 404, ${sum(tallies, (one) => one.unexpected.length)} neither an answer nor 503, ${sum(tallies, (one) => one.withoutRetry)} times 503 without Retry-After`,
      ...{ times: Math.min(...tallies.map(askedIn)) === 0 ? 0 : asked },
      ...{ figure: sum(tallies, wrongIn), bound: { exactly: 0 } },
    },
    {
      ...{ scenario, measure: "refused", promise: "only visitors that no store could have answered get 503" },
      ...{ done: `503s beyond those tolerated: ${refused.text}`, times: refused.judged },
      ...{ figure: refused.beyond, bound: { exactly: 0 }, notJudged: refused.beyond > 0 ? busy : undefined },
    },
    {
      ...{ scenario, measure: "waits", promise: "no visitor waits longer than the failure matrix allows", unit: "%" },
      ...{ done: `of the allowed time, the longest: ${waits.text}`, times: waits.visits },
      ...{ figure: waits.percent, bound: { most: 100 }, notJudged: waits.percent > 100 ? busy : undefined },
    },
  ];
}

interface Refusals {
  readonly text: string;
  /** Visits of kinds that may not be refused. */
  readonly judged: number;
  readonly beyond: number;
}

function refusals(impact: Impact, { idle, outage, recovery, after }: Phases): Refusals {
  let [judged, beyond] = [0, 0];
  const texts: string[] = [];
  const look = (kind: Kind, phases: readonly Tally[], when: string) => {
    const asked = sum(phases, ({ by }) => by[kind].asked);
    const refused = sum(phases, ({ by }) => by[kind].refused);
    const share = forgivenShare + busyShare(phases);
    const forgiven = kind === "hot" ? 0 : Math.max(forgivenLeast, asked * share);
    judged += asked;
    if (refused <= forgiven) return;
    beyond += Math.ceil(refused - forgiven);
    texts.push(`${refused} of ${asked} ${kind} (${when})`);
  };
  for (const kind of kinds) {
    look(kind, [idle], "before");
    look(kind, [after], "after");
    if (!impact.refuses.includes(kind)) look(kind, [outage, recovery], "during");
  }
  return { text: texts.join(", ") || "none", judged, beyond };
}

interface Wait {
  readonly text: string;
  readonly visits: number;
  /** Of the allowed time. */
  readonly percent: number;
}

/** Of the visitors of all groups, those who come closest to what they may wait, or exceed it most. */
function worstWait(impact: Impact, { idle, outage }: Phases): Wait {
  let worst: Wait = { text: "", visits: 0, percent: 0 };
  let visits = 0;
  for (const [group, of] of Object.entries(groups)) {
    const [before, during] = [waitsOf(idle, of), waitsOf(outage, of)];
    if (Math.min(before.length, during.length) < samplesLeast) {
      return {
        text: `only ${before.length} and ${during.length} visits to judge by (${group})`,
        visits: 0,
        percent: 0,
      };
    }
    visits += during.length;
    const look = (who: string, share: number, moreMs: number) => {
      const [idleMs, ms] = [percentile(before, share), percentile(during, share)];
      const machineMs = hands * (outage.control.length === 0 ? 0 : percentile(outage.control, share));
      const most = noise * idleMs + moreMs + machineMs;
      const percent = (100 * ms) / most;
      if (percent <= worst.percent) return;
      const text = `${who} of ${group} waited ${round(ms, 1)} ms; idle ${round(idleMs, 1)}, so ${round(most, 1)} at most`;
      worst = { text, visits, percent };
    };
    // A refused visitor is answered when the time is up, not sooner.
    const mayBeRefused = of.some((kind) => impact.refuses.includes(kind));
    look("half", 0.5, mayBeRefused ? impact.tailMs : impact.typicalMs);
    look("95 %", 0.95, impact.tailMs);
    if (impact.longestMs !== undefined) look("the last", 1, impact.longestMs);
  }
  return { ...worst, visits };
}
