import { Command } from "commander";
import { invalid } from "../base/errors.ts";
import type { LinkId } from "../base/ids.ts";
import { parseId } from "../base/ids.ts";
import type { Core } from "../core.ts";
import type { ShownHistory } from "../history/show.ts";
import { readPast } from "../links/past/api.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { printRows } from "./print.ts";
import { linkArgument, notFound, placeOf, type TenantOption, withTenant, withTenantOptions } from "./tenant-links.ts";

const shownMost = 1_000;

/** `quicklink link history`: who changed what of a link. */
export function linkHistoryCommand(): Command {
  return withTenantOptions(new Command("history").argument("<code>", linkArgument))
    .option("--limit <n>", "maximum number of changes to list", Number, 50)
    .description("list the changes of a link, newest first, also of one in the trash")
    .addHelpText("after", "\nExample:\n  $ quicklink link history sale --limit 10")
    .action((code: string, options: TenantOption & { limit: number }) =>
      withTenant(options, async (core, tenant) => {
        const { limit } = options;
        if (!Number.isInteger(limit) || limit < 1 || limit > shownMost) {
          throw invalid("--limit", "bad_number", `Must be a whole number from 1 to ${shownMost}.`);
        }
        const { items } = await readPast(core, tenant.id, await idOf(core, tenant, code), limit);
        const rows = options.json ? items : items.map(inOneLine);
        printRows(rows, ["version", "at", "action", "by", "changed"], options, "");
      }),
    );
}

async function idOf(core: Core, tenant: Tenant, text: string): Promise<LinkId> {
  const id = parseId("link", text);
  if (id !== undefined) return id;
  const place = placeOf(core, text);
  const { domain, code } = place;
  const found =
    (await core.store.byCode(tenant.id, domain, code)) ?? (await core.trash.byCode(tenant.id, domain, code));
  if (found === undefined) throw await notFound(core, tenant, place);
  return found.id;
}

function inOneLine({ version, at, action, by, after }: ShownHistory) {
  const changed = Object.keys(after ?? {}).join(", ");
  return { version, at, action, by: by.name === null ? by.kind : `${by.name} (${by.kind})`, changed };
}
