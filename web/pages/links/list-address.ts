import type { QueryOf } from "../../api/call.ts";
import type { LinkFilter } from "../../api/generated.ts";
import { listOf, oneOf } from "../../search.ts";
import { type Period, periods } from "./period.ts";

/**
 * The list of links as its address says it: plain words, so that people can read and edit it, and a saved view is just an
 * address.
 */
export const listStates = ["active", "expired", "disabled", "suspended", "attention"] as const;
export type ListState = (typeof listStates)[number];

export const sorts = ["createdAt", "updatedAt", "code", "expiresAt", "clicks", "lastClickAt"] as const;
export type Sort = (typeof sorts)[number];

export interface ListAddress {
  readonly q: string | undefined;
  readonly state: ListState | undefined;
  readonly domains: readonly string[];
  readonly tags: readonly string[];
  readonly match: "all" | "any";
  /** Days before today, or dates. */
  readonly createdDays: number | undefined;
  readonly createdAfter: string | undefined;
  readonly createdBefore: string | undefined;
  /** Days from today, or a date. */
  readonly expiresDays: number | undefined;
  readonly expiresBefore: string | undefined;
  readonly password: boolean | undefined;
  readonly rules: boolean | undefined;
  readonly file: string | undefined;
  readonly sort: Sort;
  readonly order: "asc" | "desc";
  readonly period: Period;
  readonly cursor: string | undefined;
  readonly page: number;
}

export type AddressChange = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The parameters that filter; the rest is order, period and place. */
export const filterNames = [
  ...["q", "domain", "tag", "match", "created", "createdAfter", "createdBefore"],
  ...["expires", "expiresBefore", "password", "rules", "file"],
] as const;
/** What a saved view keeps. */
export const viewNames = [...filterNames, "state", "sort", "order", "period"] as const;

export const noPlace: AddressChange = { cursor: undefined, page: undefined };
export const noFilters: AddressChange = {
  ...Object.fromEntries(filterNames.map((name) => [name, undefined])),
  ...noPlace,
  state: undefined,
};

type Search = Readonly<Record<string, unknown>>;

export function readAddress(search: Search): ListAddress {
  const among = <One extends string>(name: string, known: readonly One[]): One | undefined =>
    known.find((one) => one === oneOf(search[name]));
  const date = (name: string) => {
    const text = oneOf(search[name]);
    return text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined;
  };
  const days = (name: string) => {
    const found = /^(\d{1,3})d$/.exec(oneOf(search[name]) ?? "")?.[1];
    return found === undefined ? undefined : Number(found);
  };
  const yes = (name: string) => ({ yes: true, no: false })[oneOf(search[name]) ?? ""];
  return {
    q: oneOf(search.q)?.slice(0, 100),
    state: among("state", listStates),
    domains: listOf(search.domain).slice(0, 20),
    tags: listOf(search.tag).slice(0, 10),
    match: among("match", ["all", "any"]) ?? "all",
    createdDays: days("created"),
    createdAfter: date("createdAfter"),
    createdBefore: date("createdBefore"),
    expiresDays: days("expires"),
    expiresBefore: date("expiresBefore"),
    password: yes("password"),
    rules: yes("rules"),
    file: oneOf(search.file),
    sort: among("sort", sorts) ?? "createdAt",
    order: among("order", ["asc", "desc"]) ?? "desc",
    period: among("period", periods) ?? "month",
    cursor: oneOf(search.cursor),
    page: Math.max(1, Math.min(100_000, Number(oneOf(search.page)) || 1)),
  };
}

export const hasFilters = (address: ListAddress): boolean =>
  address.q !== undefined || address.state !== undefined || filterKinds.some((kind) => isSet(address, kind));

export const filterKinds = ["domain", "tag", "created", "expires", "password", "rules"] as const;
export type FilterKind = (typeof filterKinds)[number];

export function isSet(address: ListAddress, kind: FilterKind): boolean {
  switch (kind) {
    case "domain":
      return address.domains.length > 0;
    case "tag":
      return address.tags.length > 0;
    case "created":
      return (address.createdDays ?? address.createdAfter ?? address.createdBefore) !== undefined;
    case "expires":
      return (address.expiresDays ?? address.expiresBefore) !== undefined;
    default:
      return address[kind] !== undefined;
  }
}

export const without: Readonly<Record<FilterKind, AddressChange>> = {
  domain: { domain: undefined },
  tag: { tag: undefined, match: undefined },
  created: { created: undefined, createdAfter: undefined, createdBefore: undefined },
  expires: { expires: undefined, expiresBefore: undefined },
  password: { password: undefined },
  rules: { rules: undefined },
};

/** The start of a day of the reader, some days from today. */
function dayFromToday(days: number): string {
  const today = new Date();
  return new Date(today.getFullYear(), today.getMonth(), today.getDate() + days).toISOString();
}

/** The start of a date in the reader's zone. */
function dayOf(date: string, add = 0): string {
  const [year = 0, month = 1, day = 1] = date.split("-").map(Number);
  return new Date(year, month - 1, day + add).toISOString();
}

type Counted = NonNullable<QueryOf<"GET /api/links/counts">>;

/** The filters without the state, for the numbers on the tabs. */
export function countQuery(address: ListAddress): Counted {
  const { q, domains, tags, match, password, rules, file } = address;
  const { createdDays, createdAfter, createdBefore, expiresDays, expiresBefore } = address;
  const after = createdDays === undefined ? createdAfter && dayOf(createdAfter) : dayFromToday(1 - createdDays);
  const before = createdDays === undefined ? createdBefore && dayOf(createdBefore, 1) : undefined;
  const expires = expiresDays === undefined ? expiresBefore && dayOf(expiresBefore) : dayFromToday(expiresDays + 1);
  return {
    ...(q !== undefined && { search: q }),
    ...(domains.length > 0 && { domain: domains }),
    ...(tags.length > 0 && { tag: tags, match }),
    ...(after !== undefined && { createdAfter: after }),
    ...(before !== undefined && { createdBefore: before }),
    ...(expires !== undefined && { expiresBefore: expires }),
    ...(password !== undefined && { password }),
    ...(rules !== undefined && { hasRules: rules }),
    ...(file !== undefined && { file }),
  };
}

export const pageLinks = 50;

export function listParams(address: ListAddress, limit = pageLinks): NonNullable<QueryOf<"GET /api/links">> {
  const { sort, order, state, cursor, period } = address;
  return {
    ...countQuery(address),
    limit,
    sort: sort === "clicks" && period === "month" ? "hitsUsed" : sort,
    order,
    ...(state !== undefined && { state }),
    ...(cursor !== undefined && { cursor }),
  };
}

/** For bulk edits of everything that matches. */
export function bulkFilter(address: ListAddress): LinkFilter {
  const { tag, ...rest } = countQuery(address);
  return { ...rest, ...(tag !== undefined && { tags: tag }), ...(address.state && { state: address.state }) };
}

/** Changes of this begin at the first page, and end a selection. */
export const filterKey = (address: ListAddress): string => {
  const { cursor: _, page: __, period: ___, ...rest } = address;
  return JSON.stringify(rest);
};
