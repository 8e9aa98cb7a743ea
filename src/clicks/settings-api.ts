import { type Api, actorOf, json, jsonBody, route, singleLine, z } from "../http/route.ts";
import { eventsLeastDays } from "./rollups/kept-days.ts";
import { type ClickSettings, type ClickSettingsStore, tagsMost } from "./settings.ts";

const settingsSchema = z
  .object({
    timeZone: z.string().openapi({ description: "IANA time zone of the workspace's days." }),
    facts: z.boolean().openapi({
      description: "Whether facts about visitors, such as country and browser, are recorded with clicks.",
    }),
    eventDays: z.int().nullable().openapi({ description: "Null: as long as the plan allows." }),
    eventsKeptDays: z
      .int()
      .nullable()
      .openapi({
        description: `For how many days single clicks are kept, by the plan and \`eventDays\`: at least ${eventsLeastDays}. Null: for good.`,
      }),
    tags: z.array(z.string()).openapi({ description: "Tags whose totals are kept as long as those of links." }),
  })
  .openapi("ClickSettings");

const tagMost = 50;
const daysMost = 36_500;

const changeSchema = z
  .strictObject({
    timeZone: z.string().max(64).optional().openapi({ description: "A change begins with the next day." }),
    facts: z.boolean().optional(),
    eventDays: z
      .int()
      .min(1)
      .max(daysMost)
      .nullable()
      .optional()
      .openapi({
        description: `At most what the plan allows. Clicks of the last ${eventsLeastDays} days are always kept. Null: as the plan.`,
      }),
    tags: z
      .array(singleLine(tagMost))
      .max(tagsMost)
      .optional()
      .openapi({
        description: `At most ${tagsMost}. Free places are taken by other tags when their links are clicked.`,
      }),
  })
  .openapi("ClickSettingsChange", { example: { timeZone: "Europe/Berlin" } });

const routes = {
  get: route(
    "stats:read",
    {
      method: "get",
      path: "/api/stats/settings",
      tags: ["Clicks"],
      operationId: "getClickSettings",
      summary: "Get click settings",
    },
    { 200: json(settingsSchema, "The settings") },
  ),
  change: route(
    "admin",
    {
      method: "patch",
      path: "/api/stats/settings",
      tags: ["Clicks"],
      operationId: "updateClickSettings",
      summary: "Update click settings",
      description: "Omitted fields keep their value.",
      request: { body: jsonBody(changeSchema) },
    },
    { 200: json(settingsSchema, "The updated settings") },
    "invalid_input",
  ),
};

export function clickSettingsRoutes(api: Api, settings: ClickSettingsStore): void {
  const show = ({ tags, ...others }: ClickSettings) => ({ ...others, tags: [...tags] });
  api.openapi(routes.get, async (c) => c.json(show(await settings.of(c.get("caller").tenant)), 200));
  api.openapi(routes.change, async (c) => {
    const caller = c.get("caller");
    const settled = await settings.change(caller.tenant, c.req.valid("json"), actorOf(caller));
    return c.json(show(settled), 200);
  });
}
