import type { ToolName } from "../test/ground/machine.ts";

/** One measurement: a file of this folder that exports `bench`. */
export interface Bench {
  readonly name: string;
  /** One line for the list. */
  readonly shows: string;
  readonly needs: readonly ToolName[];
  /** What can be run alone: `npm run bench -- clicks reports`. */
  readonly parts?: readonly string[];
  /** Prints its tables, and returns what has a target. Without parts, all of them. */
  run(parts: readonly string[]): Promise<readonly Figure[]>;
}

/** What was measured, and what it is held to. The runner decides and prints whether it is met. */
export interface Figure {
  readonly name: string;
  readonly figure: number;
  readonly target: Target;
  /** How far the rounds were apart, such as "rounds 1.1 to 1.3". */
  readonly spread?: string;
}

export interface Target {
  readonly most: number;
  /** To be proud of; missing it is no failure. */
  readonly stretch?: number;
}

/** A figure that is not a number is not met. */
export const isMet = ({ figure, target }: Figure): boolean => figure <= target.most;
