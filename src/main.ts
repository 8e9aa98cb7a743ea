#!/usr/bin/env bun
import { Command, CommanderError } from "commander";
import { version } from "../package.json";
import { messageOf, OperatorError, Problem } from "./base/errors.ts";

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
  $ quicklink import links.csv                       take links from a file
  $ quicklink usage                                  see what a tenant has used
  $ quicklink config                                 see every setting and where it came from

Settings come from the environment or a file .env: see docs/config.md.`,
  );

/** Only the command that was asked for is loaded: the others would double the time to start. */
const commands: Readonly<Record<string, readonly [description: string, load: () => Promise<Command>]>> = {
  serve: ["start the server", async () => (await import("./cli/serve.ts")).serveCommand()],
  link: ["short links", async () => (await import("./cli/link.ts")).linkCommand()],
  tenant: ["tenants and their limits", async () => (await import("./cli/tenant.ts")).tenantCommand()],
  key: ["API keys", async () => (await import("./cli/key.ts")).keyCommand()],
  plan: ["what tenants may use", async () => (await import("./cli/plan.ts")).planCommand()],
  usage: ["what a tenant has used of its limits", async () => (await import("./cli/usage.ts")).usageCommand()],
  sync: ["put right what is stored of tenants' files", async () => (await import("./cli/sync.ts")).syncCommand()],
  import: [
    "take links from a file: ours, or an export of Shlink, YOURLS, Kutt or Bitly",
    async () => (await import("./cli/import.ts")).importCommand(),
  ],
  export: ["write all links to a file", async () => (await import("./cli/export.ts")).exportCommand()],
  backup: [
    "write the embedded database, its secrets and uploaded files to one file",
    async () => (await import("./cli/backup.ts")).backupCommand(),
  ],
  restore: [
    "restore the database, its secrets and uploaded files from a backup",
    async () => (await import("./cli/restore.ts")).restoreCommand(),
  ],
  hot: ["the links that are visited most right now", async () => (await import("./cli/hot.ts")).hotCommand()],
  domain: ["domains of a tenant's own", async () => (await import("./cli/domain.ts")).domainCommand()],
  codes: ["the secret behind generated codes", async () => (await import("./cli/codes.ts")).codesCommand()],
  email: ["try how a tenant's email is sent", async () => (await import("./cli/email.ts")).emailCommand()],
  secrets: [
    "the keys that tenants' secrets are sealed with",
    async () => (await import("./cli/secrets.ts")).secretsCommand(),
  ],
  cache: ["what is cached of a link, and reading it anew", async () => (await import("./cli/cache.ts")).cacheCommand()],
  abuse: ["what people reported", async () => (await import("./cli/abuse.ts")).abuseCommand()],
  doctor: [
    "check settings, machine, database and Redis, and say what to do",
    async () => (await import("./cli/doctor.ts")).doctorCommand(),
  ],
  migrate: [
    "create the tables, or bring them up to this version",
    async () => (await import("./cli/migrate.ts")).migrateCommand(),
  ],
  config: [
    "print every setting, its value (secrets hidden) and where it came from",
    async () => (await import("./cli/config.ts")).configCommand(),
  ],
};

for (const [name, [description, load]] of Object.entries(commands)) {
  const command = process.argv[2] === name || process.argv[3] === name ? await load() : new Command(name);
  program.addCommand(command.description(description));
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
