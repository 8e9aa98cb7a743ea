import { Problem } from "../base/errors.ts";
import type { LinkId, TenantId } from "../base/ids.ts";
import type { Actor } from "../history/history.ts";
import type { Links } from "../links/links.ts";
import type { Tenants } from "../tenants/tenants.ts";

const byTargets: Actor = { kind: "job", name: "targets" };

/** Gives a link the title of its destination, unless it got one meanwhile or was deleted. */
export async function saveTitle(
  { links, tenants }: { readonly links: Links; readonly tenants: Tenants },
  tenantId: TenantId,
  id: LinkId,
  title: string,
): Promise<void> {
  try {
    const link = await links.get(tenantId, id);
    const tenant = link.title === null ? await tenants.byId(tenantId) : undefined;
    if (tenant) await links.patch(tenant, id, { title }, byTargets, link.version);
  } catch (error) {
    if (error instanceof Problem && (error.code === "not_found" || error.code === "version_conflict")) return;
    throw error;
  }
}
