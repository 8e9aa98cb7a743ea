/**
 * What the record says about the promises, as claims: one for each promise and scenario, about the worst of the servers.
 *
 * The 99th percentile decides. But it also depends on this machine: if a redirect from memory alone is slow, an edit,
 * which takes several such steps, is slower. So a figure that misses its bound by at most three times the duration of
 * such a redirect here (99 of 100) is not judged; beyond that it is missed, however busy the machine is. The same goes
 * for visitors who are refused because SQL misses its deadline.
 */
import { round } from "../../bench/show.ts";
import type { Claim } from "../proof.ts";
import type { Recorded } from "./record.ts";

export interface Rules {
  readonly p99Ms: number;
  /** Of a single edit. */
  readonly maxMs: number;
  /** Share of the reads that may be answered with 503. */
  readonly unansweredMost: number;
  /** It is killed: its connections may be refused, and it may be asked less. */
  readonly killed?: boolean;
  /** Whether it takes edits, and serves them with its next answer; not where it reads from a replica. */
  readonly ownAtOnce: boolean;
}

/** What visitors of one server saw, and what they were promised. */
export interface Observed {
  readonly recorded: Recorded;
  readonly rules: Rules;
}

/** On each server, while edits are made: with fewer, staleness would be based on too few answers. */
const readsPerEditLeast = 1;
const readsLeastEver = 100;
/** A redirect from memory takes less than a millisecond; at this value the machine is busy otherwise. */
const busyMs = 10;
const stepsMost = 3;
const slowMs = 25;
const refusedMost = 0.1;

/** `edits`: how many there must have been at least. */
export function claimsOf(scenario: string, edits: number, servers: readonly Observed[]): Claim[] {
  const sum = (count: (one: Recorded) => number) => servers.reduce((total, { recorded }) => total + count(recorded), 0);
  const most = (figure: (one: Observed) => number) => Math.max(...servers.map(figure));
  const acked = most(({ recorded }) => recorded.acked);
  const reads = sum((one) => one.reads);
  const staying = servers.filter(({ rules }) => rules.killed !== true);
  const lost = staying.reduce((total, { recorded }) => total + recorded.lost, 0);
  const ownAtOnce = servers.filter(({ rules }) => rules.ownAtOnce);
  const own = ownAtOnce.reduce((total, { recorded }) => total + recorded.own, 0);
  const done = `${counted(acked)} edits under ${counted(reads)} reads of ${servers.length === 1 ? "one server" : `${servers.length} servers`}`;
  const wrongExample = servers.find(({ recorded }) => recorded.wrong > 0)?.recorded.wrongExample;
  const stricter = servers.filter(({ rules }) => rules.p99Ms < rules.maxMs);
  const slowest = stricter.toSorted((one, other) => lateBy(other) - lateBy(one))[0];
  const checked = { scenario, done, times: reads };
  const edited = { scenario, done, times: acked };
  return [
    {
      ...{ ...edited, promise: "figures are taken from as many edits as planned", measure: "edits" },
      ...{ figure: acked, bound: { least: edits } },
    },
    {
      ...{ ...checked, promise: "figures are taken from reads during the edits", measure: "reads" },
      figure: Math.min(...staying.map(({ recorded }) => recorded.readsMeanwhile)),
      bound: { least: Math.max(readsLeastEver, acked * readsPerEditLeast) },
    },
    {
      ...{ ...checked, promise: "a link answers with a version it had, and nothing else", measure: "wrong" },
      done: `${done}${wrongExample === undefined ? "" : `, such as ${wrongExample}`}${lost === 0 ? "" : `, ${lost} connections lost`}`,
      ...{ figure: sum((one) => one.wrong) + lost, bound: { exactly: 0 } },
    },
    {
      ...{ ...checked, promise: "a server that has served a version serves no older one", measure: "went_back" },
      ...{ figure: sum((one) => one.wentBack), bound: { exactly: 0 } },
    },
    ...(ownAtOnce.length === 0
      ? []
      : [
          {
            ...{ scenario, done, times: own, measure: "behind_itself" },
            promise: "the server that took an edit serves it with its next answer",
            figure: ownAtOnce.reduce((total, { recorded }) => total + recorded.behindItself, 0),
            bound: { exactly: 0 },
          },
        ]),
    ...(stricter.length === 0
      ? []
      : [
          {
            ...{ ...edited, promise: "99 of 100 edits are visible in time", measure: "p99_ms", unit: "ms" },
            figure: slowest?.recorded.staleness.p99 ?? Number.NaN,
            bound: { most: slowest?.rules.p99Ms ?? Number.NaN },
            notJudged: slowest && excuseOf(slowest),
          },
        ]),
    {
      ...{ ...edited, promise: "every edit is visible in time", measure: "longest_ms", unit: "ms" },
      figure: most(({ recorded }) => recorded.staleness.max),
      bound: { most: Math.min(...servers.map(({ rules }) => rules.maxMs)) },
    },
    {
      ...{ ...checked, promise: "few visitors are refused while links change", measure: "refused", unit: "%" },
      figure: 100 * most(({ recorded: { unanswered, reads } }) => unanswered / Math.max(1, reads + unanswered)),
      bound: { most: 100 * Math.min(...servers.map(({ rules }) => rules.unansweredMost)) },
      notJudged: servers.map(excuseOfRefusals).find((excuse) => excuse !== undefined),
    },
  ];
}

/** By how much it misses its bound, or keeps it. */
const lateBy = ({ recorded, rules }: Observed): number => recorded.staleness.p99 - rules.p99Ms;

function excuseOf({ recorded: { staleness, idleP99Ms }, rules: { p99Ms } }: Observed): string | undefined {
  const excused = staleness.p99 > p99Ms && idleP99Ms > busyMs && staleness.p99 <= p99Ms + stepsMost * idleP99Ms;
  return excused ? `this machine is too busy: a redirect from memory takes ${round(idleP99Ms, 1)} ms` : undefined;
}

/** SQL has 100 ms to answer a visitor; a machine that takes a quarter of that for nothing may miss them. */
function excuseOfRefusals({ recorded, rules }: Observed): string | undefined {
  const { unanswered, reads, idleP99Ms } = recorded;
  const share = unanswered / Math.max(1, reads + unanswered);
  const excused = share > rules.unansweredMost && share <= refusedMost && idleP99Ms > slowMs;
  return excused ? `this machine is too busy: a redirect from memory takes ${round(idleP99Ms, 1)} ms` : undefined;
}

/** One server in one line. */
export function figuresOf(name: string, { recorded, rules }: Observed): string {
  const { acked, reads, readsMeanwhile, wrong, unanswered, lost, wentBack, own, behindItself, staleness, idleP99Ms } =
    recorded;
  return [
    `${name} edits=${acked} reads=${readsMeanwhile}+${reads - readsMeanwhile} wrong=${wrong} unanswered=${unanswered} lost=${lost}`,
    `went_back=${wentBack} own=${own} behind_itself=${behindItself}${rules.ownAtOnce ? "" : " (not promised)"}`,
    `staleness_ms p50=${round(staleness.p50, 1)} p99=${round(staleness.p99, 1)} (≤ ${round(rules.p99Ms, 0)})`,
    `max=${round(staleness.max, 1)} (≤ ${round(rules.maxMs, 0)}) idle_p99_ms=${round(idleP99Ms, 1)}`,
  ].join(" ");
}

const counted = (count: number): string => count.toLocaleString("en-US");
