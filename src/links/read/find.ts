import { type RawBuilder, sql as raw } from "kysely";
import type { FileId, LinkId, TenantId } from "../../base/ids.ts";
import type { Sql } from "../../sql/sql.ts";
import { type LinkState, type LinkStatus, stateless } from "../link.ts";
import { isInState, outdatedChecks, type StateFilter } from "./listed-state.ts";

/**
 * Which links a list shows, and in which order. Only the plain list, newest first, and the links of one file use an
 * index; everything else reads the tenant's links until a page is full, or all of them if few match: about 1 to 3 µs
 * each. An index for every order would cost every insert, for rare queries.
 */
export interface LinkQuery {
  readonly limit: number;
  readonly sort: LinkSort;
  readonly order: "asc" | "desc";
  /** Of `hitsUsed`: `2026-11`. */
  readonly month?: string | undefined;
  /** The last one of the previous page. */
  readonly after?: ListPosition | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Whether a link must have all of the tags, or any. */
  readonly match?: "all" | "any" | undefined;
  readonly status?: LinkStatus | undefined;
  readonly state?: StateFilter | undefined;
  /** Any of these, as stored: the server's own domain is empty. */
  readonly domains?: readonly string[] | undefined;
  /** The file that they lead to. */
  readonly file?: FileId | undefined;
  readonly createdAfter?: number | undefined;
  readonly createdBefore?: number | undefined;
  readonly expiresBefore?: number | undefined;
  /** Whether visitors need a password. */
  readonly password?: boolean | undefined;
  /** Whether it has routing rules or an A/B split. */
  readonly hasRules?: boolean | undefined;
  /** Substring of the code, URL, title, notes or tags; case-insensitive for A to Z. */
  readonly search?: string | undefined;
  /** Text in the URL or another destination, with the same letters in the same case. */
  readonly destination?: string | undefined;
}

export const linkSorts = ["createdAt", "updatedAt", "code", "expiresAt", "clicks", "lastClickAt", "hitsUsed"] as const;
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
const columns: Readonly<Record<Exclude<LinkSort, "hitsUsed">, RawBuilder<string | number>>> = {
  createdAt: raw<string>`links.id`,
  updatedAt: raw<number>`links.updated_at`,
  code: raw<string>`links.code`,
  expiresAt: raw<number>`coalesce(links.expires_at, ${raw.lit(never)})`,
  clicks: raw<number>`coalesce((select c.clicks from click_links as c where c.link = links.number), 0)`,
  lastClickAt: raw<number>`coalesce((select c.last_at from click_links as c where c.link = links.number), 0)`,
};

const columnOf = ({ sort, month = "" }: Pick<LinkQuery, "sort" | "month">): RawBuilder<string | number> =>
  sort === "hitsUsed"
    ? raw<number>`coalesce((select q.counted from quotas as q where q.domain = links.domain and q.code = links.code
        and q.month = ${month} and q.draws = 'hits'), 0)`
    : columns[sort];

/** The position of this link in the order. */
export function positionOf(
  sort: LinkSort,
  link: { id: LinkId; code: string; updatedAt: number; expiresAt: number | null },
  { clicks, lastClickAt, hitsUsed }: Pick<LinkState, "clicks" | "lastClickAt" | "hitsUsed"> = stateless,
): ListPosition {
  const values = {
    ...{ createdAt: link.id, updatedAt: link.updatedAt, code: link.code, expiresAt: link.expiresAt ?? never },
    ...{ clicks, lastClickAt: lastClickAt ?? 0, hitsUsed },
  };
  return { value: values[sort], id: link.id };
}

export function orderOf(query: LinkQuery): RawBuilder<unknown> {
  const direction = raw.raw(query.order);
  const column = columnOf(query);
  return query.sort === "createdAt" ? raw`links.id ${direction}` : raw`${column} ${direction}, links.id ${direction}`;
}

/** All conditions on a link, besides belonging to the tenant. */
export async function conditionsOf(
  sql: Pick<Sql, "db" | "lowerAscii">,
  tenant: TenantId,
  query: LinkQuery,
): Promise<RawBuilder<boolean>[]> {
  const { after, tags = [], match = "all", status, state, domains, file, search } = query;
  const { createdAfter, createdBefore, expiresBefore, password, hasRules } = query;
  const conditions: RawBuilder<boolean>[] = [];
  if (after) conditions.push(isAfter(query, after));
  if (tags.length > 0) conditions.push(joined(tags.map(hasTag), match === "all" ? raw` and ` : raw` or `));
  if (status) conditions.push(raw<boolean>`links.status = ${status}`);
  if (state) conditions.push(isInState(state, state.is === "attention" ? await outdatedChecks(sql, tenant) : []));
  if (domains !== undefined && domains.length > 0) {
    conditions.push(raw<boolean>`links.domain in (${raw.join(domains)})`);
  }
  if (password !== undefined) conditions.push(present(["links.password_hash"], password));
  if (hasRules !== undefined) conditions.push(present(["links.rules", "links.split"], hasRules));
  if (file !== undefined) conditions.push(leadsTo(file));
  if (createdAfter !== undefined) conditions.push(raw<boolean>`links.created_at > ${createdAfter}`);
  if (createdBefore !== undefined) conditions.push(raw<boolean>`links.created_at < ${createdBefore}`);
  if (expiresBefore !== undefined) conditions.push(raw<boolean>`links.expires_at < ${expiresBefore}`);
  if (query.destination !== undefined) conditions.push(leadsToText(query.destination));
  if (search !== undefined) {
    const holds = (column: string, text: string) =>
      raw<boolean>`${sql.lowerAscii(column)} like ${`%${escapeLike(foldAscii(text))}%`} escape '\\'`;
    const plain = ["links.code", "links.url", "links.title", "links.notes"].map((column) => holds(column, search));
    conditions.push(joined([...plain, holds("links.tags", inJson(search))], raw` or `));
  }
  return conditions;
}

function present(columns: readonly string[], isWanted: boolean): RawBuilder<boolean> {
  const parts = columns.map((column) =>
    isWanted ? raw<boolean>`${raw.ref(column)} is not null` : raw<boolean>`${raw.ref(column)} is null`,
  );
  return joined(parts, isWanted ? raw` or ` : raw` and `);
}

function isAfter(query: LinkQuery, { value, id }: ListPosition): RawBuilder<boolean> {
  const further = raw.raw(query.order === "asc" ? ">" : "<");
  const column = columnOf(query);
  if (query.sort === "createdAt") return raw<boolean>`links.id ${further} ${id}`;
  return raw<boolean>`(${column} ${further} ${value} or (${column} = ${value} and links.id ${further} ${id}))`;
}

/**
 * Not just `links.file_id = …`: SQLite would then scan the tenant's links in order instead of using the file's index.
 */
const leadsTo = (file: FileId): RawBuilder<boolean> =>
  raw<boolean>`links.id in (select led.id from links as led where led.file_id = ${file})`;

/** Uses `replace`, because `like` is case-insensitive on SQLite. Rules and splits are JSON. */
function leadsToText(text: string): RawBuilder<boolean> {
  const has = (column: string, part: string) =>
    raw<boolean>`replace(coalesce(${raw.ref(column)}, ''), ${part}, '') <> coalesce(${raw.ref(column)}, '')`;
  const escaped = inJson(text);
  return joined(
    [
      ...[has("links.url", text), has("links.fallback_url", text)],
      ...[has("links.rules", escaped), has("links.split", escaped)],
    ],
    raw` or `,
  );
}

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
