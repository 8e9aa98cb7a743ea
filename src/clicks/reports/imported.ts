import { sql as raw } from "kysely";
import type { LinkId, TenantId } from "../../base/ids.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { quarterMs } from "../click.ts";
import type { Span } from "./query.ts";
import type { SeriesPoint } from "./report.ts";
import type { SubjectScope } from "./scope.ts";

/**
 * Clicks from another shortener. They are never part of the totals: they were counted by other rules. A row says whether it is a day,
 * or a total since the link was created. It counts where it begins, and only days are part of the series.
 */
export interface ImportedClicks {
  readonly clicks: number;
  readonly visitors: number;
  /** Clicks whose day is not known. They are not part of the series. */
  readonly undated: number;
  readonly series: readonly SeriesPoint[];
}

export async function importedOf(
  { db }: Sql,
  tenant: TenantId,
  { link, subject }: SubjectScope,
  { from, to }: Span,
  toSeries: (points: readonly SeriesPoint[]) => SeriesPoint[],
): Promise<ImportedClicks | null> {
  // Imported clicks have no tags, and are rarely asked for by domain.
  if (subject.kind === "domain" || subject.kind === "tag") return null;
  const start = raw<number>`start - start % ${raw.lit(quarterMs)}`;
  let query = ofTenant(db, tenant)
    .selectFrom("click_history")
    .select((row) => [
      start.as("quarter"),
      "is_total",
      row.fn.sum<number | string>("clicks").as("clicks"),
      row.fn.sum<number | string | null>("visitors").as("visitors"),
    ])
    .where("start", ">=", from)
    .where("start", "<", to)
    .groupBy([start, "is_total"]);
  if (link !== undefined) query = query.where("link", "=", link);
  const rows = (await query.execute()).map(({ quarter, is_total, clicks, visitors }) => ({
    ...{ start: Number(quarter), isDay: Number(is_total) === 0 },
    ...{ clicks: Number(clicks), visitors: Number(visitors ?? 0) },
  }));
  const sum = (some: readonly SeriesPoint[], name: "clicks" | "visitors") =>
    some.reduce((total, row) => total + row[name], 0);
  const clicks = sum(rows, "clicks");
  if (clicks === 0) return null;
  const days = rows.filter(({ isDay }) => isDay);
  return {
    ...{ clicks, visitors: sum(rows, "visitors") },
    undated: clicks - sum(days, "clicks"),
    series: toSeries(days),
  };
}

/** Of a link, or of all links, that began before this moment. Null: none. */
export async function importedBefore(
  { db }: Sql,
  tenant: TenantId,
  link: LinkId | undefined,
  before: number,
): Promise<{ clicks: number; since: number } | null> {
  const own = ofTenant(db, tenant);
  let query = own
    .selectFrom("click_history")
    .select((row) => [row.fn.sum<number | string | null>("clicks").as("clicks"), row.fn.min("start").as("since")])
    .where("start", "<", before);
  if (link !== undefined) {
    const row = await own.selectFrom("links").select("number").where("id", "=", link).executeTakeFirst();
    if (row === undefined || row.number === null) return null;
    query = query.where("link", "=", row.number);
  }
  const { clicks, since } = await query.executeTakeFirstOrThrow();
  return since === null ? null : { clicks: Number(clicks), since: Number(since) };
}
