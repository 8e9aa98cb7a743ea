import { Command } from "commander";
import { fromIso, toIso } from "../base/clock.ts";
import { invalid } from "../base/errors.ts";
import { pagesOf } from "../base/pages.ts";
import { byCommand } from "../history/history.ts";
import type { Link } from "../links/link.ts";
import { parseLinkChange, parseNewLink } from "../links/schemas.ts";
import { readFields, type VisitorOptions, visitorOptions } from "./link-fields.ts";
import { linkHistoryCommand } from "./link-history.ts";
import { qrCommand } from "./link-qr.ts";
import { printFields, printJson, printPages, say, shownPages } from "./print.ts";
import { restoreLinkCommand, suspendLinkCommand } from "./suspend.ts";
import {
  findLink,
  linkArgument,
  showKnown,
  showOf,
  type TenantOption,
  withTenant,
  withTenantOptions,
} from "./tenant-links.ts";

interface FieldOptions extends TenantOption, VisitorOptions {
  readonly title?: string;
  readonly expires?: string;
  readonly permanent?: boolean;
  readonly fetchTitle?: boolean;
}

interface CreateOptions extends FieldOptions {
  readonly code?: string;
  readonly domain?: string;
  readonly private?: boolean;
}

interface EditOptions extends FieldOptions {
  readonly url?: string;
}

export function linkCommand(): Command {
  const command = new Command("link");
  fieldOptions(withTenantOptions(command.command("create").argument("<url>")))
    .option("--code <text>", "custom code; default: generated")
    .option("--domain <host>", "verified custom domain, or own for the server's domain")
    .option("--private", "generate a twelve-character code that is hard to guess")
    .option("--fetch-title", "use the destination page's title")
    .description("create a link and print its URL")
    .addHelpText("after", "\nExample:\n  $ quicklink link create https://example.com/page --code sale")
    .action((url: string, options: CreateOptions) =>
      withTenant(options, async (core, tenant) => {
        const { code, private: hidden, domain } = options;
        const input = parseNewLink({
          ...{ url, code, private: hidden, domain: domain === "own" ? null : domain },
          ...(await sentFields(options)),
        });
        const link = await core.links.create(tenant, input, byCommand);
        if (options.fetchTitle && link.title === null) await core.targets.want(link.id, core.clock.now());
        if (options.json) printJson(await showKnown(core, link));
        else say(showOf(core, link).shortUrl);
      }),
    );
  fieldOptions(withTenantOptions(command.command("edit").argument("<code>", linkArgument)))
    .option("--url <address>", "destination URL")
    .option("--no-permanent", "answer 302")
    .option("--no-password", "remove the password")
    .option("--no-forward-query", "do not pass the visitor's query parameters on")
    .description("update only the given fields")
    .addHelpText("after", "\nExample:\n  $ quicklink link edit sale --rules rules.json --expires never")
    .action((code: string, options: EditOptions) =>
      withTenant(options, async (core, tenant) => {
        const { url } = options;
        const change = parseLinkChange({ ...(url !== undefined && { url }), ...(await sentFields(options)) });
        const link = await findLink(core, tenant, code);
        const changed = await core.links.patch(tenant, link.id, change, byCommand);
        if (options.json) printJson(await showKnown(core, changed));
        else say(`Updated ${changed.code}.`);
      }),
    );
  withTenantOptions(command.command("list"))
    .option("--limit <n>", "maximum number of links to list", Number, 50)
    .description("list links, newest first")
    .action((options: TenantOption & { limit: number }) =>
      withTenant(options, async (core, tenant) => {
        if (!Number.isInteger(options.limit) || options.limit < 1)
          throw invalid("--limit", "bad_number", "Must be a whole number, at least 1.");
        const pages = pagesOf<Link>(
          async (limit, last) => (await core.links.list(tenant.id, limit, last?.id)).items,
          options.limit,
        );
        await printPages(
          shownPages(pages, (link) => {
            const fields = showOf(core, link);
            return options.json ? fields : { ...fields, url: fields.url ?? fields.file };
          }),
          ["code", "url", "status", "expiresAt", "title"],
          options,
          "No links yet. Create one: quicklink link create https://example.com",
        );
      }),
    );
  withTenantOptions(command.command("get").argument("<code>", linkArgument))
    .description("show a link")
    .action((code: string, options: TenantOption) =>
      withTenant(options, async (core, tenant) =>
        printFields(await showKnown(core, await findLink(core, tenant, code)), options),
      ),
    );
  for (const [name, status] of [
    ["disable", "disabled"],
    ["enable", "active"],
  ] as const) {
    withTenantOptions(command.command(name).argument("<code>", linkArgument))
      .description(name === "disable" ? "disable a link: it answers 404" : "enable a disabled link")
      .action((code: string, options: TenantOption) =>
        withTenant(options, async (core, tenant) => {
          const link = await findLink(core, tenant, code);
          const changed = await core.links.patch(tenant, link.id, { status }, byCommand);
          if (options.json) printJson(await showKnown(core, changed));
          else say(`${changed.code} is ${changed.status}.`);
        }),
      );
  }
  withTenantOptions(command.command("delete").argument("<code>", linkArgument))
    .description("move a link to the trash, from which it can be restored for 30 days")
    .action((code: string, options: TenantOption) =>
      withTenant(options, async (core, tenant) => {
        const link = await findLink(core, tenant, code);
        await core.links.remove(tenant.id, link.id, byCommand);
        if (options.json) printJson({ deleted: link.code });
        else
          say(`Deleted ${link.code}. To restore it within 30 days: quicklink link restore ${restoreArguments(link)}`);
      }),
    );
  command.addCommand(linkHistoryCommand());
  command.addCommand(qrCommand());
  command.addCommand(suspendLinkCommand());
  command.addCommand(restoreLinkCommand());
  return command;
}

const restoreArguments = ({ domain, code }: Link): string => (domain === "" ? code : `${code} --domain ${domain}`);

const fieldOptions = (command: Command): Command =>
  visitorOptions(
    command
      .option("--title <text>", "title")
      .option("--expires <date>", "expiry date, such as 2027-01-31, or never")
      .option("--permanent", "answer 301 instead of 302"),
  );

/** The fields that were given. */
async function sentFields(options: FieldOptions): Promise<Record<string, unknown>> {
  const { title, expires, permanent } = options;
  return {
    ...(title !== undefined && { title }),
    ...(expires !== undefined && { expiresAt: parseExpiry(expires) }),
    ...(permanent !== undefined && { permanent }),
    ...(await readFields(options)),
  };
}

function parseExpiry(text: string): string | null {
  if (text === "never") return null;
  const time = fromIso(text);
  if (Number.isNaN(time))
    throw invalid("--expires", "bad_date", `"${text}" is not a date. Use a date such as 2027-01-31, or never.`);
  return toIso(time);
}
