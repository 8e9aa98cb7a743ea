import type { LinkId } from "../../base/ids.ts";
import { isReserved, slugPattern } from "../../codes/slugs.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import { type Db, ofTenant, type TenantDb } from "../../sql/tenant-db.ts";
import type { Tenant } from "../../tenants/tenants.ts";
import { foreignDomain } from "../create/refusals.ts";
import { ownDomain } from "../link.ts";
import type { LinkStore } from "../store.ts";
import type { TrashStore } from "../trash/trash-store.ts";
import { codeFrom, variantsOf } from "./suggestions.ts";

/** Whether a new link could have this code, by the rules of `claimPlaces` in `sql/versions.ts`, without taking it. */
export interface CodeCheck {
  readonly state: CodeVerdict;
  /** The caller's own link that has the code. */
  readonly link: LinkId | null;
  /** The same in their trash: it can be restored. */
  readonly trashedLink: LinkId | null;
  /** Codes that are free now. */
  readonly suggestions: readonly string[];
}

/** `taken`: by another workspace, of which nothing else is said. */
export const codeVerdicts = ["free", "invalid", "reserved", "yours", "in_trash", "taken"] as const;
export type CodeVerdict = (typeof codeVerdicts)[number];

export interface CodeCheckParts {
  readonly sql: Pick<Sql, "db">;
  readonly store: Pick<LinkStore, "byCode">;
  readonly trash: Pick<TrashStore, "byCode">;
  readonly now: () => number;
}

const suggestedMost = 3;

/** `domain` as stored. */
export async function checkCode(parts: CodeCheckParts, tenant: Tenant, domain: string, code: string) {
  const { sql, store, trash, now } = parts;
  const own = ofTenant(sql.db, tenant.id);
  if (domain !== ownDomain && (await selectDomain.first(own, { host: domain })) === undefined) {
    throw foreignDomain(domain);
  }
  const wanted = codeFrom(code);
  const variants = variantsOf(wanted, new Date(now()).getUTCFullYear());
  const free = await freeAmong(sql.db, tenant, domain, [...new Set([code, wanted, ...variants])]);
  const answer = (state: CodeVerdict, more: Partial<CodeCheck> = {}): CodeCheck => ({
    ...{ state, link: null, trashedLink: null },
    suggestions: state === "free" ? [] : [wanted, ...variants].filter((one) => free.has(one)).slice(0, suggestedMost),
    ...more,
  });
  if (!slugPattern.test(code)) return answer("invalid");
  if (isReserved(code)) return answer("reserved");
  if (free.has(code)) return answer("free");
  const link = await store.byCode(tenant.id, domain, code);
  if (link !== undefined) return answer("yours", { link: link.id });
  const trashed = await trash.byCode(tenant.id, domain, code);
  if (trashed !== undefined) return answer("in_trash", { trashedLink: trashed.id });
  return answer("taken");
}

/** Why not, in the words that creating a link would use. */
export function sayVerdict(state: CodeVerdict, code: string): string | null {
  switch (state) {
    case "free":
      return null;
    case "invalid":
      return "Must have 3 to 64 characters: letters, digits, - and _.";
    case "reserved":
      return `"${code}" is reserved. Choose another code.`;
    case "yours":
      return `One of your links has the code "${code}".`;
    case "in_trash":
      return `The code "${code}" belongs to a deleted link in your trash. Restore it, or delete it for good first.`;
    case "taken":
      return `The code "${code}" is taken. Choose another one.`;
  }
}

/** A custom domain passes to another tenant with all its codes; on the server's own domain they keep their owner. */
async function freeAmong(db: Db, tenant: Tenant, domain: string, codes: readonly string[]): Promise<Set<string>> {
  const possible = codes.filter((code) => slugPattern.test(code) && !isReserved(code));
  if (possible.length === 0) return new Set();
  const rows = await selectStates.all(db, { domain, codes: possible });
  const used = rows.filter(({ state, tenant_id }) => {
    if (state === "purged") return false;
    return state !== "deleted" || (domain === ownDomain && tenant_id !== tenant.id);
  });
  const taken = new Set(used.map(({ code }) => code));
  return new Set(possible.filter((code) => !taken.has(code)));
}

const selectDomain = statement((own: TenantDb, { host }: Params<{ host: string }>) =>
  own.selectFrom("domains").select("host").where("host", "=", host).where("state", "=", "verified"),
);

const selectStates = statement((db: Db, { domain, codes }: Params<{ domain: string; codes: readonly string[] }>) =>
  db
    .selectFrom("link_versions")
    .select(["code", "state", "tenant_id"])
    .where("domain", "=", domain)
    .where("code", "in", codes),
);

/** A domain as it was sent, as stored. */
export function requestedDomain(
  { defaultDomain }: Tenant,
  given: string | undefined,
  domainOf: (text: string) => string,
): string {
  const domain = given ?? defaultDomain;
  return domain === null ? ownDomain : domainOf(domain);
}
