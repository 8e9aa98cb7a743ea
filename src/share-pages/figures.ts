import { LRUCache } from "lru-cache";
import { type Clock, dayMs } from "../base/clock.ts";
import type { TenantId } from "../base/ids.ts";
import type { BreakdownName } from "../clicks/click.ts";
import type { ClickFilter } from "../clicks/reports/filters.ts";
import { parseReport, type ReportQuery } from "../clicks/reports/query.ts";
import type { ClickReport } from "../clicks/reports/report.ts";
import type { ReportSubject } from "../clicks/reports/scope.ts";
import type { TopLink } from "../clicks/reports/top-links.ts";
import { localDay, toLocalIso } from "../clicks/reports/zones.ts";
import { shortUrl } from "../links/link.ts";
import type { StatsShare } from "./shares.ts";

/**
 * What a share shows: the report that its owner fixed, and nothing that was not chosen. Strangers may reload the page as
 * often as they like, so figures are kept for half a minute, and the reports take turns with others of the same tenant.
 */
export interface SharedFigures {
  readonly title: string;
  /** Of a link. */
  readonly shortUrl: string | null;
  readonly tag: string | null;
  readonly filters: readonly string[];
  readonly from: string;
  readonly to: string;
  readonly zone: string;
  readonly interval: ReportQuery["interval"];
  readonly totals: { readonly clicks: number; readonly visitors: number };
  readonly series: readonly { readonly start: string; readonly clicks: number; readonly visitors: number }[];
  readonly breakdowns: readonly SharedBreakdown[];
  /** Null: the figures are exact. */
  readonly sampledError: number | null;
  /** Clicks of which it is not known whether they match the filters. */
  readonly notItemised: number;
  readonly asOf: string;
}

export interface SharedBreakdown {
  readonly name: BreakdownName;
  readonly values: readonly { readonly value: string; readonly clicks: number }[];
  readonly none: number;
  /** Of values that are not listed, or not known. */
  readonly other: number;
}

export interface FigureSettings {
  readonly report: (tenant: TenantId, subject: ReportSubject, query: ReportQuery) => Promise<ClickReport>;
  readonly zoneOf: (tenant: TenantId) => Promise<string>;
  readonly storedFilters: (filters: readonly ClickFilter[]) => readonly ClickFilter[];
  readonly titleOf: (share: StatsShare) => Promise<string | null>;
  readonly clock: Pick<Clock, "now">;
  readonly baseUrl: string;
}

export type FiguresOf = (share: StatsShare) => Promise<SharedFigures>;

const keptMs = 30_000;
const keptMost = 500;
const valuesMost = 10;

export function createFigures(settings: FigureSettings): FiguresOf {
  const { report, zoneOf, storedFilters, titleOf, clock, baseUrl } = settings;
  const kept = new LRUCache<string, Promise<SharedFigures>>({ max: keptMost, ttl: keptMs });

  async function read(share: StatsShare): Promise<SharedFigures> {
    const zone = await zoneOf(share.tenantId);
    const now = clock.now();
    const first = (localDay(zone, now) - share.days + 1) * dayMs;
    // A share of people has no bots to break down. Old ones may still ask for it.
    const breakdowns = share.breakdowns.filter((name) => name !== "bot");
    const params = {
      ...{ from: new Date(first).toISOString().slice(0, 10), traffic: "people" as const, limit: valuesMost },
      ...{ filter: share.filters, breakdown: breakdowns.join(",") },
    };
    const parsed = parseReport(params, zone, now);
    const query = { ...parsed, filters: storedFilters(parsed.filters) };
    const found = await report(share.tenantId, share.subject, query);
    const { subject, totals, itemised, sampled } = found;
    const place = subject.kind === "link" ? subject : undefined;
    return {
      title:
        share.title ??
        (await titleOf(share)) ??
        (share.subject.kind === "tag" ? share.subject.name : (place?.code ?? "")),
      shortUrl: place === undefined ? null : shortUrl(baseUrl, place),
      tag: share.subject.kind === "tag" ? share.subject.name : null,
      filters: share.filters,
      ...{ from: toLocalIso(zone, found.from), to: toLocalIso(zone, found.to), zone, interval: query.interval },
      totals: { clicks: totals.clicks, visitors: totals.visitors },
      series: found.series.map(({ start, clicks, visitors }) => ({ start: toLocalIso(zone, start), clicks, visitors })),
      breakdowns: breakdowns.flatMap((name) => {
        const one = found.breakdowns[name];
        if (one === undefined) return [];
        const values = one.values.map(({ value, clicks, link }) => ({
          ...{ value: link ? nameOf(link) : value, clicks },
        }));
        return [{ name, values, none: one.none, other: one.other + one.notItemised }];
      }),
      sampledError: sampled?.error ?? null,
      notItemised: itemised === null ? 0 : itemised.of - itemised.clicks,
      asOf: toLocalIso(zone, now),
    };
  }

  return (share) => {
    const before = kept.get(share.id);
    if (before !== undefined) return before;
    const reading = read(share);
    kept.set(share.id, reading);
    // A busy moment must not last for the next visitor.
    reading.catch(() => kept.delete(share.id));
    return reading;
  };
}

const nameOf = ({ id, title, domain, code }: TopLink): string => {
  if (code === null) return "Deleted link";
  return title ?? `${domain ?? ""}/${code}${id === null ? " (deleted)" : ""}`;
};
