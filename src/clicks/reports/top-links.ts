import type { LinkId, TenantId } from "../../base/ids.ts";
import type { LinkNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { none } from "../click.ts";
import { readCounts } from "../rollups/packed.ts";
import { grains } from "../rollups/periods.ts";
import type { Counts } from "../rollups/tally.ts";
import { linksNumbered, type NumberedLink } from "./clicked-links.ts";
import type { CutDays } from "./gather.ts";
import type { Breakdown, BreakdownValue } from "./report.ts";

/** A link in a breakdown. All null: it was deleted so long ago that its code is no longer known. */
export interface TopLink {
  readonly id: LinkId | null;
  readonly domain: string | null;
  readonly code: string | null;
  readonly title: string | null;
}

const forgotten: TopLink = { id: null, domain: null, code: null, title: null };

/** The clicks of links in a compared period, by number. */
export interface LinksBefore {
  readonly clicks: ReadonlyMap<string, number>;
  /** Whether a link that is not listed had none. If not, it may be one of those that were not kept apart. */
  readonly isComplete: boolean;
  /** What is to be added: the clicks on days that the period cuts. */
  ofCut(links: readonly LinkNumber[]): Promise<ReadonlyMap<number, number>>;
}

/** Replaces numbers by what a filter takes for the link: its ID, or the code and number of a deleted one. */
export async function namedLinks(
  sql: Sql,
  tenant: TenantId,
  breakdown: Breakdown,
  before: LinksBefore | undefined,
): Promise<Breakdown> {
  const numbers = breakdown.values.map(({ value }) => Number(value) as LinkNumber);
  const links = await linksNumbered(sql, tenant, numbers);
  const ofCut = await before?.ofCut(numbers);
  const previousOf = ({ clicks, isComplete }: LinksBefore, value: string): number | null => {
    const known = clicks.get(value) ?? (isComplete ? 0 : null);
    return known === null ? null : known + (ofCut?.get(Number(value)) ?? 0);
  };
  const all = breakdown.values.map((one): BreakdownValue => {
    const link = links.get(Number(one.value));
    return {
      ...one,
      value: link?.value ?? none,
      link: link === undefined ? forgotten : topLinkOf(link),
      ...(before && { previousClicks: previousOf(before, one.value) }),
    };
  });
  return { ...breakdown, values: together(all) };
}

/** Links whose names are gone cannot be told apart, and are one row: no two rows have the same value. */
function together(values: readonly BreakdownValue[]): readonly BreakdownValue[] {
  const gone = values.filter(({ link }) => link === forgotten);
  const [first] = gone;
  if (first === undefined || gone.length === 1) return values;
  const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);
  const before = gone.flatMap(({ previousClicks }) => previousClicks ?? []);
  const row: BreakdownValue = {
    ...first,
    clicks: sumOf(gone.map(({ clicks }) => clicks)),
    visitors: sumOf(gone.map(({ visitors }) => visitors)),
    ...(first.previousClicks !== undefined && { previousClicks: before.length < gone.length ? null : sumOf(before) }),
  };
  const named = values.filter(({ link }) => link !== forgotten);
  return [...named, row].toSorted((a, b) => b.clicks - a.clicks);
}

const topLinkOf = ({ id, domain, code, title }: NumberedLink): TopLink => ({ id, domain, code, title });

const linksAtOnce = 100;

/** The clicks of links on parts of these days, from the series of their roll-ups: every link has one for a day with clicks. */
export async function clicksOnDays(
  { db }: Pick<Sql, "db">,
  links: readonly LinkNumber[],
  { starts, parts }: CutDays,
  clicksOf: (counts: Counts) => number,
): Promise<Map<number, number>> {
  const found = new Map<number, number>();
  for (let at = 0; at < links.length && starts.length > 0; at += linksAtOnce) {
    const rows = await db
      .selectFrom("click_rollups")
      .select(["subject", "start", "reasons", "visitors", "itemised", "series"])
      .where("subject", "in", links.slice(at, at + linksAtOnce))
      .where("grain", "=", grains.day)
      .where("start", "in", starts)
      .execute();
    for (const { subject, start, ...counts } of rows) {
      for (const [quarter, ofQuarter] of readCounts(counts, start).series) {
        if (!parts.some(({ from, to }) => quarter >= from && quarter < to)) continue;
        found.set(subject, (found.get(subject) ?? 0) + clicksOf(ofQuarter));
      }
    }
  }
  return found;
}
