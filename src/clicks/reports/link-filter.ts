import { type RawBuilder, sql as raw } from "kysely";
import { invalid, Problem } from "../../base/errors.ts";
import { parseId } from "../../base/ids.ts";
import { ownDomain } from "../../links/link.ts";
import type { LinkNumber } from "../../sql/schema.ts";
import type { TenantDb } from "../../sql/tenant-db.ts";
import type { ClickFilter } from "./filters.ts";

/**
 * Links in filters: an ID, a code, or host/code on a custom domain. A deleted link has no ID any more, but its clicks keep its
 * code: the code means the link that has it now, or else the deleted ones that had it. With the number that reports add to the code of
 * a deleted link, it means that one, whoever else has the code. A link that never was is an error, since an empty report would
 * look like a link without clicks.
 */
export async function linkNumbers(own: TenantDb, values: readonly string[]): Promise<LinkNumber[]> {
  const ids = values.flatMap((value) => parseId("link", value) ?? []);
  const named = values.filter((value) => parseId("link", value) === undefined).map(placeOf);
  const places = named.filter(({ number }) => number === undefined);
  const numbers: LinkNumber[] = [];
  if (ids.length > 0) {
    const rows = await own.selectFrom("links").select(["id", "number"]).where("id", "in", ids).execute();
    const missing = ids.find((id) => !rows.some((row) => row.id === id));
    if (missing !== undefined) throw unknown(`No link has the ID ${missing}. Name a deleted link by its code.`);
    numbers.push(...rows.flatMap(({ number }) => number ?? []));
  }
  numbers.push(...(await numbered(own, named)));
  if (places.length === 0) return numbers;
  const live = await own.selectFrom("links").select(["number", "domain", "code"]).where(isOneOf(places)).execute();
  const rest = places.filter((place) => !live.some((row) => isSame(row, place)));
  numbers.push(...live.flatMap(({ number }) => number ?? []));
  if (rest.length === 0) return numbers;
  const deleted = await own.selectFrom("click_links").select(["link", "domain", "code"]).where(isOneOf(rest)).execute();
  const missing = rest.find((place) => !deleted.some((row) => isSame(row, place)));
  if (missing !== undefined) throw await unknownPlace(own, missing);
  return [...numbers, ...deleted.map(({ link }) => link)];
}

const domainsMost = 100;

/** A code alone means a link on the server's own domain. Says where else the workspace has it. */
async function unknownPlace(own: TenantDb, { domain, code }: Place): Promise<Problem> {
  const verified = own.selectFrom("domains").select("host").where("state", "=", "verified").limit(domainsMost);
  const hosts = (await verified.execute()).map(({ host }) => host);
  const links = own.selectFrom("links").select(["domain", "code"]).where("code", "=", code);
  const elsewhere = await links
    .where("domain", "in", [ownDomain, ...hosts])
    .orderBy("domain")
    .execute();
  const none =
    domain === ownDomain
      ? `No link has the code ${code}, and no deleted link with clicks had it.`
      : `No link is ${domain}/${code}, and no deleted link with clicks was.`;
  const hint =
    elsewhere.length > 0
      ? `Did you mean ${elsewhere.map(nameOf).join(" or ")}?`
      : "Name a link on a custom domain as host/code, such as go.example.com/sale.";
  return unknown(`${none} ${hint}`);
}

const nameOf = ({ domain, code }: Place): string => (domain === ownDomain ? code : `${domain}/${code}`);

/** Those that are named with their number. */
async function numbered(own: TenantDb, places: readonly Place[]): Promise<LinkNumber[]> {
  const wanted = places.flatMap(({ number }) => number ?? []);
  if (wanted.length === 0) return [];
  const clicked = own.selectFrom("click_links").select(["link", "domain", "code"]).where("link", "in", wanted);
  const rows = await clicked.execute();
  const missing = places.find(
    (place) => place.number !== undefined && !rows.some((row) => row.link === place.number && isSame(row, place)),
  );
  if (missing !== undefined) throw unknown(`No link with clicks is ${missing.code}@${missing.number}.`);
  return wanted;
}

interface Place {
  readonly domain: string;
  readonly code: string;
  readonly number?: LinkNumber;
}

function placeOf(value: string): Place {
  const slash = value.indexOf("/");
  const domain = slash < 0 ? "" : value.slice(0, slash);
  const [, code, digits] = numberedCode.exec(value.slice(slash + 1)) ?? [];
  if (code === undefined) return { domain, code: value.slice(slash + 1) };
  return { domain, code, number: Number(digits) as LinkNumber };
}

/** No code has an "@". */
const numberedCode = /^([^@]+)@(\d{1,15})$/;

const isOneOf = (places: readonly Place[]): RawBuilder<boolean> => {
  const each = places.map(({ domain, code }) => raw<boolean>`(domain = ${domain} and code = ${code})`);
  return raw<boolean>`(${raw.join(each, raw` or `)})`;
};

const isSame = (a: Place, b: Place): boolean => a.domain === b.domain && a.code === b.code;

const unknown = (message: string) => invalid("filter", "unknown_link", message);

/** Replaces host names by domains as they are stored: every name of the server itself is stored as an empty domain. */
export function storedFilters(filters: readonly ClickFilter[], domainOf: (host: string) => string): ClickFilter[] {
  const stored = (host: string): string => {
    try {
      return domainOf(host);
    } catch (error) {
      if (error instanceof Problem)
        throw invalid("filter", "bad_domain", `"${host}" is not a host name. Name a domain, such as go.example.com.`);
      throw error;
    }
  };
  return filters.map((filter) => {
    if (filter.field === "domain") return { ...filter, values: filter.values.map(stored) };
    if (filter.field !== "link") return filter;
    const values = filter.values.map((value) => {
      const slash = value.indexOf("/");
      const [host, code] = [value.slice(0, Math.max(0, slash)), value.slice(slash + 1)];
      const found = slash < 0 ? "" : stored(host);
      return found === "" ? code : `${found}/${code}`;
    });
    return { ...filter, values };
  });
}
