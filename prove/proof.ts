import type { ToolName } from "../test/ground/machine.ts";

/** One claim that is shown by running it: a file of this folder that exports one. */
export interface Proof {
  readonly name: string;
  /** One line for the list. */
  readonly shows: string;
  readonly needs: readonly ToolName[];
  /** The options it takes, each with a whole number: `--seeds 2000` is `seeds`. */
  readonly options?: readonly string[];
  /** Prints its figures; returns whether they are as claimed. */
  run(options: ReadonlyMap<string, number>): Promise<boolean>;
}
