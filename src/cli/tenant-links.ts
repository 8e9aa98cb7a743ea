import type { Command } from "commander";
import { parseId } from "../base/ids.ts";
import type { Core } from "../core.ts";
import type { Link } from "../links/link.ts";
import { statesOf } from "../links/read/states.ts";
import { showLink } from "../links/schemas.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { requireTenant, withCore } from "./core.ts";
import type { OutputFormat } from "./print.ts";

/** What commands about a tenant's links have in common. */
export interface TenantOption extends OutputFormat {
  readonly tenant: string;
}

export const withTenantOptions = (command: Command): Command =>
  command.option("--tenant <slug>", "workspace that owns the link", "default").option("--json", "print as JSON");

export const withTenant = (options: TenantOption, work: (core: Core, tenant: Tenant) => Promise<void>): Promise<void> =>
  withCore(async (core) => work(core, await requireTenant(core, options.tenant)));

export const showOf = (core: Core, link: Link) => showLink(link, core.config.baseUrl);

/** Includes the destination check and whether it is suspended. */
export async function showKnown(core: Core, link: Link) {
  return showLink(link, core.config.baseUrl, (await statesOf(core, [link])).get(link.id));
}

export async function findLink(core: Core, tenant: Tenant, text: string): Promise<Link> {
  const id = parseId("link", text);
  return id ? core.links.get(tenant.id, id) : core.links.byCode(tenant.id, text);
}
