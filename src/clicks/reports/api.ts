import type { Clock } from "../../base/clock.ts";
import { invalid } from "../../base/errors.ts";
import type { TenantId } from "../../base/ids.ts";
import type { Pages } from "../../http/pagination.ts";
import { type Api, json, route, z } from "../../http/route.ts";
import { linkId } from "../../links/api.ts";
import { shownHost } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { clickCsv, clicksCsvTitle, reportCsv, streamPages } from "./export.ts";
import { type ClickFilter, parseFilters } from "./filters.ts";
import { storedFilters } from "./link-filter.ts";
import type { ClickListQuery, ClickPage, ClickPlace } from "./list.ts";
import { parseReport, parseSpan, parseZone, type ReportQuery } from "./query.ts";
import type { ClickReport } from "./report.ts";
import {
  clickPageSchema,
  linkClicksParams,
  linkReportParams,
  reportSchema,
  showClick,
  showReport,
  tenantClicksParams,
  tenantReportParams,
} from "./schemas.ts";
import type { ReportSubject } from "./scope.ts";

/** Routes of clicks: reports and single clicks, of a link and of the tenant. */
const text = z.string();
const csv = { "text/csv": { schema: text } };
const idParam = z.object({ id: z.string() });
const report = {
  200: { description: "The report", content: { "application/json": { schema: reportSchema }, ...csv } },
};
const clicks = {
  200: {
    description: "A page; it may have fewer clicks than `limit`. `nextCursor` is null on the last page",
    content: { ...json(clickPageSchema, "").content, ...csv, "application/jsonl": { schema: text } },
  },
};

const routes = {
  linkStats: route(
    "stats:read",
    {
      ...{ method: "get", path: "/api/links/{id}/stats", tags: ["Clicks"], operationId: "getLinkStats" },
      summary: "Get a report on a link's clicks",
      request: { params: idParam, query: linkReportParams },
    },
    report,
    ...(["not_found", "invalid_input", "busy"] as const),
  ),
  stats: route(
    "stats:read",
    {
      ...{ method: "get", path: "/api/stats", tags: ["Clicks"], operationId: "getStats" },
      summary: "Get a report on all clicks, or those of a domain or tag",
      request: { query: tenantReportParams },
    },
    report,
    ...(["invalid_input", "busy"] as const),
  ),
  linkClicks: route(
    "stats:read",
    {
      ...{ method: "get", path: "/api/links/{id}/clicks", tags: ["Clicks"], operationId: "listLinkClicks" },
      summary: "List a link's clicks, newest first",
      request: { params: idParam, query: linkClicksParams },
    },
    clicks,
    ...(["not_found", "invalid_input", "busy"] as const),
  ),
  clicks: route(
    "stats:read",
    {
      ...{ method: "get", path: "/api/clicks", tags: ["Clicks"], operationId: "listClicks" },
      summary: "List all clicks, newest first",
      request: { query: tenantClicksParams },
    },
    clicks,
    ...(["invalid_input", "busy"] as const),
  ),
};

export interface ClickApiSettings {
  readonly report: (tenant: TenantId, subject: ReportSubject, query: ReportQuery) => Promise<ClickReport>;
  readonly clicks: (tenant: TenantId, subject: ReportSubject, query: ClickListQuery) => Promise<ClickPage>;
  /** The time zone of a tenant. */
  readonly zoneOf: (tenant: TenantId) => Promise<string>;
  readonly links: Pick<Links, "domainOf" | "get">;
  readonly pages: Pages;
  readonly baseUrl: string;
  readonly clock: Clock;
}

const exportPage = 5_000;

