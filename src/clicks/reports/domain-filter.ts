import { invalid } from "../../base/errors.ts";
import { ownDomain } from "../../links/link.ts";
import type { GroupNumber } from "../../sql/schema.ts";
import type { TenantDb } from "../../sql/tenant-db.ts";

/**
 * Domains in reports, as stored: those with clicks have a number, also if the tenant no longer has them. A domain that it has without
 * clicks has none yet. Any other is an error, since an empty report would look like a domain without clicks.
 */
export async function domainNumbers(
  own: TenantDb,
  field: "domain" | "filter",
  names: readonly string[],
): Promise<GroupNumber[]> {
  const groups = own.selectFrom("click_groups").select(["name", "number"]).where("kind", "=", "domain");
  const clicked = await groups.where("name", "in", names).execute();
  const rest = names.filter((name) => name !== ownDomain && !clicked.some((row) => row.name === name));
  if (rest.length > 0) {
    const verified = own.selectFrom("domains").select("host").where("state", "=", "verified");
    const rows = await verified.where("host", "in", rest).execute();
    const unknown = rest.find((name) => !rows.some(({ host }) => host === name));
    if (unknown !== undefined) {
      const message = `"${unknown}" is not one of your verified domains, and had no clicks. Name another domain, or verify it first.`;
      throw invalid(field, "unknown_domain", message);
    }
  }
  return clicked.map(({ number }) => number);
}
