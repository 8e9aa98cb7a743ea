import { userInfo } from "node:os";
import { Command, InvalidArgumentError } from "commander";
import { restoreUnlessBlocked } from "../abuse/apply-blocklist.ts";
import { Problem } from "../base/errors.ts";
import type { Core } from "../core.ts";
import { type Actor, byCommand } from "../history/history.ts";
import { ownDomain } from "../links/link.ts";
import { requireTenant, withCore } from "./core.ts";
import { say } from "./print.ts";

/** Suspends and restores links and tenants; restores deleted links. For the operator, so no tenant option is needed. */
interface SuspendOptions {
  readonly reason: string;
  readonly by: string;
}

export interface DomainOption {
  readonly domain: string;
}

export const suspendLinkCommand = (): Command =>
  withWhy(new Command("suspend").argument("<code>"))
    .option("--domain <host>", "the link's custom domain", ownDomain)
    .description("suspend a link of any workspace: it answers 451 until restored")
    .addHelpText("after", '\nExample:\n  $ quicklink link suspend sale --reason "phishing, ticket 123"')
    .action((code: string, { reason, by, domain }: SuspendOptions & DomainOption) =>
      withCore(async ({ suspensions }) => {
        const version = await suspensions.suspendLink(
          { domain, code },
          { cause: "operator", reason, by: commandBy(by) },
        );
        if (version === undefined) throw new Problem("not_found", `No link ${code} has ever existed.`);
        say(`Suspended ${code}.`);
      }),
    );

export const restoreLinkCommand = (): Command =>
  new Command("restore")
    .argument("<code>")
    .option("--domain <host>", "the link's custom domain", ownDomain)
    .description(
      "restore a deleted link from the trash, or a suspended link, unless its destination is on the blocklist",
    )
    .action((code: string, { domain }: DomainOption) =>
      withCore(async (core) => {
        if (await restoreFromTrash(core, domain, code)) return say(`Restored ${code} from the trash.`);
        const result = await restoreUnlessBlocked(core, { domain, code }, byCommand);
        if (result.kind === "not_suspended")
          throw new Problem("not_found", `${code} is not in the trash and not suspended.`);
        say(
          result.kind === "restored"
            ? `Restored ${code}.`
            : `${code} stays suspended: ${result.host} is on the blocklist. Remove it from the blocklist to restore the link.`,
        );
      }),
    );

/** False if it is not there. */
async function restoreFromTrash(core: Core, domain: string, code: string): Promise<boolean> {
  const found = await core.trash.find(domain, code);
  const tenant = found && (await core.tenants.byId(found.tenant));
  if (found === undefined || tenant === undefined) return false;
  await core.links.restore(tenant, found.id, byCommand);
  return true;
}

export const suspendTenantCommand = (): Command =>
  withWhy(new Command("suspend").argument("<slug>"))
    .description("suspend a workspace: its API keys answer 403 and its links 451 until restored")
    .action((slug: string, { reason, by }: SuspendOptions) =>
      withCore(async (core) => {
        const { id } = await requireTenant(core, slug);
        await core.suspensions.suspendTenant(id, reason, commandBy(by));
        say(`Suspended ${slug}: its API keys and links stop on every server within 3 s.`);
      }),
    );

export const restoreTenantCommand = (): Command =>
  new Command("restore")
    .argument("<slug>")
    .description("restore a suspended workspace")
    .action((slug: string) =>
      withCore(async (core) => {
        const { id } = await requireTenant(core, slug);
        if (!(await core.suspensions.restoreTenant(id, byCommand)))
          throw new Problem("not_found", `${slug} is not suspended.`);
        say(`Restored ${slug}: its API keys and links work again.`);
      }),
    );

export const commandBy = (name: string): Actor => ({ kind: "command", name });

/** The name that is recorded. */
export const withBy = (command: Command): Command =>
  command.option("--by <name>", "your name, for the record", reasonable(100), userName());

/** A container may run as a numeric user without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "operator";
  }
}

const withWhy = (command: Command): Command =>
  withBy(command.requiredOption("--reason <text>", "reason; shown to the owner", reasonable(500)));

function reasonable(most: number): (text: string) => string {
  return (text) => {
    const trimmed = text.trim();
    if (trimmed === "" || trimmed.length > most || /\p{Cc}/u.test(trimmed)) {
      throw new InvalidArgumentError(`Must be one line of 1 to ${most} characters.`);
    }
    return trimmed;
  };
}
