import type { Clock } from "../../base/clock.ts";
import { invalid } from "../../base/errors.ts";
import { type LinkId, parseId, type TenantId } from "../../base/ids.ts";
import { type Api, json, route, z } from "../../http/route.ts";
import { parseSpan, parseZone } from "./query.ts";
import { type LinkTrends, type TrendQuery, trendDaysMost } from "./trends.ts";
import { startsWithin, toLocalIso } from "./zones.ts";

/** The small charts of a list of links. */
const linksMost = 100;

const trendsSchema = z
  .object({
    from: z.string(),
    to: z.string(),
    zone: z.string(),
    days: z.array(z.string()).openapi({ description: "Where each day begins." }),
    items: z.array(
      z
        .object({
          id: z.string(),
          clicks: z.int().openapi({ description: "Clicks of people in the range." }),
          series: z.array(z.int()).openapi({ description: "The same by day." }),
        })
        .openapi("LinkTrend"),
    ),
  })
  .openapi("LinkTrends");

const routes = {
  trends: route(
    "stats:read",
    {
      ...{ method: "get", path: "/api/links/trends", tags: ["Clicks"], operationId: "getLinkTrends" },
      summary: "Get the clicks by day of up to 100 links",
      description: "The default is the last 30 days. Links that do not exist are left out.",
      request: {
        query: z.strictObject({
          ids: z.string().max(4_000).openapi({
            description: "Ids of links, comma separated; at most 100.",
            example: "lnk_01k9a0b1c2d3e4f5g6h7j8k9m0",
          }),
          from: z.string().max(40).optional().openapi({ description: "As in reports; at most 100 days before `to`." }),
          to: z.string().max(40).optional(),
          zone: z.string().max(64).optional().openapi({ description: "Default: the time zone of the workspace." }),
        }),
      },
    },
    { 200: json(trendsSchema, "One entry per link, in the order of `ids`") },
    ...(["invalid_input", "busy"] as const),
  ),
};

export interface TrendApi {
  readonly trends: (tenant: TenantId, query: TrendQuery) => Promise<LinkTrends>;
  /** The time zone of a tenant. */
  readonly zoneOf: (tenant: TenantId) => Promise<string>;
  readonly clock: Clock;
}

export function trendRoutes(api: Api, { trends, zoneOf, clock }: TrendApi): void {
  api.openapi(routes.trends, async (c) => {
    const tenant = c.get("caller").tenant.id;
    const params = c.req.valid("query");
    const zone = parseZone(params.zone ?? (await zoneOf(tenant)));
    const now = clock.now();
    const span = parseSpan(params, zone, now);
    if (startsWithin(zone, "day", span.from, span.to, trendDaysMost).length > trendDaysMost) {
      throw invalid("from", "too_long", `A range covers at most ${trendDaysMost} days here.`);
    }
    const { from, to, starts, links } = await trends(tenant, { ...span, ids: parseIds(params.ids), zone, now });
    const iso = (at: number) => toLocalIso(zone, at);
    const items = links.map(({ id, clicks, series }) => ({ id, clicks, series: [...series] }));
    return c.json({ from: iso(from), to: iso(to), zone, days: starts.map(iso), items }, 200);
  });
}

function parseIds(text: string): LinkId[] {
  const given = [...new Set(text.split(",").map((one) => one.trim()))].filter((one) => one !== "");
  if (given.length === 0) throw invalid("ids", "required", "Give at least one id.");
  if (given.length > linksMost) throw invalid("ids", "too_many", `Give at most ${linksMost} ids.`);
  return given.flatMap((one) => parseId("link", one) ?? []);
}
