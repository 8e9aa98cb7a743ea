import type { ToolName } from "../test/ground/machine.ts";

/** A benchmark: a file of this folder that exports `bench`. */
export interface Bench {
  readonly name: string;
  /** One line for the list. */
  readonly shows: string;
  readonly needs: readonly ToolName[];
  run(): Promise<void>;
}
