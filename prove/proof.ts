import type { ToolName } from "../test/ground/machine.ts";

/** One claim that is shown by doing it: a file of this folder that exports one. */
export interface Proof {
  readonly name: string;
  /** One line for the list. */
  readonly shows: string;
  readonly needs: readonly ToolName[];
  /** Prints its figures; answers whether they are what was claimed. */
  run(): Promise<boolean>;
}
