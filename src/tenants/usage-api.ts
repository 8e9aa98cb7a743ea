import { toIso } from "../base/clock.ts";
import { type Api, json, route, z } from "../http/route.ts";
import { shortUrl, shownHost } from "../links/link.ts";
import { contentLinksMost } from "./contents.ts";
import type { LimitUse, Usage, UsageReport } from "./usage.ts";

const useSchema = z
  .object({
    name: z.string(),
    state: z.enum(["known", "not_counted", "unavailable", "in_server"]).openapi({
      description:
        "`known`: the figures are current. `not_counted`: not counted because there is no limit. `unavailable`: the counters are unavailable.",
    }),
    used: z.int().nullable(),
    held: z.int().nullable().openapi({ description: "Reserved, and may still be released." }),
    limit: z.int().nullable().openapi({ description: "Null: no limit." }),
    resetsAt: z
      .string()
      .nullable()
      .openapi({ description: "When the full limit is available again. Null: nothing is used." }),
    spentAt: z.string().nullable().openapi({
      description:
        "When it will be used up at this month's rate, if that is before `resetsAt`; now if it is used up already.",
    }),
  })
  .openapi("LimitUse");

export const usageSchema = z
  .object({
    limits: z.array(useSchema),
    hitsPerLinkPerMonth: z
      .array(useSchema.extend({ link: z.string(), domain: z.string(), code: z.string(), shortUrl: z.string() }))
      .openapi({ description: "The links closest to their limit, at most 10." }),
    contents: z
      .object({
        links: z.int().openapi({ description: "Without those in the trash." }),
        files: z.int(),
        domains: z.int(),
        isPartial: z.boolean().openapi({
          description: `There are at least ${contentLinksMost.toLocaleString("en")} links; the others are not counted.`,
        }),
      })
      .openapi({ description: "How much the workspace has." }),
  })
  .openapi("Usage");

const usageRoute = route(
  "usage:read",
  {
    method: "get",
    path: "/api/usage",
    tags: ["Tenant"],
    operationId: "getUsage",
    summary: "Get all limits and their usage",
  },
  { 200: json(usageSchema, "The limits; includes the key's limit if it has one") },
);

export function usageRoutes(api: Api, usage: UsageReport, baseUrl: string): void {
  api.openapi(usageRoute, async (c) => {
    const { tenant, by } = c.get("caller");
    return c.json(showUsage(await usage.of(tenant, by.kind === "key" ? by.key : undefined), baseUrl), 200);
  });
}

/** As the API and the command line show it. */
export function showUsage({ limits, links, contents }: Usage, baseUrl: string) {
  return {
    contents: { ...contents },
    limits: limits.map(showUse),
    hitsPerLinkPerMonth: links.map(({ link, domain, code, ...use }) => ({
      ...showUse(use),
      ...{ link, domain: shownHost(baseUrl, domain), code, shortUrl: shortUrl(baseUrl, { domain, code }) },
    })),
  };
}

function showUse({ name, state, used, held, limit, resetsAt, spentAt }: LimitUse) {
  const time = (at: number | null) => (at === null ? null : toIso(at));
  return { name, state, used, held, limit, resetsAt: time(resetsAt), spentAt: time(spentAt) };
}
