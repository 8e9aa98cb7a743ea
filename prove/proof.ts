/** A proof: a promise of the documents that is shown by breaking everything around it, with real processes. */
import type { ToolName } from "../test/ground/machine.ts";
import type { Edit } from "../test/ground/mutant.ts";

export interface Proof {
  readonly name: string;
  /** One line for the list. */
  readonly shows: string;
  readonly needs: readonly ToolName[];
  /** The options it takes, each with a whole number from 1: `--seeds 2000` is `seeds`. */
  readonly options?: readonly string[];
  /** The mistakes it exists to find. */
  readonly controls: readonly Control[];
  /** Prints its figures as it goes, and makes a claim of each that has a bound. */
  run(attempt: Attempt): Promise<void>;
}

/** A mistake in a copy of the source. With it, at least one of the named claims must be missed. */
export interface Control {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The scenarios to play, as few as show it. */
  readonly plays: readonly string[];
  /** `scenario.measure` of each claim that may notice it. Anything else that goes wrong shows nothing. */
  readonly breaks: readonly string[];
}

/** One run of a proof. */
export interface Attempt {
  readonly options: ReadonlyMap<string, number>;
  /** With as few repetitions as still show something: for controls, and for `npm test`. */
  readonly short: boolean;
  plays(scenario: string): boolean;
  claim(claim: Claim): void;
}

/** One line of the table. The bound decides whether it holds, not the proof. */
export interface Claim {
  /** What is promised, as a sentence without a full stop: the same for all claims about it. */
  readonly promise: string;
  readonly scenario: string;
  readonly measure: string;
  /** What was done, with the counts as they turned out. */
  readonly done: string;
  /** How often it was checked or happened, counted and not planned. A claim about nothing does not hold. */
  readonly times: number;
  readonly figure: number;
  readonly unit?: string;
  readonly bound: Bound;
  /** Why the figure says nothing, such as a machine that was too busy. */
  readonly notJudged?: string | undefined;
}

export type Bound = { readonly most: number } | { readonly least: number } | { readonly exactly: number };

export type Verdict = "held" | "missed" | "not judged";

export function verdictOf({ figure, bound, times, notJudged }: Claim): Verdict {
  if (notJudged !== undefined) return "not judged";
  if (!(times > 0)) return "missed";
  const held =
    "most" in bound
      ? figure <= bound.most
      : "least" in bound
        ? figure >= bound.least
        : Object.is(figure, bound.exactly);
  return held ? "held" : "missed";
}

export const idOf = ({ scenario, measure }: Claim): string => `${scenario}.${measure}`;
