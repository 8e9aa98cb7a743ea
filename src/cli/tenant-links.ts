import type { Command } from "commander";
import { Problem } from "../base/errors.ts";
import { parseId } from "../base/ids.ts";
import type { Core } from "../core.ts";
import { type Link, ownDomain, shownHost } from "../links/link.ts";
import { statesOf } from "../links/read/states.ts";
import { showLink } from "../links/schemas.ts";
import { ofTenant } from "../sql/tenant-db.ts";
import type { Place } from "../sql/versions.ts";
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

/** What names a link on the command line. */
export const linkArgument = "code, short address or ID (lnk_…) of a link";

export async function findLink(core: Core, tenant: Tenant, text: string): Promise<Link> {
  const id = parseId("link", text);
  if (id !== undefined) {
    const link = await core.store.get(tenant.id, id);
    if (link === undefined) throw new Problem("not_found", `No link ${id} exists in the workspace "${tenant.slug}".`);
    return link;
  }
  const place = placeOf(core, text);
  const link = await core.store.byCode(tenant.id, place.domain, place.code);
  if (link === undefined) throw await notFound(core, tenant, place);
  return link;
}

/** Of a code, which is on the server's own domain, of host/code, or of a short address as it is copied. */
export function placeOf({ links }: Pick<Core, "links">, text: string): Place {
  const address = text.replace(/^https?:\/\//i, "").replace(/[?#].*$/s, "");
  const slash = address.indexOf("/");
  if (slash === -1) return { domain: ownDomain, code: address };
  return { domain: links.domainOf(address.slice(0, slash)), code: address.slice(slash + 1) };
}

const domainsMost = 100;

/** Says where this code is, if it is on another domain of the workspace: a code alone means the server's own. */
export async function notFound(core: Core, { id, slug }: Tenant, { domain, code }: Place): Promise<Problem> {
  const { sql, config } = core;
  const named = (place: Place) => `${shownHost(config.baseUrl, place.domain)}/${place.code}`;
  const hosts = (await core.domains.list(id, domainsMost)).map(({ host }) => host);
  const elsewhere = await ofTenant(sql.db, id)
    .selectFrom("links")
    .select(["domain", "code"])
    .where("code", "=", code)
    .where("domain", "in", [ownDomain, ...hosts])
    .orderBy("domain")
    .execute();
  const hint =
    elsewhere.length > 0
      ? `Did you mean ${elsewhere.map(named).join(" or ")}?`
      : "Give the short address of a link, such as links.example.com/sale. --tenant chooses the workspace.";
  return new Problem("not_found", `No link ${named({ domain, code })} exists in the workspace "${slug}". ${hint}`);
}
