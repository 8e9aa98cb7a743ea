/**
 * Whether visitors were served as the failure matrix promises, from their answers before, during and after an outage.
 *
 * Times are compared with twice those of the same run without faults; on top of that a visitor may wait as much longer
 * as the matrix's "user impact" says. A 503 counts for the kind of its link. Only kinds that no store could have
 * answered may get any, and only from the start of the outage until recovery. Otherwise one in fifty is tolerated, but
 * none for a link in memory.
 *
 * The machine is shared, so an idle server is also asked all the time (`control`). A visitor's request takes about four
 * times as many steps: four times its waits are allowed on top, and as many more 503s are tolerated as there were waits
 * with which SQL would have missed its 100 ms. If those are too many, the row says nothing and must be repeated.
 */
import { round } from "../../bench/show.ts";
import { type Kind, kinds } from "./questions.ts";
import { askedIn, percentile, type Tally, wrongIn } from "./tally.ts";

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
export const tooBusy = (phases: Phases): boolean =>
  Object.values(phases).some((tally: Tally) => tally.control.length >= samplesLeast && busyShare([tally]) > busyMost);

/** What is wrong, one line each; empty if everything is as promised. */
export function judge(impact: Impact, phases: Phases): string[] {
  const { idle, outage, recovery, after } = phases;
  const faults: string[] = [];
  for (const [name, tally] of Object.entries(phases)) {
    if (wrongIn(tally) > 0) faults.push(`${wrongIn(tally)} wrong answers (${name})`);
    if (askedIn(tally) === 0) faults.push(`nobody asked anything (${name})`);
  }
  for (const kind of kinds) {
    refusals(kind, { idle }, faults);
    refusals(kind, { after }, faults);
    if (!impact.refuses.includes(kind)) refusals(kind, { outage, recovery }, faults);
  }
  for (const [group, of] of Object.entries(groups)) {
    const [before, during] = [waitsOf(idle, of), waitsOf(outage, of)];
    if (Math.min(before.length, during.length) < samplesLeast) {
      faults.push(`only ${before.length} and ${during.length} visits to judge by (${group})`);
      continue;
    }
    const slower = (who: string, share: number, moreMs: number) => {
      const [idleMs, ms] = [percentile(before, share), percentile(during, share)];
      const machineMs = hands * (outage.control.length === 0 ? 0 : percentile(outage.control, share));
      const most = noise * idleMs + moreMs + machineMs;
      if (ms <= most) return;
      faults.push(
        `${who} of ${group} waited ${round(ms, 1)} ms; idle ${round(idleMs, 1)}, so ${round(most, 1)} at most`,
      );
    };
    // A refused visitor is answered when the time is up, not sooner.
    const mayBeRefused = of.some((kind) => impact.refuses.includes(kind));
    slower("half", 0.5, mayBeRefused ? impact.tailMs : impact.typicalMs);
    slower("95 %", 0.95, impact.tailMs);
    if (impact.longestMs !== undefined) slower("the last", 1, impact.longestMs);
  }
  return faults;
}

function refusals(kind: Kind, phases: Readonly<Record<string, Tally>>, faults: string[]): void {
  const of = Object.values(phases).map(({ by }) => by[kind]);
  const asked = of.reduce((total, one) => total + one.asked, 0);
  const refused = of.reduce((total, one) => total + one.refused, 0);
  const share = forgivenShare + busyShare(Object.values(phases));
  const forgiven = kind === "hot" ? 0 : Math.max(forgivenLeast, asked * share);
  if (refused > forgiven)
    faults.push(`${refused} of ${asked} ${kind} were told 503 (${Object.keys(phases).join(", ")})`);
}
