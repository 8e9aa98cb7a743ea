/**
 * Whether the record keeps the promises, rule by rule. A broken rule is printed with its figure.
 *
 * The 99th percentile decides. But it also depends on this machine: if a redirect from memory alone is slow, an edit,
 * which takes several such steps, is slower. So a figure that misses its bound by at most three times the duration of
 * such a redirect here (99 of 100) is reported as "not judged"; beyond that it is missed, however busy the machine is.
 */
import { round } from "../../bench/show.ts";
import type { Recorded } from "./record.ts";

export interface Rules {
  readonly p99Ms: number;
  /** Of a single edit. */
  readonly maxMs: number;
  /** Share of the reads that may be answered with 503. */
  readonly unansweredMost: number;
  /** Whether its connections may be refused: it is killed. */
  readonly killed?: boolean;
  /** Whether the server's own edits are seen by its next answer; not where it reads from a replica. */
  readonly ownAtOnce: boolean;
}

export interface Judged {
  readonly figures: string;
  readonly broken: readonly string[];
  /** Why the percentile could not be judged. */
  readonly unjudged: string | undefined;
}

/** On each server, while edits are made: with fewer, staleness would be based on too few answers. */
const readsPerEditLeast = 1;
const readsLeastEver = 100;
/** A redirect from memory takes less than a millisecond; at this value the machine is busy otherwise. */
const busyMs = 10;
const stepsMost = 3;

export function judge(name: string, recorded: Recorded, rules: Rules): Judged {
  const { acked, reads, readsMeanwhile, wrong, unanswered, lost, wentBack, own, behindItself, staleness, idleP99Ms } =
    recorded;
  const readsLeast = Math.max(readsLeastEver, acked * readsPerEditLeast);
  const unansweredMost = Math.floor(rules.unansweredMost * (reads + unanswered));
  const missed = staleness.p99 > rules.p99Ms;
  const excused = missed && idleP99Ms > busyMs && staleness.p99 <= rules.p99Ms + stepsMost * idleP99Ms;
  const broken = [
    ...(acked === 0 ? ["nothing was edited"] : []),
    ...(readsMeanwhile < readsLeast ? [`${readsMeanwhile} reads during the edits are fewer than ${readsLeast}`] : []),
    ...(wrong > 0 ? [`${wrong} wrong answers, such as ${recorded.wrongExample}`] : []),
    ...(unanswered > unansweredMost ? [`${unanswered} unanswered are more than ${unansweredMost}`] : []),
    ...(lost > 0 && rules.killed !== true ? [`${lost} connections were lost`] : []),
    ...(wentBack > 0 ? [`it went back ${wentBack} times`] : []),
    ...(rules.ownAtOnce && behindItself > 0 ? [`it was behind its own edits ${behindItself} times`] : []),
    ...(missed && !excused ? [`p99 of ${round(staleness.p99, 1)} ms is more than ${round(rules.p99Ms, 0)} ms`] : []),
    ...(staleness.max > rules.maxMs ? [`${round(staleness.max, 0)} ms are more than ${round(rules.maxMs, 0)} ms`] : []),
  ];
  const verdict = excused ? "NOT JUDGED" : missed ? "MISSED" : "met";
  return {
    broken,
    unjudged: excused
      ? `${name}: p99 ${round(staleness.p99, 1)} ms; this machine is too busy to judge ${round(rules.p99Ms, 0)} ms: a redirect from memory takes ${round(idleP99Ms, 1)} ms`
      : undefined,
    figures: [
      `${name} edits=${acked} reads=${readsMeanwhile}+${reads - readsMeanwhile} (≥ ${readsLeast}) wrong=${wrong} unanswered=${unanswered} (≤ ${unansweredMost}) lost=${lost}`,
      `went_back=${wentBack} own=${own} behind_itself=${behindItself}${rules.ownAtOnce ? "" : " (not promised)"}`,
      `staleness_ms p50=${round(staleness.p50, 1)} p99=${round(staleness.p99, 1)} (≤ ${round(rules.p99Ms, 0)} ${verdict})`,
      `max=${round(staleness.max, 1)} (≤ ${round(rules.maxMs, 0)}) idle_p99_ms=${round(idleP99Ms, 1)}`,
    ].join(" "),
  };
}

/** Prints them all, and reports what is broken or was not judged. */
export function conclude(judged: readonly Judged[]): boolean {
  for (const { figures, broken } of judged) {
    console.log(figures);
    for (const rule of broken) console.log(`  BROKEN: ${rule}`);
  }
  return judged.every(({ broken }) => broken.length === 0);
}
