import { toIso } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import { type Pages, pageParams, pageSchema } from "../http/pagination.ts";
import { type Api, actorOf, json, route, z } from "../http/route.ts";
import { parseAddress } from "./address.ts";
import type { Suppressions } from "./delivery/suppressions.ts";
import type { EmailStats, ProviderStats } from "./stats.ts";

/** Routes for email usage, limits and the suppression list. */
const providerSchema = z
  .object({
    provider: z.enum(["smtp", "sendgrid"]),
    tier: z.int().openapi({ description: "1: the platform's mail server. 2: your SendGrid key." }),
    used: z
      .int()
      .nullable()
      .openapi({ description: "In the last hour. Null: unknown, because the counters are unavailable." }),
    limit: z.int().nullable().openapi({ description: "Per hour. Null: no limit." }),
    remaining: z.int().nullable(),
    resetsAt: z
      .string()
      .nullable()
      .openapi({ description: "When the full limit is available again. Null: nothing is used." }),
    sent: z.int(),
    failed: z.int(),
    waiting: z.int(),
    bounced: z.int(),
    complaints: z.int(),
    unsure: z.int().openapi({ description: "Emails for which it is unknown whether the provider accepted them." }),
  })
  .openapi("EmailProviderStats");

const statsSchema = z
  .object({
    current: z.enum(["smtp", "sendgrid"]).openapi({ description: "The provider of your next email." }),
    periodDays: z.int().openapi({ description: "Period in days that `sent` and the following figures cover." }),
    providers: z.array(providerSchema),
  })
  .openapi("EmailStats");

const suppressionSchema = z
  .object({
    address: z.string(),
    reason: z.enum(["bounced", "complaint", "unsubscribed", "manual"]),
    createdAt: z.string(),
  })
  .openapi("Suppression");

const addressMaxChars = 320;

const routes = {
  stats: route(
    "email:read",
    {
      method: "get",
      path: "/api/email/stats",
      tags: ["Email"],
      operationId: "getEmailStats",
      summary: "Get email usage and limits",
    },
    { 200: json(statsSchema, "Usage by provider") },
    "unavailable",
  ),
  suppressions: route(
    "email:read",
    {
      method: "get",
      path: "/api/email/suppressions",
      tags: ["Email"],
      operationId: "listSuppressions",
      summary: "List suppressed addresses",
      request: {
        query: z.strictObject(pageParams),
      },
    },
    {
      200: json(
        pageSchema(suppressionSchema, "SuppressionPage"),
        "A page, sorted by address; `nextCursor` is null on the last page",
      ),
    },
    "invalid_input",
  ),
  remove: route(
    "admin",
    {
      method: "delete",
      path: "/api/email/suppressions/{address}",
      tags: ["Email"],
      operationId: "removeSuppression",
      summary: "Remove an address from the suppression list",
      description: "Only at the recipient's request: unwanted email harms the delivery of all your emails.",
      request: { params: z.object({ address: z.string().max(addressMaxChars) }) },
    },
    { 204: { description: "Removed" } },
    "not_found",
  ),
};

export function emailRoutes(api: Api, stats: EmailStats, suppressions: Suppressions, pages: Pages): void {
  api.openapi(routes.stats, async (c) => {
    const { current, periodDays, providers } = await stats.of(c.get("caller").tenant.id);
    return c.json({ current, periodDays, providers: providers.map(showProvider) }, 200);
  });

  api.openapi(routes.suppressions, async (c) => {
    const tenant = c.get("caller").tenant.id;
    const { items, nextCursor } = await pages.page(
      { tenant, name: "suppressions" },
      c.req.valid("query"),
      (limit, after: readonly [string] | undefined) => suppressions.list(tenant, limit, after?.[0]),
      ({ address }) => [address] as const,
    );
    return c.json({ items: items.map((one) => ({ ...one, createdAt: toIso(one.createdAt) })), nextCursor }, 200);
  });

  api.openapi(routes.remove, async (c) => {
    // Anything that is not an address is not on the list.
    const address = parseAddress(c.req.valid("param").address);
    const caller = c.get("caller");
    if (address === undefined || !(await suppressions.remove(caller.tenant.id, address, actorOf(caller)))) {
      throw new Problem("not_found", "This address is not on your suppression list.");
    }
    return c.body(null, 204);
  });
}

const showProvider = ({ resetsAt, ...rest }: ProviderStats) => ({
  ...rest,
  resetsAt: resetsAt === null ? null : toIso(resetsAt),
});
