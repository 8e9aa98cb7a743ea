/**
 * Whether visitors were served as the failure matrix says, from what they were told before, during and after an outage.
 *
 * Times are held against those of the same run while nothing was wrong, twice over, because the machine is shared: on top
 * of that a visitor may wait as much longer as the matrix's "user impact" says. A 503 counts for the kind of link it was
 * given for. Only kinds that nobody could have answered may get any, and only from the beginning of the outage until
 * all is well again. Everywhere else a few are forgiven, for on a busy machine SQL may let its 100 ms pass: but none for a
 * link in memory.
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
  /** Half of the visitors wait this much longer at most. */
  readonly typicalMs: number;
  /** 95 of 100 do. */
  readonly tailMs: number;
  /** And nobody waits longer than this. */
  readonly longestMs?: number;
  /** Who may be told 503. */
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
const forgivenShare = 0.02;
const forgivenLeast = 2;
const samplesLeast = 30;

export const waitsOf = (tally: Tally, of: readonly Kind[]): number[] => of.flatMap((kind) => tally.by[kind].waits);

/** What is wrong, each in one line; nothing if all is as it should be. */
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
    slower(`half of ${group}`, percentile(before, 0.5), percentile(during, 0.5), impact.typicalMs, faults);
    slower(`95 % of ${group}`, percentile(before, 0.95), percentile(during, 0.95), impact.tailMs, faults);
    if (impact.longestMs !== undefined)
      slower(`the last of ${group}`, Math.max(...before), Math.max(...during), impact.longestMs, faults);
  }
  return faults;
}

function refusals(kind: Kind, phases: Readonly<Record<string, Tally>>, faults: string[]): void {
  const of = Object.values(phases).map(({ by }) => by[kind]);
  const asked = of.reduce((total, one) => total + one.asked, 0);
  const refused = of.reduce((total, one) => total + one.refused, 0);
  const forgiven = kind === "hot" ? 0 : Math.max(forgivenLeast, asked * forgivenShare);
  if (refused > forgiven)
    faults.push(`${refused} of ${asked} ${kind} were told 503 (${Object.keys(phases).join(", ")})`);
}

function slower(who: string, idleMs: number, ms: number, moreMs: number, faults: string[]): void {
  const most = noise * idleMs + moreMs;
  if (ms > most)
    faults.push(`${who} waited ${round(ms, 1)} ms; idle ${round(idleMs, 1)}, so ${round(most, 1)} at most`);
}
