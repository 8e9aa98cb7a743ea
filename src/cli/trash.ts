import { Command } from "commander";
import { pagesOf } from "../base/pages.ts";
import { byCommand } from "../history/history.ts";
import { notInTrash } from "../links/create/refusals.ts";
import { showTrashed } from "../links/trash/api.ts";
import { emptyTrash } from "../links/trash/empty.ts";
import type { TrashedLink } from "../links/trash/trash-store.ts";
import { printJson, printPages, say, shownPages } from "./print.ts";
import { placeOf, type TenantOption, withTenant, withTenantOptions } from "./tenant-links.ts";

/** `quicklink trash`: deleted links. `quicklink link restore` restores one. */
export function trashCommand(): Command {
  const command = new Command("trash");
  withTenantOptions(command.command("list"))
    .description("list deleted links, those deleted last first")
    .action((options: TenantOption) =>
      withTenant(options, async (core, tenant) => {
        const pages = pagesOf<TrashedLink>((limit, last) => core.trash.list(tenant.id, limit, last));
        await printPages(
          shownPages(pages, (item) => showTrashed(item, core.config.baseUrl)),
          ["code", "url", "deletedAt", "eraseAt", "title"],
          options,
          "The trash is empty.",
        );
      }),
    );
  withTenantOptions(command.command("delete").argument("<code>", "code or short address of a link"))
    .description("delete a link in the trash for good")
    .action((text: string, options: TenantOption) =>
      withTenant(options, async (core, tenant) => {
        const { domain, code } = placeOf(core, text);
        const found = await core.trash.byCode(tenant.id, domain, code);
        if (!found || !(await core.trash.erase(tenant.id, found.id, byCommand, core.clock.now()))) throw notInTrash();
        if (options.json) printJson({ deleted: code });
        else say(`Deleted ${code} for good.`);
      }),
    );
  withTenantOptions(command.command("empty"))
    .description("delete all links in the trash for good")
    .action((options: TenantOption) =>
      withTenant(options, async (core, tenant) => {
        let total = 0;
        for (let isEmpty = false; !isEmpty; ) {
          const step = await emptyTrash(core, tenant.id, byCommand);
          total += step.deleted;
          ({ isEmpty } = step);
        }
        if (options.json) printJson({ deleted: total });
        else say(`Deleted ${total.toLocaleString("en")} links for good.`);
      }),
    );
  return command;
}
