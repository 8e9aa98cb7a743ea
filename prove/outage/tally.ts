/** The answers to visitors, compared with the expected ones, and how long they waited. */
import type { Answer } from "../../bench/line.ts";
import { quantile } from "../../bench/show.ts";
import { type Kind, kinds, type Question } from "./questions.ts";

export interface Heard {
  /** The last answer, after as many 503 as there were. */
  readonly answer: Answer;
  readonly location: string | undefined;
  /** 503s on the way, the last answer included. */
  readonly refusals: number;
  /** 503s that did not say when to come back. */
  readonly withoutRetry: number;
  /** From when it was due to be asked to the last answer. */
  readonly ms: number;
}

export interface KindTally {
  asked: number;
  /** How many were told 503 at least once. */
  refused: number;
  /** How long each waited for its last answer. */
  readonly waits: number[];
}

export interface Tally {
  ok: number;
  /** Wrong destination, or a redirect of an unknown code. */
  wrongLocation: number;
  /** "No such link" for an existing one. */
  false404: number;
  /** Neither an answer nor 503, and connections that broke. */
  readonly unexpected: string[];
  withoutRetry: number;
  /** How long an idle server took to answer: what the machine itself costs. */
  readonly control: number[];
  readonly by: Readonly<Record<Kind, KindTally>>;
}

export const createTally = (): Tally => ({
  ok: 0,
  wrongLocation: 0,
  false404: 0,
  unexpected: [],
  withoutRetry: 0,
  control: [],
  by: Object.fromEntries(
    kinds.map((kind) => [kind, { asked: 0, refused: 0, waits: [] as number[] }]),
  ) as unknown as Record<Kind, KindTally>,
});

export function add(tally: Tally, { kind, code, url }: Question, heard: Heard): void {
  const { answer, location, refusals, withoutRetry, ms } = heard;
  const own = tally.by[kind];
  own.asked++;
  own.waits.push(ms);
  if (refusals > 0) own.refused++;
  tally.withoutRetry += withoutRetry;
  if (answer === 302 && location === url) tally.ok++;
  else if (answer === 404 && url === undefined) tally.ok++;
  else if (answer === 302) tally.wrongLocation++;
  else if (answer === 404) tally.false404++;
  else if (answer !== 503) tally.unexpected.push(`${kind} ${code}: ${answer}`);
}

export const wrongIn = ({ wrongLocation, false404, unexpected, withoutRetry }: Tally): number =>
  wrongLocation + false404 + unexpected.length + withoutRetry;

export const sum = (tallies: readonly Tally[], count: (tally: Tally) => number): number =>
  tallies.reduce((total, tally) => total + count(tally), 0);

export const askedIn = ({ by }: Tally): number => kinds.reduce((total, kind) => total + by[kind].asked, 0);

export const percentile = (waits: readonly number[], share: number): number =>
  waits.length === 0 ? Number.NaN : quantile(waits, share);
