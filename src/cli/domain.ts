import { Command } from "commander";
import { pagesOf } from "../base/pages.ts";
import { showDomain } from "../domains/api.ts";
import type { Domain } from "../domains/domain.ts";
import { requireTenant, withCore } from "./core.ts";
import { type Format, printFields, printJson, printPages, shown } from "./print.ts";

interface Options extends Format {
  readonly tenant: string;
}

export function domainCommand(): Command {
  const command = new Command("domain");
  common(command.command("add").argument("<host>", "links.example.com"))
    .description("claim a domain, and learn what to publish to show that it is yours")
    .addHelpText("after", "\nExample:\n  $ quicklink domain add links.example.com --tenant acme")
    .action((host: string, options: Options) =>
      withDomains(options, async ({ domains }, tenant) => show(await domains.add(tenant, host), options)),
    );
  common(command.command("verify").argument("<host>"))
    .description("look for what was published; from then on links can be made on it")
    .action((host: string, options: Options) =>
      withDomains(options, async ({ domains }, tenant) => show(await domains.verify(tenant, host), options)),
    );
  common(command.command("list"))
    .description("list a tenant's domains")
    .action((options: Options) =>
      withDomains(options, async ({ domains }, tenant) =>
        printPages(
          shown(
            pagesOf<Domain>((limit, last) => domains.list(tenant, limit, last)),
            showDomain,
          ),
          ["host", "state", "isDefault", "rootUrl", "missingUrl"],
          options,
          "There are no domains yet. Add one: quicklink domain add links.example.com",
        ),
      ),
    );
  common(command.command("set").argument("<host>"))
    .option("--default", "new links go on it when nobody says otherwise")
    .option("--no-default", "they go on the server's own domain")
    .option("--root <url>", "where the bare domain leads; none for a plain page")
    .option("--missing <url>", "where codes that do not exist lead; none for the usual 404")
    .description("change where a domain leads")
    .action((host: string, options: Options & { default?: boolean; root?: string; missing?: string }) =>
      withDomains(options, async ({ domains }, tenant) => {
        const changed = await domains.change(tenant, host, {
          ...(options.default !== undefined && { isDefault: options.default }),
          ...(options.root !== undefined && { rootUrl: orNone(options.root) }),
          ...(options.missing !== undefined && { missingUrl: orNone(options.missing) }),
        });
        show(changed, options);
      }),
    );
  common(command.command("remove").argument("<host>"))
    .description("let a domain go; only when no link is on it any more")
    .action((host: string, options: Options) =>
      withDomains(options, async ({ domains }, tenant) => {
        await domains.remove(tenant, host);
        if (options.json) printJson({ removed: host });
        else console.log(`${host} is removed.`);
      }),
    );
  return command;
}

const common = (command: Command): Command =>
  command.option("--tenant <slug>", "whose domain", "default").option("--json", "as JSON");

const withDomains = (
  options: Options,
  work: (core: Parameters<typeof requireTenant>[0], tenant: Domain["tenantId"]) => Promise<void>,
): Promise<void> => withCore(async (core) => work(core, (await requireTenant(core, options.tenant)).id));

const orNone = (text: string): string | null => (text === "none" ? null : text);

function show(domain: Domain, format: Format): void {
  const { proof, ...shown } = showDomain(domain);
  if (format.json) printJson({ ...shown, proof });
  else printFields(shown, format);
  if (format.json || proof === null) return;
  console.log(
    `\nTo show that it is yours, publish one of these, then: quicklink domain verify ${domain.host}\n` +
      `  DNS   ${proof.txt.name}  TXT  "${proof.txt.value}"\n` +
      `  file  ${proof.file.url}  with  ${proof.file.content}`,
  );
}
