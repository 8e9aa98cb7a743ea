import { toIso } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import { type Pages, pageParams, pageSchema } from "../http/pages.ts";
import { type Api, json, route, z } from "../http/route.ts";
import { parseAddress } from "./address.ts";
import type { Suppressions } from "./delivery/suppressions.ts";
import type { EmailStats, ProviderStats } from "./stats.ts";

/** What a tenant sent and may send, and who gets no more of it. */
const providerSchema = z
  .object({
    provider: z.enum(["smtp", "sendgrid"]),
    tier: z.int().openapi({ description: "1: the platform's mail server. 2: your own SendGrid key." }),
    used: z.int().nullable().openapi({ description: "In the last hour. Null: the counters do not answer right now." }),
    limit: z.int().nullable().openapi({ description: "In any hour. Null: none." }),
    remaining: z.int().nullable(),
    resetsAt: z.string().nullable().openapi({ description: "When all of it is there again. Null: nothing is used." }),
    sent: z.int(),
    failed: z.int(),
    waiting: z.int(),
    bounced: z.int(),
    complaints: z.int(),
    unsure: z.int().openapi({ description: "It is, or was, unknown whether the provider took them." }),
  })
  .openapi("EmailProviderStats");

const statsSchema = z
  .object({
    current: z.enum(["smtp", "sendgrid"]).openapi({ description: "Who carries your next email." }),
    periodDays: z.int().openapi({ description: "`sent` and all after it look back so far." }),
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
      summary: "What you sent, and may send",
    },
    { 200: json(statsSchema, "By provider") },
    "unavailable",
  ),
  suppressions: route(
    "email:read",
    {
      method: "get",
      path: "/api/email/suppressions",
      tags: ["Email"],
      operationId: "listSuppressions",
      summary: "Who gets no more email from you, and why",
      request: {
        query: z.strictObject(pageParams),
      },
    },
    {
      200: json(
        pageSchema(suppressionSchema, "SuppressionPage"),
        "A page, by address; `nextCursor` is null on the last one",
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
      summary: "Let an address get email again",
      description: "Only when its owner asks you to: mail that is not wanted hurts all you send.",
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
    // What is no address is in no list.
    const address = parseAddress(c.req.valid("param").address);
    if (address === undefined || !(await suppressions.remove(c.get("caller").tenant.id, address))) {
      throw new Problem("not_found", "This address is not in your list.");
    }
    return c.body(null, 204);
  });
}

const showProvider = ({ resetsAt, ...rest }: ProviderStats) => ({
  ...rest,
  resetsAt: resetsAt === null ? null : toIso(resetsAt),
});
