/** What visitors were told, held against what they should have been told. */
import type { Answer } from "../../bench/line.ts";
import { quantile } from "../../bench/show.ts";
import { type Kind, kinds, type Question } from "./questions.ts";

export interface Heard {
  readonly answer: Answer;
  readonly location: string | undefined;
  readonly retryAfter: string | undefined;
  /** From when it was due to be asked. */
  readonly ms: number;
}

export interface Tally {
  requests: number;
  ok: number;
  /** Led elsewhere, or led on where there is nothing. */
  wrongLocation: number;
  /** "No such link" about one that is there. */
  false404: number;
  /** Neither an answer nor 503, and connections that broke. */
  readonly unexpected: string[];
  /** 503 that does not say when to come back. */
  withoutRetry: number;
  /** After a 503, by those who insist. */
  askedAgain: number;
  readonly unavailable: Record<Kind, number>;
  readonly latencies: number[];
  readonly hotLatencies: number[];
}

export const createTally = (): Tally => ({
  requests: 0,
  ok: 0,
  wrongLocation: 0,
  false404: 0,
  unexpected: [],
  withoutRetry: 0,
  askedAgain: 0,
  unavailable: Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>,
  latencies: [],
  hotLatencies: [],
});

export function add(tally: Tally, { kind, code, url }: Question, { answer, location, retryAfter, ms }: Heard): void {
  tally.requests++;
  tally.latencies.push(ms);
  if (kind === "hot") tally.hotLatencies.push(ms);
  if (answer === 302 && location === url) tally.ok++;
  else if (answer === 404 && url === undefined) tally.ok++;
  else if (answer === 302) tally.wrongLocation++;
  else if (answer === 404) tally.false404++;
  else if (answer === 503) {
    tally.unavailable[kind]++;
    if (retryAfter === undefined) tally.withoutRetry++;
  } else tally.unexpected.push(`${kind} ${code}: ${answer}`);
}

export const sum = (tallies: readonly Tally[], count: (tally: Tally) => number): number =>
  tallies.reduce((total, tally) => total + count(tally), 0);

export const percentile = (latencies: readonly number[], share: number): number =>
  latencies.length === 0 ? Number.NaN : quantile(latencies, share);
