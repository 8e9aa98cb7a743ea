import { toIso } from "../../base/clock.ts";
import { parseId, type UtmTemplateId } from "../../base/ids.ts";
import { type Pages, pageParams, pageSchema } from "../../http/pagination.ts";
import { type Api, actorOf, json, jsonBody, route, singleLine, z } from "../../http/route.ts";
import { utmSchema } from "../routing/choice-schema.ts";
import type { Utm } from "../routing/utm.ts";
import { noTemplate, type UtmTemplate, type UtmTemplates } from "./utm-templates.ts";

/** UTM templates of a workspace. */
const name = singleLine(100).openapi({ example: "Newsletter" });
const utm = utmSchema.refine((fields) => Object.keys(fields).length > 0, {
  message: "Needs at least one parameter.",
  params: { code: "empty" },
});

const templateSchema = z
  .object({ id: z.string(), name: z.string(), utm: utmSchema, createdAt: z.string(), updatedAt: z.string() })
  .openapi("UtmTemplate");

const idParam = z.object({ id: z.string().openapi({ example: "utm_01k9a0b1c2d3e4f5g6h7j8k9m0" }) });
const example = { name: "Newsletter", utm: { source: "newsletter", medium: "email" } };

const routes = {
  list: route(
    "links:read",
    {
      method: "get",
      path: "/api/utm-templates",
      tags: ["UTM templates"],
      operationId: "listUtmTemplates",
      summary: "List UTM templates by name",
      request: { query: z.strictObject(pageParams) },
    },
    { 200: json(pageSchema(templateSchema, "UtmTemplatePage"), "A page; `nextCursor` is null on the last page") },
    "invalid_input",
  ),
  create: route(
    "links:write",
    {
      method: "post",
      path: "/api/utm-templates",
      tags: ["UTM templates"],
      operationId: "createUtmTemplate",
      summary: "Create a UTM template",
      description: "At most 200 per workspace.",
      "x-repeatable": true,
      request: { body: jsonBody(z.strictObject({ name, utm }).openapi("NewUtmTemplate", { example })) },
    },
    { 201: json(templateSchema, "The template") },
    "invalid_input",
    "name_taken",
    "collection_full",
  ),
  change: route(
    "links:write",
    {
      method: "patch",
      path: "/api/utm-templates/{id}",
      tags: ["UTM templates"],
      operationId: "updateUtmTemplate",
      summary: "Update a UTM template",
      description: "Links keep the parameters that they have. `utm` is replaced as a whole.",
      request: {
        params: idParam,
        body: jsonBody(
          z
            .strictObject({ name: name.optional(), utm: utm.optional() })
            .openapi("UtmTemplatePatch", { example: { utm: example.utm } }),
        ),
      },
    },
    { 200: json(templateSchema, "The template") },
    "invalid_input",
    "not_found",
    "name_taken",
  ),
  remove: route(
    "links:write",
    {
      method: "delete",
      path: "/api/utm-templates/{id}",
      tags: ["UTM templates"],
      operationId: "deleteUtmTemplate",
      summary: "Delete a UTM template",
      request: { params: idParam },
    },
    { 204: { description: "Deleted" } },
    "not_found",
  ),
};

export function utmTemplateRoutes(api: Api, templates: UtmTemplates, pages: Pages): void {
  api.openapi(routes.list, async (c) => {
    const tenant = c.get("caller").tenant.id;
    const page = await pages.page(
      { tenant, name: "UTM templates" },
      c.req.valid("query"),
      (limit, after: readonly [string] | undefined) => templates.list(tenant, limit, after?.[0]),
      (template) => [template.name] as const,
    );
    return c.json({ ...page, items: page.items.map(show) }, 200);
  });

  api.openapi(routes.create, async (c) => {
    const caller = c.get("caller");
    const given = c.req.valid("json");
    const id = c.get("once")?.id("utmTemplate");
    const template = await templates.create(
      caller.tenant.id,
      { id, name: given.name, utm: given.utm as Utm },
      actorOf(caller),
    );
    c.header("location", `/api/utm-templates/${template.id}`);
    return c.json(show(template), 201);
  });

  api.openapi(routes.change, async (c) => {
    const caller = c.get("caller");
    const given = c.req.valid("json");
    const fields = { name: given.name, utm: given.utm as Utm | undefined };
    const id = templateId(c.req.valid("param").id);
    return c.json(show(await templates.change(caller.tenant.id, id, fields, actorOf(caller))), 200);
  });

  api.openapi(routes.remove, async (c) => {
    const caller = c.get("caller");
    await templates.remove(caller.tenant.id, templateId(c.req.valid("param").id), actorOf(caller));
    return c.body(null, 204);
  });
}

const show = ({ id, name, utm, createdAt, updatedAt }: UtmTemplate) => ({
  ...{ id, name, utm: { ...utm }, createdAt: toIso(createdAt), updatedAt: toIso(updatedAt) },
});

function templateId(text: string): UtmTemplateId {
  const id = parseId("utmTemplate", text);
  if (id === undefined) throw noTemplate();
  return id;
}
