import type { Clock } from "../../base/clock.ts";
import type { LinkId, TenantId } from "../../base/ids.ts";
import { streamPages } from "../../clicks/reports/export.ts";
import { type Api, route, z } from "../../http/route.ts";
import type { Link, LinkState } from "../link.ts";
import type { Links } from "../links.ts";
import { exportSchema, showLink, toLinkQuery } from "../schemas.ts";
import { type LinkQuery, type ListPosition, positionOf } from "./find.ts";
import { linkCsv, linksCsvTitle } from "./links-csv.ts";

/** All links that match, in one download: however many there are, it is one call. */
const exportRoute = route(
  "links:read",
  {
    method: "get",
    path: "/api/links/export",
    tags: ["Links"],
    operationId: "exportLinks",
    summary: "Export all links that match as CSV",
    description:
      "The filters and orders of `GET /api/links`. For people and spreadsheets: it has their main fields. `GET /api/workspace/export` has all of them.",
    request: { query: exportSchema },
  },
  { 200: { description: "The table, as it is read", content: { "text/csv": { schema: z.string() } } } },
  "invalid_input",
  "busy",
);

export interface LinkExportApi {
  readonly links: Pick<Links, "domainOf">;
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly find: (tenant: TenantId, query: LinkQuery) => Promise<readonly Link[]>;
  readonly statesOf: (links: readonly Link[]) => Promise<Map<LinkId, LinkState>>;
}

const pageRows = 200;

export function linkExportRoutes(api: Api, { links, baseUrl, clock, find, statesOf }: LinkExportApi): void {
  api.openapi(exportRoute, async (c) => {
    const { tenant } = c.get("caller");
    const query = toLinkQuery(c.req.valid("query"), tenant.limits, clock.now(), links.domainOf);
    const page = async (after: ListPosition | undefined) => {
      const found = await find(tenant.id, { ...query, limit: pageRows, after });
      const states = await statesOf(found);
      const last = found.length < pageRows ? undefined : found.at(-1);
      return {
        items: found.map((link) => showLink(link, baseUrl, states.get(link.id))),
        next: last === undefined ? null : positionOf(query.sort, last, states.get(last.id)),
      };
    };
    // Before the answer begins, so that a server that is busy says so.
    let first: Awaited<ReturnType<typeof page>> | undefined = await page(undefined);
    const read = async (after: ListPosition | undefined) => {
      const taken = first ?? (await page(after));
      first = undefined;
      return taken;
    };
    const write = ({ items }: Awaited<ReturnType<typeof page>>) => items.map(linkCsv).join("");
    return new Response(streamPages(read, write, linksCsvTitle(), { clock, still: c.get("still") }), {
      headers: { "content-type": "text/csv;charset=utf-8", "content-disposition": 'attachment; filename="links.csv"' },
    });
  });
}