export function clickRoutes(api: Api, settings: ClickApiSettings): void {
  const { links, pages, baseUrl, clock, zoneOf } = settings;
  const host = (domain: string) => shownHost(baseUrl, domain);

  const stored = (filters: readonly ClickFilter[]) => storedFilters(filters, links.domainOf);

  function groupOf({ domain, tag }: { domain?: string | undefined; tag?: string | undefined }): ReportSubject {
    if (domain !== undefined && tag !== undefined) {
      throw invalid("tag", "contradiction", "Give either domain or tag; use a filter for the other.");
    }
    if (tag !== undefined) return { kind: "tag", name: tag };
    return domain === undefined ? { kind: "tenant" } : { kind: "domain", name: links.domainOf(domain) };
  }

  async function answerReport(
    tenant: TenantId,
    subject: ReportSubject,
    params: z.infer<typeof linkReportParams>,
    accept: string | undefined,
  ): Promise<Response> {
    const parsed = parseReport(params, await zoneOf(tenant), clock.now());
    const query = { ...parsed, filters: stored(parsed.filters) };
    const found = await settings.report(tenant, subject, query);
    const isCsv = params.format === undefined ? /^text\/csv\b/.test(accept ?? "") : params.format === "csv";
    return isCsv ? textResponse(reportCsv(found, query, host), "csv") : Response.json(showReport(found, query, host));
  }

  async function answerClicks(
    tenant: TenantId,
    subject: ReportSubject,
    params: z.infer<typeof linkClicksParams>,
    { accept, still }: { readonly accept: string | undefined; readonly still: () => Promise<void> },
  ): Promise<Response> {
    const zone = parseZone(params.zone ?? (await zoneOf(tenant)));
    const query = { ...parseSpan(params, zone, clock.now()), filters: stored(parseFilters(params.filter ?? [])) };
    const format = params.format ?? (/^text\/csv\b/.test(accept ?? "") ? "csv" : "json");
    const read = (limit: number, after: ClickPlace | undefined) =>
      settings.clicks(tenant, subject, { ...query, limit, after, isExport: format !== "json" });
    if (format === "json") {
      const name = `clicks of ${JSON.stringify(subject)}`;
      const page = await pages.pageWithPlace({ tenant, name }, params.cursor, (after: ClickPlace | undefined) =>
        read(params.limit, after),
      );
      return Response.json({ ...page, items: page.items.map((item) => showClick(item, zone, host)) });
    }
    // The first page decides the status: a bad filter is a problem and not a broken file.
    const first = await read(exportPage, undefined);
    const readNext = (after: ClickPlace | undefined) =>
      after === undefined ? Promise.resolve(first) : read(exportPage, after);
    const write = ({ items }: ClickPage) =>
      items
        .map((item) => showClick(item, zone, host))
        .map((click) => (format === "csv" ? clickCsv(click) : `${JSON.stringify(click)}\n`))
        .join("");
    return textResponse(
      streamPages(readNext, write, format === "csv" ? clicksCsvTitle() : "", { clock, still }),
      format,
    );
  }

  const linkSubject = async (tenant: TenantId, text: string): Promise<ReportSubject> => {
    const { id } = await links.get(tenant, linkId(text));
    return { kind: "link", id };
  };

  api.openapi(routes.linkStats, async (c) => {
    const tenant = c.get("caller").tenant.id;
    const subject = await linkSubject(tenant, c.req.valid("param").id);
    return answerReport(tenant, subject, c.req.valid("query"), c.req.header("accept"));
  });
  api.openapi(routes.stats, async (c) => {
    const { domain, tag, ...params } = c.req.valid("query");
    return answerReport(c.get("caller").tenant.id, groupOf({ domain, tag }), params, c.req.header("accept"));
  });
  api.openapi(routes.linkClicks, async (c) => {
    const tenant = c.get("caller").tenant.id;
    const subject = await linkSubject(tenant, c.req.valid("param").id);
    return answerClicks(tenant, subject, c.req.valid("query"), {
      accept: c.req.header("accept"),
      still: c.get("still"),
    });
  });
  api.openapi(routes.clicks, async (c) => {
    const { domain, tag, ...params } = c.req.valid("query");
    const asked = { accept: c.req.header("accept"), still: c.get("still") };
    return answerClicks(c.get("caller").tenant.id, groupOf({ domain, tag }), params, asked);
  });
}

const types = { csv: "text/csv;charset=utf-8", jsonl: "application/jsonl" } as const;

const textResponse = (body: string | ReadableStream<Uint8Array>, format: keyof typeof types): Response =>
  new Response(body, {
    headers: { "content-type": types[format], "content-disposition": `attachment; filename="clicks.${format}"` },
  });
