import type { TenantId } from "../../base/ids.ts";
import { type Api, json, route, z } from "../../http/route.ts";
import type { Links } from "../links.ts";
import { countSchema, toLinkFilter } from "../schemas.ts";
import { type CountedFilter, countedMost, type ListCounts } from "./link-counts.ts";
import type { StateFacts } from "./listed-state.ts";

/** How many links there are, for the tabs of a list. */
const countsSchema = z
  .object({
    all: z.int(),
    active: z.int(),
    expired: z.int(),
    disabled: z.int(),
    suspended: z.int(),
    attention: z.int().openapi({ description: "See `state` of `GET /api/links`." }),
    isPartial: z.boolean().openapi({
      description: `At least ${countedMost.toLocaleString("en")} links match; the others are not counted.`,
    }),
  })
  .openapi("LinkCounts");

const routes = {
  counts: route(
    "links:read",
    {
      method: "get",
      path: "/api/links/counts",
      tags: ["Links"],
      operationId: "countLinks",
      summary: "Count links by state",
      description:
        "With the filters of `GET /api/links`. Each link is active, expired or disabled; links that need attention are also active.",
      request: { query: countSchema },
    },
    { 200: json(countsSchema, "The numbers of links") },
    "invalid_input",
    "busy",
  ),
};

export interface LinkCountApi {
  readonly links: Pick<Links, "domainOf">;
  readonly count: (tenant: TenantId, filter: CountedFilter, facts: StateFacts) => Promise<ListCounts>;
  readonly now: () => number;
}

export function linkCountRoutes(api: Api, { links, count, now }: LinkCountApi): void {
  api.openapi(routes.counts, async (c) => {
    const { id, limits } = c.get("caller").tenant;
    const facts = { now: now(), hitsAllowed: limits.hitsPerLinkPerMonth };
    return c.json({ ...(await count(id, toLinkFilter(c.req.valid("query"), links.domainOf), facts)) }, 200);
  });
}
