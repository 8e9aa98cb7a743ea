import { type RawBuilder, sql as raw } from "kysely";
import type { FileId, LinkId } from "../../base/ids.ts";
import type { Sql } from "../../sql/sql.ts";
import { type LinkState, type LinkStatus, stateless } from "../link.ts";

/**
 * Which links a list shows, and in which order. Only the plain list, newest first, and the links of one file use an
 * index; everything else reads the tenant's links until a page is full, or all of them if few match: about 1 to 3 µs
 * each. An index for every order would cost every insert, for rare queries.
 */
export interface LinkQuery {
  readonly limit: number;
  readonly sort: LinkSort;
  readonly order: "asc" | "desc";
  /** The last one of the previous page. */
  readonly after?: ListPosition | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Whether a link must have all of the tags, or any. */
  readonly match?: "all" | "any" | undefined;
  readonly status?: LinkStatus | undefined;
  /** As stored: the server's own domain is empty. */
  readonly domain?: string | undefined;
  /** The file that they lead to. */
  readonly file?: FileId | undefined;
  readonly createdAfter?: number | undefined;
  readonly createdBefore?: number | undefined;
  readonly expiresBefore?: number | undefined;
  /** Substring of the code, URL, title, notes or tags; case-insensitive for A to Z. */
  readonly search?: string | undefined;
}

export const linkSorts = ["createdAt", "updatedAt", "code", "expiresAt", "clicks", "lastClickAt"] as const;
export type LinkSort = (typeof linkSorts)[number];

export interface ListPosition {
  readonly value: string | number;
  readonly id: LinkId;
}

/** Whether the index of a tenant's links covers it, so that no other rows are read. */
export function isPlain(query: LinkQuery): boolean {
  const { limit: _, sort, order: __, after: ___, match: ____, ...filters } = query;
  return sort === "createdAt" && Object.values(filters).every((filter) => filter === undefined);
}

const never = Number.MAX_SAFE_INTEGER; // links without an expiry come after all others

/** IDs sort by creation time. */
const columns: Readonly<Record<LinkSort, RawBuilder<string | number>>> = {
  createdAt: raw<string>`links.id`,
  updatedAt: raw<number>`links.updated_at`,
  code: raw<string>`links.code`,
  expiresAt: raw<number>`coalesce(links.expires_at, ${raw.lit(never)})`,
  clicks: raw<number>`coalesce((select c.clicks from click_links as c where c.link = links.number), 0)`,
  lastClickAt: raw<number>`coalesce((select c.last_at from click_links as c where c.link = links.number), 0)`,
};

/** The position of this link in the order. */
export function positionOf(
  sort: LinkSort,
  link: { id: LinkId; code: string; updatedAt: number; expiresAt: number | null },
  { clicks, lastClickAt }: Pick<LinkState, "clicks" | "lastClickAt"> = stateless,
): ListPosition {
  const values = {
    ...{ createdAt: link.id, updatedAt: link.updatedAt, code: link.code, expiresAt: link.expiresAt ?? never },
    ...{ clicks, lastClickAt: lastClickAt ?? 0 },
  };
  return { value: values[sort], id: link.id };
}

export function orderOf({ sort, order }: LinkQuery): RawBuilder<unknown> {
  const direction = raw.raw(order);
  return sort === "createdAt" ? raw`links.id ${direction}` : raw`${columns[sort]} ${direction}, links.id ${direction}`;
}

/** All conditions on a link, besides belonging to the tenant. */
export function conditionsOf({ lowerAscii }: Sql, query: LinkQuery): RawBuilder<boolean>[] {
  const { after, tags = [], match = "all", status, domain, file, search } = query;
  const { createdAfter, createdBefore, expiresBefore } = query;
  const conditions: RawBuilder<boolean>[] = [];
  if (after) conditions.push(isAfter(query, after));
  if (tags.length > 0) conditions.push(joined(tags.map(hasTag), match === "all" ? raw` and ` : raw` or `));
  if (status) conditions.push(raw<boolean>`links.status = ${status}`);
  if (domain !== undefined) conditions.push(raw<boolean>`links.domain = ${domain}`);
  if (file !== undefined) conditions.push(leadsTo(file));
  if (createdAfter !== undefined) conditions.push(raw<boolean>`links.created_at > ${createdAfter}`);
  if (createdBefore !== undefined) conditions.push(raw<boolean>`links.created_at < ${createdBefore}`);
  if (expiresBefore !== undefined) conditions.push(raw<boolean>`links.expires_at < ${expiresBefore}`);
  if (search !== undefined) {
    const holds = (column: string, text: string) =>
      raw<boolean>`${lowerAscii(column)} like ${`%${escapeLike(foldAscii(text))}%`} escape '\\'`;
    const plain = ["links.code", "links.url", "links.title", "links.notes"].map((column) => holds(column, search));
    conditions.push(joined([...plain, holds("links.tags", inJson(search))], raw` or `));
  }
  return conditions;
}

function isAfter({ sort, order }: LinkQuery, { value, id }: ListPosition): RawBuilder<boolean> {
  const further = raw.raw(order === "asc" ? ">" : "<");
  const column = columns[sort];
  if (sort === "createdAt") return raw<boolean>`links.id ${further} ${id}`;
  return raw<boolean>`(${column} ${further} ${value} or (${column} = ${value} and links.id ${further} ${id}))`;
}

/**
 * Not just `links.file_id = …`: SQLite would then scan the tenant's links in order instead of using the file's index.
 */
const leadsTo = (file: FileId): RawBuilder<boolean> =>
  raw<boolean>`links.id in (select led.id from links as led where led.file_id = ${file})`;

/**
 * Searches the JSON of the tags: a quote inside a tag is escaped, so these two match only where a tag begins. Uses
 * `replace`, because `like` is case-insensitive on SQLite.
 */
function hasTag(tag: string): RawBuilder<boolean> {
  const [first, later] = [`[${JSON.stringify(tag)}`, `,${JSON.stringify(tag)}`];
  return raw<boolean>`(replace(links.tags, ${first}, '') <> links.tags or replace(links.tags, ${later}, '') <> links.tags)`;
}

const joined = (parts: readonly RawBuilder<boolean>[], by: RawBuilder<unknown>): RawBuilder<boolean> =>
  raw<boolean>`(${raw.join(parts, by)})`;

const escapeLike = (text: string): string => text.replace(/[\\%_]/g, (character) => `\\${character}`);

const foldAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
