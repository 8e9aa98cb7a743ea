#!/usr/bin/env bun
import { Command, CommanderError } from "commander";
import { version } from "../package.json";
import { messageOf, OperatorError, Problem } from "./base/errors.ts";
import { codesCommand } from "./cli/codes.ts";
import { configCommand } from "./cli/config.ts";
import { keyCommand } from "./cli/key.ts";
import { linkCommand } from "./cli/link.ts";
import { migrateCommand } from "./cli/migrate.ts";
import { planCommand } from "./cli/plan.ts";
import { serveCommand } from "./cli/serve.ts";
import { tenantCommand } from "./cli/tenant.ts";

/** Command line → one command. */
const program = new Command("quicklink")
  .description("Short links on your own domain, with exact limits.")
  .version(version)
  .showHelpAfterError("Add --help to see what there is.")
  .addHelpText(
    "after",
    `
Examples:
  $ quicklink serve                                  start the server
  $ quicklink link create https://example.com/page   make a short link
  $ quicklink tenant update default --plan unlimited lift the limits of a tenant
  $ quicklink config                                 see every setting and where it came from

Settings come from the environment or a file .env: see docs/config.md.`,
  );

for (const command of [
  serveCommand(),
  linkCommand(),
  tenantCommand(),
  keyCommand(),
  planCommand(),
  codesCommand(),
  migrateCommand(),
  configCommand(),
]) {
  program.addCommand(command);
}

try {
  errorsToUs(program);
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
}

/** Otherwise each command ends the process by itself, with a status of its own. */
function errorsToUs(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) errorsToUs(child);
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof OperatorError) {
    console.error(error.message);
    return error.exitCode;
  }
  if (error instanceof Problem) {
    const fields = (error.more.errors ?? []).filter((field) => field.message !== error.detail);
    console.error([error.detail, ...fields.map((field) => `  ${field.field}: ${field.message}`)].join("\n"));
    return 1;
  }
  console.error(`Something unexpected went wrong: ${messageOf(error)}`);
  if (error instanceof Error && error.stack) console.error(error.stack);
  return 1;
}
