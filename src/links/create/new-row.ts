import type { Selectable } from "kysely";
import type { TenantId } from "../../base/ids.ts";
import type { BulkType, BulkValue } from "../../sql/bulk.ts";
import type { LinkNumber, LinkTable } from "../../sql/schema.ts";
import { choiceColumns } from "../rows.ts";
import type { NewLink } from "./new-links.ts";

/**
 * The row of a new link, column by column: values are bound one after the other, and an object for each row would only be
 * taken apart again.
 */
export interface NewLinkColumn {
  readonly name: string;
  readonly type: BulkType;
  /** `number`: its own, if it has one already. */
  readonly of: (link: NewLink, tenant: TenantId, number: LinkNumber | undefined) => BulkValue;
}

type Column = Exclude<keyof LinkTable, "number">;
type Columns<Name extends Column> = {
  readonly [One in Name]: readonly [BulkType, (link: NewLink, tenant: TenantId) => Selectable<LinkTable>[One]];
};

/** Mostly the same for all links that are inserted together. */
const same = {
  tenant_id: ["text", (_, tenant) => tenant],
  domain: ["text", ({ domain }) => domain],
  permanent: ["smallint", ({ permanent }) => (permanent ? 1 : 0)],
  status: ["text", ({ status }) => status],
  facts: ["smallint", ({ clickFacts }) => (clickFacts ? 1 : 0)],
  forward_query: ["smallint", ({ forwardQuery }) => (forwardQuery ? 1 : 0)],
  made_by_kind: ["text", ({ by }) => by.kind],
  made_by: ["text", ({ by }) => ("id" in by ? by.id : null)],
} as const satisfies Partial<Columns<Column>>;

const plain = {
  id: ["text", ({ id }) => id],
  code: ["text", ({ code }) => code],
  url: ["text", ({ url }) => url],
  expires_at: ["bigint", ({ expiresAt }) => expiresAt],
  title: ["text", ({ title }) => title],
  tags: ["text", ({ tags }) => (tags.length === 0 ? "[]" : JSON.stringify(tags))],
  created_at: ["bigint", ({ createdAt, at }) => createdAt ?? at],
  updated_at: ["bigint", ({ at }) => at],
} as const satisfies Partial<Columns<Column>>;

/** Most links have none of these. Binding them took a sixth of the time of an insert. */
const seldom: Columns<Exclude<Column, keyof typeof same | keyof typeof plain>> = {
  file_id: ["text", ({ file }) => file],
  notes: ["text", ({ notes }) => notes],
  fallback_url: ["text", ({ fallbackUrl }) => fallbackUrl],
  hits_per_month: ["bigint", ({ hitsPerMonth }) => hitsPerMonth],
  rules: ["text", (link) => choiceColumns(link).rules],
  split: ["text", (link) => choiceColumns(link).split],
  utm: ["text", (link) => choiceColumns(link).utm],
  password_hash: ["text", ({ passwordHash }) => passwordHash ?? null],
};

const listed = (columns: Partial<Columns<Column>>): readonly NewLinkColumn[] =>
  Object.entries(columns).map(([name, [type, of]]) => ({ name, type, of }));

export const sameColumns = listed(same);
export const plainColumns = listed(plain);
export const seldomColumns = listed(seldom);
export const numberColumn: NewLinkColumn = { name: "number", type: "bigint", of: (_, __, number) => number ?? null };

/** What `sameColumns` have in all of these links; undefined if they differ. */
export function sharedValues(links: readonly NewLink[], tenant: TenantId): readonly BulkValue[] | undefined {
  const [first] = links;
  if (first === undefined) return undefined;
  const shared = sameColumns.map(({ of }) => of(first, tenant, undefined));
  const isSame = ({ of }: NewLinkColumn, link: NewLink, place: number) => of(link, tenant, undefined) === shared[place];
  return links.every((link) => sameColumns.every((column, place) => isSame(column, link, place))) ? shared : undefined;
}

/** `first`: the number of the first link. */
export function valuesOf(
  links: readonly NewLink[],
  tenant: TenantId,
  columns: readonly NewLinkColumn[],
  first: LinkNumber | undefined,
): BulkValue[] {
  const values: BulkValue[] = [];
  let number = first;
  for (const link of links) {
    for (const { of } of columns) values.push(of(link, tenant, number));
    if (number !== undefined) number = (number + 1) as LinkNumber;
  }
  return values;
}

/** Whether a link has none of the seldom columns. */
export const hasPlainRow = (link: NewLink): boolean =>
  link.file === null &&
  link.notes === null &&
  link.fallbackUrl === null &&
  link.hitsPerMonth === null &&
  link.rules.length === 0 &&
  link.split.length === 0 &&
  link.utm === null &&
  link.passwordHash == null;
