import { Command } from "commander";
import { fromIso, toIso } from "../base/clock.ts";
import { invalid } from "../base/errors.ts";
import { parseId } from "../base/ids.ts";
import type { Core } from "../core.ts";
import { parseNewLink, showLink } from "../links/api.ts";
import type { Link } from "../links/link.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { requireTenant, withCore } from "./core.ts";
import { type Format, printFields, printJson, printRows } from "./print.ts";

interface TenantOption extends Format {
  readonly tenant: string;
}

interface CreateOptions extends TenantOption {
  readonly code?: string;
  readonly title?: string;
  readonly expires?: string;
  readonly permanent?: boolean;
}

export function linkCommand(): Command {
  const command = new Command("link");
  common(command.command("create").argument("<url>"))
    .option("--code <text>", "choose the code instead of getting one")
    .option("--title <text>", "a title")
    .option("--expires <date>", "when it stops working, such as 2027-01-31; never for no end")
    .option("--permanent", "answer 301 instead of 302")
    .description("make a link and print its address")
    .addHelpText("after", "\nExample:\n  $ quicklink link create https://example.com/page --code sale")
    .action((url: string, options: CreateOptions) =>
      withTenant(options, async (core, tenant) => {
        const { code, title, expires, permanent } = options;
        const input = parseNewLink({ url, code, title, permanent, expiresAt: expires && parseExpiry(expires) });
        const link = await core.links.create(tenant, input, "operator");
        if (options.json) printJson(show(core, link));
        else console.log(show(core, link).shortUrl);
      }),
    );
  common(command.command("list"))
    .option("--limit <n>", "how many at most", Number, 50)
    .description("list links, newest first")
    .action((options: TenantOption & { limit: number }) =>
      withTenant(options, async (core, tenant) => {
        if (!Number.isInteger(options.limit) || options.limit < 1)
          throw invalid("limit", "bad_number", "--limit takes a whole number from 1.");
        const { items } = await core.links.list(tenant.id, options.limit);
        const shown = items.map((link) => show(core, link));
        const rows = options.json ? shown : shown.map((link) => ({ ...link, url: link.url ?? link.file }));
        printRows(
          rows,
          ["code", "url", "status", "expiresAt", "title"],
          options,
          "There are no links yet. Make one: quicklink link create https://example.com",
        );
      }),
    );
  common(command.command("get").argument("<code>", "a code, or lnk_…"))
    .description("show a link")
    .action((code: string, options: TenantOption) =>
      withTenant(options, async (core, tenant) => printFields(show(core, await find(core, tenant, code)), options)),
    );
  for (const [name, status] of [
    ["disable", "disabled"],
    ["enable", "active"],
  ] as const) {
    common(command.command(name).argument("<code>", "a code, or lnk_…"))
      .description(name === "disable" ? "make a link answer 404" : "make a disabled link work again")
      .action((code: string, options: TenantOption) =>
        withTenant(options, async (core, tenant) => {
          const link = await find(core, tenant, code);
          const changed = await core.links.patch(tenant, link.id, { status });
          if (options.json) printJson(show(core, changed));
          else console.log(`${changed.code} is ${changed.status}.`);
        }),
      );
  }
  common(command.command("delete").argument("<code>", "a code, or lnk_…"))
    .description("delete a link for good")
    .action((code: string, options: TenantOption) =>
      withTenant(options, async (core, tenant) => {
        const link = await find(core, tenant, code);
        await core.links.remove(tenant.id, link.id);
        if (options.json) printJson({ deleted: link.code });
        else console.log(`${link.code} is deleted.`);
      }),
    );
  return command;
}

const common = (command: Command): Command =>
  command.option("--tenant <slug>", "whose links", "default").option("--json", "as JSON");

const withTenant = (options: TenantOption, work: (core: Core, tenant: Tenant) => Promise<void>): Promise<void> =>
  withCore(async (core) => work(core, await requireTenant(core, options.tenant)));

const show = (core: Core, link: Link) => showLink(link, core.config.baseUrl);

async function find(core: Core, tenant: Tenant, text: string): Promise<Link> {
  const id = parseId("link", text);
  return id ? core.links.get(tenant.id, id) : core.links.byCode(tenant.id, text);
}

function parseExpiry(text: string): string | null {
  if (text === "never") return null;
  const time = fromIso(text);
  if (Number.isNaN(time)) throw invalid("expires", "bad_date", `"${text}" is not a date. Use 2027-01-31 or never.`);
  return toIso(time);
}
