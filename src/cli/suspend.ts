import { userInfo } from "node:os";
import { Command, InvalidArgumentError } from "commander";
import { restoreUnlessBlocked } from "../abuse/apply-blocklist.ts";
import { Problem } from "../base/errors.ts";
import { ownDomain } from "../links/link.ts";
import { requireTenant, withCore } from "./core.ts";
import { say } from "./print.ts";

/** Stopping links and tenants, and letting them go on. The operator's alone: the tenant is not asked for. */
interface SuspendOptions {
  readonly reason: string;
  readonly by: string;
}

export interface DomainOption {
  readonly domain: string;
}

export const suspendLinkCommand = (): Command =>
  withWhy(new Command("suspend").argument("<code>"))
    .option("--domain <host>", "on a domain of a tenant", ownDomain)
    .description("stop a link, whoever's it is: it answers 451 until it is restored")
    .addHelpText("after", '\nExample:\n  $ quicklink link suspend sale --reason "phishing, ticket 123"')
    .action((code: string, { reason, by, domain }: SuspendOptions & DomainOption) =>
      withCore(async ({ suspensions }) => {
        const version = await suspensions.suspendLink({ domain, code }, { cause: "operator", reason, by });
        if (version === undefined) throw new Problem("not_found", `There never was a link ${code}.`);
        say(`${code} is suspended.`);
      }),
    );

export const restoreLinkCommand = (): Command =>
  new Command("restore")
    .argument("<code>")
    .option("--domain <host>", "on a domain of a tenant", ownDomain)
    .description("let a suspended link go on, unless the blocklist names where it leads")
    .action((code: string, { domain }: DomainOption) =>
      withCore(async (core) => {
        const result = await restoreUnlessBlocked(core, { domain, code });
        if (result.kind === "not_suspended") throw new Problem("not_found", `${code} is not suspended.`);
        say(
          result.kind === "restored"
            ? `${code} works again.`
            : `${code} stays suspended: ${result.host} is on the blocklist. It works again when the list no longer names it.`,
        );
      }),
    );

export const suspendTenantCommand = (): Command =>
  withWhy(new Command("suspend").argument("<slug>"))
    .description("stop a tenant: its keys answer 403, its links 451, until it is restored")
    .action((slug: string, { reason, by }: SuspendOptions) =>
      withCore(async (core) => {
        const { id } = await requireTenant(core, slug);
        await core.suspensions.suspendTenant(id, reason, by);
        say(`${slug} is suspended: none of its keys works.`);
        await core.outdated.finish(id);
        say(`${slug}: its links are stopped on every server.`);
      }),
    );

export const restoreTenantCommand = (): Command =>
  new Command("restore")
    .argument("<slug>")
    .description("let a suspended tenant go on")
    .action((slug: string) =>
      withCore(async (core) => {
        const { id } = await requireTenant(core, slug);
        if (!(await core.suspensions.restoreTenant(id))) throw new Problem("not_found", `${slug} is not suspended.`);
        say(`${slug} is no longer suspended: its keys work.`);
        await core.outdated.finish(id);
        say(`${slug}: its links lead on again.`);
      }),
    );

/** Who does it, as it is written down. */
export const withBy = (command: Command): Command =>
  command.option("--by <name>", "who you are, for the record", reasonable(100), userName());

/** A container may run as a number without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "operator";
  }
}

const withWhy = (command: Command): Command =>
  withBy(command.requiredOption("--reason <text>", "why; its owner sees it", reasonable(500)));

function reasonable(most: number): (text: string) => string {
  return (text) => {
    const trimmed = text.trim();
    if (trimmed === "" || trimmed.length > most || /\p{Cc}/u.test(trimmed)) {
      throw new InvalidArgumentError(`Give one line of 1 to ${most} characters.`);
    }
    return trimmed;
  };
}
