import { toIso } from "../base/clock.ts";
import { type Api, json, route, z } from "../http/route.ts";
import type { LimitUse, Usage, UsageReport } from "./usage.ts";

const useSchema = z
  .object({
    name: z.string(),
    state: z.enum(["known", "not_counted", "unavailable", "in_server"]).openapi({
      description:
        "`known`: the figures are there. `not_counted`: without limit, these are not counted. `unavailable`: the counters do not answer right now.",
    }),
    used: z.int().nullable(),
    held: z.int().nullable().openapi({ description: "Reserved: it may still be given back." }),
    limit: z.int().nullable().openapi({ description: "Null: none." }),
    resetsAt: z.string().nullable().openapi({ description: "When all of it is there again. Null: nothing is used." }),
    spentAt: z.string().nullable().openapi({
      description: "When it will be used up at this month's pace, if that is before `resetsAt`; now when it is.",
    }),
  })
  .openapi("LimitUse");

const usageSchema = z
  .object({
    limits: z.array(useSchema),
    hitsPerLinkPerMonth: z.array(useSchema.extend({ link: z.string(), code: z.string() })).openapi({
      description: "The links nearest to their limit, at most 10.",
    }),
  })
  .openapi("Usage");

const usageRoute = route(
  "usage:read",
  {
    method: "get",
    path: "/api/usage",
    tags: ["Tenant"],
    operationId: "getUsage",
    summary: "Every limit of the tenant, and what is used of it",
  },
  { 200: json(usageSchema, "The limits; that of the key is there if it has one of its own") },
);

export function usageRoutes(api: Api, usage: UsageReport): void {
  api.openapi(usageRoute, async (c) => {
    const { tenant, key } = c.get("caller");
    return c.json(showUsage(await usage.of(tenant, key)), 200);
  });
}

/** As the API and the command line show it. */
export function showUsage({ limits, links }: Usage) {
  return {
    limits: limits.map(showUse),
    hitsPerLinkPerMonth: links.map((use) => ({ ...showUse(use), link: use.link, code: use.code })),
  };
}

function showUse({ name, state, used, held, limit, resetsAt, spentAt }: LimitUse) {
  const time = (at: number | null) => (at === null ? null : toIso(at));
  return { name, state, used, held, limit, resetsAt: time(resetsAt), spentAt: time(spentAt) };
}
