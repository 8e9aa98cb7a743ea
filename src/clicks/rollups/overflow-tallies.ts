import type { ClickOverflowTable, GroupNumber, LinkNumber, TenantNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import type { FirstOf } from "./id-counts.ts";
import { readTallyText } from "./packed.ts";
import type { Tally } from "./tally.ts";

/** Clicks without events, as the writers counted them. */
export interface OverflowRow {
  readonly link: LinkNumber;
  readonly domain: GroupNumber;
  readonly tags: number;
  /** A new one each time: it may be added to. */
  tallyOf(whose: FirstOf): Tally;
}

export interface OverflowRange {
  readonly tenant: TenantNumber;
  /** UTC days. */
  readonly days: readonly number[];
  readonly from: number;
  readonly until: number;
  readonly first: LinkNumber;
  readonly last: LinkNumber;
}

/** Periods begin and end with a quarter of an hour, so a row is in one of them. */
export async function readOverflow(
  { db }: Sql,
  { tenant, days, from, until, first, last }: OverflowRange,
): Promise<OverflowRow[]> {
  const rows = await db
    .selectFrom("click_overflow")
    .select(["link", "domain", "tags", "quarter", "tally", "tenant_tally"])
    .where("day", "in", days)
    .where("tenant", "=", tenant)
    .where("link", ">=", first)
    .where("link", "<=", last)
    .where("quarter", ">=", from)
    .where("quarter", "<", until)
    .execute();
  return rows.map(({ link, domain, tags, quarter, tally, tenant_tally }) => ({
    link,
    domain,
    tags,
    tallyOf: (whose) => readTallyText(overflowTally(whose, { tally, tenant_tally }), quarter, whose),
  }));
}

/** The text with the visitors of either: of a row that was written since there is `StoredOverflow`, one text has both. */
export const overflowTally = (
  whose: FirstOf,
  { tally, tenant_tally }: Pick<ClickOverflowTable, "tally" | "tenant_tally">,
): string => (whose === "link" || tenant_tally === "" ? tally : tenant_tally);
