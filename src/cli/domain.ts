import { Command } from "commander";
import { pagesOf } from "../base/pages.ts";
import { showDomain } from "../domains/api.ts";
import type { Domain } from "../domains/domain.ts";
import { byCommand } from "../history/history.ts";
import { requireTenant, withCore } from "./core.ts";
import { type OutputFormat, printFields, printJson, printPages, say, shownPages } from "./print.ts";

interface Options extends OutputFormat {
  readonly tenant: string;
}

export function domainCommand(): Command {
  const command = new Command("domain");
  common(command.command("add").argument("<host>", "links.example.com"))
    .description("add a custom domain and print the records that verify it")
    .addHelpText("after", "\nExample:\n  $ quicklink domain add links.example.com --tenant acme")
    .action((host: string, options: Options) =>
      withDomains(options, async ({ domains }, tenant) => show(await domains.add(tenant, host, byCommand), options)),
    );
  common(command.command("verify").argument("<host>"))
    .description("check the published record; once verified, links can be created on the domain")
    .action((host: string, options: Options) =>
      withDomains(options, async ({ domains }, tenant) => show(await domains.verify(tenant, host, byCommand), options)),
    );
  common(command.command("list"))
    .description("list a workspace's custom domains")
    .action((options: Options) =>
      withDomains(options, async ({ domains }, tenant) =>
        printPages(
          shownPages(
            pagesOf<Domain>((limit, last) => domains.list(tenant, limit, last)),
            showDomain,
          ),
          ["host", "state", "isDefault", "rootUrl", "missingUrl"],
          options,
          "No custom domains yet. Add one: quicklink domain add links.example.com",
        ),
      ),
    );
  common(command.command("set").argument("<host>"))
    .option("--default", "create new links on this domain by default")
    .option("--no-default", "create new links on the server's domain by default")
    .option("--root <url>", 'where the bare domain redirects; "none" for a plain page')
    .option("--missing <url>", 'where unknown codes redirect; "none" for the default 404 page')
    .description("change a custom domain's settings")
    .action((host: string, options: Options & { default?: boolean; root?: string; missing?: string }) =>
      withDomains(options, async ({ domains }, tenant) => {
        const changed = await domains.change(
          tenant,
          host,
          {
            ...(options.default !== undefined && { isDefault: options.default }),
            ...(options.root !== undefined && { rootUrl: orNone(options.root) }),
            ...(options.missing !== undefined && { missingUrl: orNone(options.missing) }),
          },
          byCommand,
        );
        show(changed, options);
      }),
    );
  common(command.command("remove").argument("<host>"))
    .description("remove a custom domain; only possible when it has no links")
    .action((host: string, options: Options) =>
      withDomains(options, async ({ domains }, tenant) => {
        await domains.remove(tenant, host, byCommand);
        if (options.json) printJson({ removed: host });
        else say(`Removed ${host}.`);
      }),
    );
  return command;
}

const common = (command: Command): Command =>
  command.option("--tenant <slug>", "workspace that owns the domain", "default").option("--json", "print as JSON");

const withDomains = (
  options: Options,
  work: (core: Parameters<typeof requireTenant>[0], tenant: Domain["tenantId"]) => Promise<void>,
): Promise<void> => withCore(async (core) => work(core, (await requireTenant(core, options.tenant)).id));

const orNone = (text: string): string | null => (text === "none" ? null : text);

function show(domain: Domain, format: OutputFormat): void {
  const { proof, ...shown } = showDomain(domain);
  if (format.json) printJson({ ...shown, proof });
  else printFields(shown, format);
  if (format.json || proof === null) return;
  say(
    `\nTo verify the domain, publish one of these records, then run: quicklink domain verify ${domain.host}\n` +
      `  DNS   ${proof.txt.name}  TXT  "${proof.txt.value}"\n` +
      `  file  ${proof.file.url}  with  ${proof.file.content}`,
  );
}
