import { type RawBuilder, sql as raw, type Selectable } from "kysely";
import type { FileId, TenantId } from "../base/ids.ts";
import { storedKey } from "../files/file.ts";
import type { LinkTable } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import { type Db, ofTenant, type TenantDb } from "../sql/tenant-db.ts";
import { type StoredLimits, storedLimits } from "../tenants/tenants.ts";
import type { NewLink } from "./create/new-links.ts";
import { hitsWithin, type Link, type LinkFields, type TargetFile } from "./link.ts";
import type { Choice, ChoiceFields, SplitTarget } from "./routing/choice.ts";
import { readRules } from "./routing/rules.ts";
import { type Utm, withUtm } from "./routing/utm.ts";

/** Links as rows, and back: what their store and the creation of new ones have in common. */
export const withVersion = (own: TenantDb) =>
  own
    .selectFrom("links")
    .innerJoin("link_versions", (join) =>
      join.onRef("link_versions.domain", "=", "links.domain").onRef("link_versions.code", "=", "links.code"),
    )
    .select(["links.id", "links.tenant_id", "links.domain", "links.code", "links.url", "links.file_id"])
    .select(["links.permanent", "links.status", "links.expires_at", "links.title", "links.notes", "links.tags"])
    .select(["links.fallback_url", "links.hits_per_month", "links.password_hash", "links.facts"])
    .select(["links.rules", "links.split", "links.utm", "links.forward_query"])
    .select(["links.created_at", "links.updated_at", "link_versions.version"]);

export function fieldColumns(fields: LinkFields) {
  return {
    ...choiceColumns(fields), // first: what follows a spread is added without copying
    url: fields.url,
    file_id: fields.file,
    permanent: fields.permanent ? (1 as const) : (0 as const),
    status: fields.status,
    expires_at: fields.expiresAt,
    title: fields.title,
    notes: fields.notes,
    tags: JSON.stringify(fields.tags),
    fallback_url: fields.fallbackUrl,
    hits_per_month: fields.hitsPerMonth,
    facts: fields.clickFacts ? (1 as const) : (0 as const),
  };
}

interface JoinedFile {
  readonly tenant_id: TenantId | null;
  readonly file_id: FileId | null;
  readonly name: string | null;
  readonly type: string | null;
  readonly size_bytes: number | null;
  readonly sha256: string | null;
}

/** `undefined` if it leads to no file, or to a deleted one. */
export function fileOf({
  tenant_id: tenantId,
  file_id: id,
  name,
  type,
  size_bytes,
  sha256,
}: JoinedFile): TargetFile | null {
  if (tenantId === null || id === null || name === null || type === null || size_bytes === null) return null;
  return { key: storedKey({ tenantId, id }), name, type, sizeBytes: size_bytes, sha256 };
}

/**
 * Which of these links' files exist, and stay until the transaction ends: a later deletion finds the link, and gives it
 * a new version.
 */
export async function lockFiles(
  sql: Sql,
  trx: Db,
  tenant: TenantId,
  links: readonly Pick<LinkFields, "file">[],
): Promise<Set<FileId>> {
  const ids = new Set<FileId>();
  for (const { file } of links) if (file !== null) ids.add(file);
  if (ids.size === 0) return ids;
  const rows = ofTenant(trx, tenant)
    .selectFrom("files")
    .select("id")
    .where("id", "in", [...ids])
    .where("state", "=", "stored")
    .orderBy("id");
  return new Set((await sql.forUpdate(rows).execute()).map(({ id }) => id));
}

/** The database assigns the number. */
export type LinkRow = Omit<Selectable<LinkTable>, "number" | "made_by_kind" | "made_by">;

/** What `toLink` would read back. */
export function asCreated(tenantId: TenantId, link: NewLink, version: number): Link {
  const { id, domain, code, at, createdAt = at, passwordHash = null } = link;
  return {
    id,
    tenantId,
    domain,
    code,
    url: link.url,
    file: link.file,
    permanent: link.permanent,
    status: link.status,
    expiresAt: link.expiresAt,
    title: link.title,
    notes: link.notes,
    tags: link.tags,
    fallbackUrl: link.fallbackUrl,
    hitsPerMonth: link.hitsPerMonth,
    clickFacts: link.clickFacts,
    rules: link.rules,
    split: link.split,
    utm: link.utm,
    forwardQuery: link.forwardQuery,
    password: passwordHash !== null,
    version,
    createdAt,
    updatedAt: at,
  };
}

export function toLink(row: LinkRow & { version: number }): Link {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    domain: row.domain,
    code: row.code,
    url: row.url,
    file: row.file_id,
    permanent: row.permanent === 1,
    status: row.status,
    expiresAt: row.expires_at,
    title: row.title,
    notes: row.notes,
    tags: JSON.parse(row.tags) as string[],
    fallbackUrl: row.fallback_url,
    hitsPerMonth: row.hits_per_month,
    clickFacts: row.facts === 1,
    ...toChoiceFields(row),
    password: row.password_hash !== null,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** How many hits a link may have in a month: what its owner set, within its tenant's limit. Null: no limit. */
export function hitsMax(own: number | null, tenant: StoredLimits): number | null {
  return hitsWithin(own, storedLimits(tenant).hitsPerLinkPerMonth);
}

/**
 * The same as an expression over `links as l`. `hits_per_month` is null if the owner set nothing, and a comparison with
 * null is not true.
 */
export function hitsMaxExpression(allowed: number | null, column = "l.hits_per_month"): RawBuilder<number> {
  const own = raw.ref<number>(column);
  return allowed === null ? own : raw<number>`case when ${own} < ${allowed} then ${own} else ${allowed} end`;
}

/** Rules, splits and parameters in their columns: null if there are none, so that a plain link stays cheap to read. */
type Columns = Pick<LinkTable, "rules" | "split" | "utm" | "forward_query">;

export function choiceColumns({ rules, split, utm, forwardQuery }: ChoiceFields): Columns {
  return {
    rules: rules.length === 0 ? null : JSON.stringify(rules),
    split: split.length === 0 ? null : JSON.stringify(split),
    utm: utm === null ? null : JSON.stringify(utm),
    forward_query: forwardQuery ? 1 : 0,
  };
}

const toChoiceFields = (row: Columns): ChoiceFields => ({
  rules: row.rules === null ? [] : JSON.parse(row.rules),
  split: row.split === null ? [] : JSON.parse(row.split),
  utm: toUtm(row.utm),
  forwardQuery: row.forward_query === 1,
});

export const toUtm = (stored: string | null): Utm | null => (stored === null ? null : JSON.parse(stored));

/** For a redirect: URLs as they are sent. Null if every visitor gets the same. */
export function choiceFromRow(row: { readonly [Name in keyof Columns]: Columns[Name] | null }): Choice | null {
  if (row.rules === null && row.split === null && row.forward_query !== 1) return null;
  const utm = toUtm(row.utm);
  const sent = <Led extends { readonly url: string }>(led: Led): Led => ({ ...led, url: withUtm(led.url, utm) });
  return {
    rules: row.rules === null ? [] : readRules(JSON.parse(row.rules)).map(sent),
    split: row.split === null ? [] : (JSON.parse(row.split) as SplitTarget[]).map(sent),
    forwardQuery: row.forward_query === 1,
  };
}
