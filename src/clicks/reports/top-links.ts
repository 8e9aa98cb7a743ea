import type { LinkId, TenantId } from "../../base/ids.ts";
import type { LinkNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { none } from "../click.ts";
import { linksNumbered, type NumberedLink } from "./clicked-links.ts";
import type { Breakdown, BreakdownValue } from "./report.ts";

/** A link in a breakdown. All null: it was deleted so long ago that its code is no longer known. */
export interface TopLink {
  readonly id: LinkId | null;
  readonly domain: string | null;
  readonly code: string | null;
  readonly title: string | null;
}

const forgotten: TopLink = { id: null, domain: null, code: null, title: null };

/**
 * Replaces numbers by what a filter takes for the link: its ID, or the code of a deleted one. `before` has the clicks of the
 * compared period by number.
 */
export async function namedLinks(
  sql: Sql,
  tenant: TenantId,
  breakdown: Breakdown,
  before: Breakdown | undefined,
): Promise<Breakdown> {
  const numbers = breakdown.values.map(({ value }) => Number(value) as LinkNumber);
  const links = await linksNumbered(sql, tenant, numbers);
  const clicksBefore = new Map(before?.values.map(({ value, clicks }) => [value, clicks]));
  // A link that is not listed may be one of those that were not kept apart.
  const unlisted = before !== undefined && before.other + before.notItemised > 0 ? null : 0;
  const values = breakdown.values.map((one): BreakdownValue => {
    const link = links.get(Number(one.value));
    return {
      ...one,
      value: link === undefined ? none : filterValueOf(link),
      link: link ?? forgotten,
      ...(before && { previousClicks: clicksBefore.get(one.value) ?? unlisted }),
    };
  });
  return { ...breakdown, values };
}

const filterValueOf = ({ id, domain, code }: NumberedLink): string =>
  id ?? (domain === "" ? code : `${domain}/${code}`);
