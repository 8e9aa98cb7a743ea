#!/usr/bin/env bun
import type { Command } from "commander";
import { version } from "../package.json";
import { messageOf, OperatorError, Problem } from "./base/errors.ts";
import { complain, usageOutput } from "./cli/print.ts";
import { terminal } from "./cli/terminal.ts";

/** Command line → one command. Gives the exit code. */
export async function run(words: readonly string[]): Promise<number> {
  try {
    // A server needs no parser of options: it would take 2 MB.
    if (words.length === 1 && words[0] === "serve") await (await import("./cli/serve-action.ts")).serve({});
    else await parse(words);
    return terminal().exitCode;
  } catch (error) {
    return report(error);
  }
}

async function parse(words: readonly string[]): Promise<void> {
  const program = await programFor(words);
  ownErrorsAndOutput(program);
  await program.parseAsync(words, { from: "user" });
}

async function programFor(words: readonly string[]): Promise<Command> {
  const { Command } = await import("commander");
  const program = new Command("quicklink")
    .description("Self-hosted short links with custom domains, routing rules and exact limits.")
    .version(version)
    .showHelpAfterError("Run with --help to see all commands and options.")
    .addHelpText(
      "after",
      `
Examples:
  $ quicklink serve                                  start the server
  $ quicklink link create https://example.com/page   create a short link
  $ quicklink tenant update default --plan unlimited remove a workspace's limits
  $ quicklink import links.csv                       import links from a file
  $ quicklink usage                                  show a workspace's usage
  $ quicklink config                                 show every setting and its source

Settings are read from the environment or a .env file. See docs/config.md.`,
    );

  for (const [name, [description, load]] of Object.entries(commands)) {
    const command = words[0] === name || words[1] === name ? await load() : new Command(name);
    program.addCommand(command.description(description));
  }
  return program;
}

/** Only the requested command is loaded: loading all would double the start time. */
const commands: Readonly<Record<string, readonly [description: string, load: () => Promise<Command>]>> = {
  serve: ["start the server", async () => (await import("./cli/serve.ts")).serveCommand()],
  link: ["create, list, edit and delete short links", async () => (await import("./cli/link.ts")).linkCommand()],
  trash: ["list deleted links, or delete them for good", async () => (await import("./cli/trash.ts")).trashCommand()],
  tenant: ["manage workspaces and their limits", async () => (await import("./cli/tenant.ts")).tenantCommand()],
  key: ["manage API keys", async () => (await import("./cli/key.ts")).keyCommand()],
  setup: [
    "print the address that creates the first account",
    async () => (await import("./cli/setup.ts")).setupCommand(),
  ],
  demo: [
    "create a sample workspace with links and a year of clicks",
    async () => (await import("./cli/demo.ts")).demoCommand(),
  ],
  user: ["manage people and their accounts", async () => (await import("./cli/user.ts")).userCommand()],
  plan: ["manage plans (the limits a workspace gets)", async () => (await import("./cli/plan.ts")).planCommand()],
  stats: [
    "show clicks and visitors of a link or a workspace",
    async () => (await import("./cli/stats.ts")).statsCommand(),
  ],
  usage: ["show a workspace's usage and limits", async () => (await import("./cli/usage.ts")).usageCommand()],
  sync: ["recount stored files and correct drift", async () => (await import("./cli/sync.ts")).syncCommand()],
  import: [
    "import links from CSV or JSON lines, including exports of Shlink, YOURLS, Kutt and Bitly",
    async () => (await import("./cli/import.ts")).importCommand(),
  ],
  export: ["export all links to a file", async () => (await import("./cli/export.ts")).exportCommand()],
  backup: [
    "back up the embedded database, its secrets and uploaded files to one file",
    async () => (await import("./cli/backup.ts")).backupCommand(),
  ],
  restore: [
    "restore the database, its secrets and uploaded files from a backup",
    async () => (await import("./cli/restore.ts")).restoreCommand(),
  ],
  hot: ["show the most visited links right now", async () => (await import("./cli/hot.ts")).hotCommand()],
  domain: ["manage custom domains", async () => (await import("./cli/domain.ts")).domainCommand()],
  codes: ["rotate the salt of generated codes", async () => (await import("./cli/codes.ts")).codesCommand()],
  email: ["test and inspect email delivery", async () => (await import("./cli/email.ts")).emailCommand()],
  secrets: ["rotate encryption and signing keys", async () => (await import("./cli/secrets.ts")).secretsCommand()],
  cache: ["inspect, drop or warm cached links", async () => (await import("./cli/cache.ts")).cacheCommand()],
  abuse: ["review abuse reports", async () => (await import("./cli/abuse.ts")).abuseCommand()],
  doctor: [
    "check the settings, machine, database and Redis, and report what to fix",
    async () => (await import("./cli/doctor.ts")).doctorCommand(),
  ],
  migrate: ["create or upgrade the database schema", async () => (await import("./cli/migrate.ts")).migrateCommand()],
  config: [
    "print every setting with its value (secrets hidden) and source",
    async () => (await import("./cli/config.ts")).configCommand(),
  ],
};

/** Otherwise each command exits the process by itself, with its own status, and prints to the process. */
function ownErrorsAndOutput(command: Command): void {
  command.exitOverride();
  command.configureOutput(usageOutput);
  for (const child of command.commands) ownErrorsAndOutput(child);
}

/** Of commander, which has printed what is wrong, or the help that was asked for. */
const isUsageError = (error: unknown): error is Error & { readonly exitCode: number } =>
  error instanceof Error && "code" in error && String(error.code).startsWith("commander.");

const isBrokenPipe = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "EPIPE";

/** Any other connection may break with the same error, such as that to the database. */
let readerIsGone = false;

function report(error: unknown): number {
  if (readerIsGone && isBrokenPipe(error)) return 0;
  if (isUsageError(error)) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof OperatorError) {
    complain(error.message);
    return error.exitCode;
  }
  if (error instanceof Problem) {
    const fields = (error.more.errors ?? []).filter(
      ({ field, message }) => ![message, `${field}: ${message}`].includes(error.detail),
    );
    complain([error.detail, ...fields.map((field) => `  ${field.field}: ${field.message}`)].join("\n"));
    return 1;
  }
  complain(`Unexpected error: ${messageOf(error)}`);
  if (error instanceof Error && error.stack) complain(error.stack);
  return 1;
}

if (import.meta.main) {
  // `quicklink … | head` closes the pipe when it has read enough. That is no error, and a server keeps serving.
  process.stdout.on("error", (error) => {
    if (!isBrokenPipe(error)) throw error;
    readerIsGone = true;
  });
  process.exitCode = await run(process.argv.slice(2));
}
