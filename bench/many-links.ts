/** Millions of links, written by the database itself: the benchmark measures looking them up, not creating them. */
import { sql as raw } from "kysely";
import type { TenantId } from "../src/base/ids.ts";
import type { Sql } from "../src/sql/sql.ts";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const places = [0, 1, 2, 3, 4, 5, 6];
const base = alphabet.length;
const codes = base ** places.length;
/** A prime, so that consecutive numbers are far apart in the index, as generated codes are. */
const step = 2_654_435_761;

const urlHead = "https://example.com/";
const urlTail = `/${"a-landing-page-".repeat(5)}`;
const urlLength = 100;

/** Seven characters; below three million, the product is exact. */
export function codeOf(n: number): string {
  const spread = (n * step) % codes;
  return places.map((place) => alphabet.charAt(Math.floor(spread / base ** place) % base)).join("");
}

/** A hundred characters. */
export const urlOf = (code: string): string => (urlHead + code + urlTail).slice(0, urlLength);

const codeInSql = places
  .map((place) => `substr('${alphabet}', cast(n * ${step} % ${codes} / ${base ** place} % ${base} + 1 as integer), 1)`)
  .join(" || ");

/** Writes the links from `from` up to, but not including, `to`, each with its version row. */
export async function writeLinks(sql: Sql, tenant: TenantId, from: number, to: number): Promise<void> {
  const numbered = raw`with recursive numbers (n) as (
      select cast(${raw.lit(from)} as bigint) union all select n + 1 from numbers where n + 1 < ${raw.lit(to)}
    ), coded as (select n, ${raw.raw(codeInSql)} as code from numbers)`;
  await sql.transaction(async (trx) => {
    await raw`${numbered} insert into link_versions (domain, code, version, state, tenant_id)
      select '', code, 1, 'live', ${raw.lit(tenant)} from coded`.execute(trx);
    await raw`${numbered} insert into links
      (id, tenant_id, domain, code, url, permanent, status, tags, created_at, updated_at)
      select 'lnk_' || n, ${raw.lit(tenant)}, '', code,
        substr(${raw.lit(urlHead)} || code || ${raw.lit(urlTail)}, 1, ${raw.lit(urlLength)}),
        0, 'active', '[]', 0, 0 from coded`.execute(trx);
  });
}
