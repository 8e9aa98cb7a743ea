import type { Selectable } from "kysely";
import type { LinkId, TenantId } from "../../base/ids.ts";
import type { LinkNumber, LinkTable } from "../../sql/schema.ts";
import type { Link } from "../link.ts";
import { toLink } from "../rows.ts";

/** All of them. */
export const keptColumns = [
  ...(["id", "tenant_id", "domain", "code", "url", "file_id", "permanent", "status", "expires_at", "title"] as const),
  ...(["notes", "tags", "fallback_url", "password_hash", "hits_per_month", "created_at", "updated_at"] as const),
  ...(["rules", "split", "utm", "forward_query", "number", "facts", "made_by_kind", "made_by"] as const),
] as const;

/** Does not compile with a column of links that the trash would lose. */
type Lost = Exclude<keyof LinkTable, (typeof keptColumns)[number]>;
true satisfies [Lost] extends [never] ? true : Lost;

/** A link's row as JSON, as it was when it was deleted. */
export interface KeptRow {
  readonly id: LinkId;
  readonly tenant_id: TenantId;
  readonly domain: string;
  readonly code: string;
  readonly link: string;
}

/** A column that is newer than the row is missing, and gets its default. */
export function parseKept({ id, domain, code, link }: KeptRow): Omit<Selectable<LinkTable>, "tenant_id"> {
  const { tenant_id: _, ...row } = JSON.parse(link) as Selectable<LinkTable>;
  return { ...row, id, domain, code };
}

/** Its clicks are recorded under this. */
export const numberOfKept = (link: string): LinkNumber => (JSON.parse(link) as Selectable<LinkTable>).number;

export const keptLink = (row: KeptRow, version: number): Link =>
  toLink({ ...parseKept(row), tenant_id: row.tenant_id, version });
