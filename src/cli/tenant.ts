import { Command } from "commander";
import { toIso } from "../base/clock.ts";
import { pagesOf } from "../base/pages.ts";
import { byCommand } from "../history/history.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { clickSettingsCommand } from "./click-settings.ts";
import { requireTenant, withCore } from "./core.ts";
import { addLimitOptions, limitsFrom } from "./limits.ts";
import { type OutputFormat, printFields, printPages, shownPages } from "./print.ts";
import { restoreTenantCommand, suspendTenantCommand } from "./suspend.ts";

export function tenantCommand(): Command {
  const command = new Command("tenant");
  command
    .command("create")
    .argument("<slug>", "identifier: a-z, 0-9 and -")
    .option("--name <text>", "display name")
    .option("--plan <name>", "plan", "default")
    .option("--json", "print as JSON")
    .description("create a workspace")
    .addHelpText("after", '\nExample:\n  $ quicklink tenant create acme --name "Acme Ltd" --plan unlimited')
    .action((slug: string, { name, plan, ...format }: OutputFormat & { name?: string; plan: string }) =>
      withCore(async ({ tenants }) =>
        printFields(show(await tenants.create(slug, name ?? slug, byCommand, plan)), format),
      ),
    );
  command
    .command("list")
    .option("--json", "print as JSON")
    .description("list workspaces")
    .action((format: OutputFormat) =>
      withCore(async ({ tenants }) =>
        printPages(
          shownPages(
            pagesOf<Tenant>((limit, last) => tenants.list(limit, last?.slug)),
            show,
          ),
          ["slug", "name", "plan", "createdAt", "suspended"],
          format,
          "No workspaces yet. Create one: quicklink tenant create NAME",
        ),
      ),
    );
  command
    .command("show")
    .argument("<slug>")
    .option("--json", "print as JSON")
    .description("show a workspace and its limits")
    .action((slug: string, format: OutputFormat) =>
      withCore(async (core) => printFields(show(await requireTenant(core, slug)), format)),
    );
  addLimitOptions(command.command("update").argument("<slug>"), true)
    .option("--name <text>", "display name")
    .option("--plan <name>", "plan")
    .option("--json", "print as JSON")
    .description("change a workspace's name, plan or individual limits")
    .addHelpText(
      "after",
      "\nExamples:\n  $ quicklink tenant update default --plan unlimited\n  $ quicklink tenant update acme --hits 50000",
    )
    .action((slug: string, given: OutputFormat & { name?: string; plan?: string }) =>
      withCore(async (core) => {
        await requireTenant(core, slug);
        const { name, plan } = given;
        const overrides = limitsFrom({ ...given });
        const changed = await core.tenants.change(
          slug,
          {
            ...(name !== undefined && { name }),
            ...(plan !== undefined && { plan }),
            overrides,
          },
          byCommand,
        );
        printFields(show(changed), given);
      }),
    );
  command.addCommand(clickSettingsCommand());
  command.addCommand(suspendTenantCommand());
  command.addCommand(restoreTenantCommand());
  return command;
}

function show({ id, slug, name, plan, limits, createdAt, suspended }: Tenant) {
  return { id, slug, name, plan, ...limits, createdAt: toIso(createdAt), suspended };
}
