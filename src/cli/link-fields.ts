import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Command } from "commander";
import { messageOf, OperatorError } from "../base/errors.ts";
import { terminal } from "./terminal.ts";

/**
 * Link fields that depend on the visitor. A password is read from standard input, because other users can read command
 * lines.
 */
export interface VisitorOptions {
  readonly rules?: string;
  readonly forwardQuery?: boolean;
  readonly clickFacts?: boolean;
  readonly passwordStdin?: boolean;
  /** False: removed. */
  readonly password?: boolean;
}

export const visitorOptions = (command: Command): Command =>
  command
    .option("--rules <file>", "JSON file with routing rules, as in the API")
    .option("--forward-query", "pass the visitor's query parameters on to the destination")
    .option("--click-facts", "record facts about visitors, such as country and browser, with clicks; the default")
    .option("--no-click-facts", "do not record facts about visitors")
    .option("--password-stdin", "require a password; read from the first line of standard input");

export async function readFields(options: VisitorOptions): Promise<Record<string, unknown>> {
  const { rules, forwardQuery, clickFacts, passwordStdin } = options;
  return {
    ...(rules !== undefined && { rules: readJson(rules) }),
    ...(forwardQuery !== undefined && { forwardQuery }),
    ...(clickFacts !== undefined && { clickFacts }),
    ...(options.password === false && { password: null }),
    ...(passwordStdin && { password: await firstLine() }),
  };
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new OperatorError(`Cannot read ${path} as JSON: ${messageOf(error)}.`);
  }
}

async function firstLine(): Promise<string> {
  if (terminal().stdin.isTTY) terminal().stderr.write("Password: ");
  for await (const line of createInterface({ input: terminal().stdin })) return line;
  throw new OperatorError(
    "Standard input has no password.\n  Example: quicklink link edit sale --password-stdin < file",
  );
}
