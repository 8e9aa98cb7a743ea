import { fromIso, toIso } from "../base/clock.ts";
import { invalid } from "../base/errors.ts";
import { type AnnotationId, type LinkId, type PersonId, parseId } from "../base/ids.ts";
import { type Pages, pageParams, pageSchema } from "../http/pagination.ts";
import { type Api, actorOf, json, jsonBody, route, singleLine, z } from "../http/route.ts";
import { type Annotation, type Annotations, noAnnotation } from "./annotations.ts";

/** Annotations of figures over time. */
const moment = z.iso.datetime({ offset: true });
const text = singleLine(200).openapi({ example: "Newsletter sent" });

const annotationSchema = z
  .object({
    id: z.string(),
    link: z.string().nullable().openapi({ description: "Null: about the whole workspace." }),
    at: z.string(),
    text: z.string(),
    createdAt: z.string(),
    createdBy: z
      .object({ id: z.string(), name: z.string() })
      .nullable()
      .openapi({ description: "Null: created with an API key, or the account is gone." }),
  })
  .openapi("Annotation");

const idParam = z.object({ id: z.string().openapi({ example: "ann_01k9a0b1c2d3e4f5g6h7j8k9m0" }) });

const routes = {
  list: route(
    "stats:read",
    {
      method: "get",
      path: "/api/annotations",
      tags: ["Annotations"],
      operationId: "listAnnotations",
      summary: "List annotations, the latest first",
      request: {
        query: z.strictObject({
          ...pageParams,
          link: z.string().max(100).optional().openapi({
            description: "Annotations of this link and of the whole workspace. Default: all.",
          }),
          from: moment.optional().openapi({ format: "date-time" }),
          to: moment.optional().openapi({ format: "date-time", description: "Exclusive." }),
        }),
      },
    },
    { 200: json(pageSchema(annotationSchema, "AnnotationPage"), "A page; `nextCursor` is null on the last page") },
    "invalid_input",
  ),
  create: route(
    "links:write",
    {
      method: "post",
      path: "/api/annotations",
      tags: ["Annotations"],
      operationId: "createAnnotation",
      summary: "Create an annotation",
      description: "At most 2,000 per workspace. Those of a link are deleted with it, for good.",
      "x-repeatable": true,
      request: {
        body: jsonBody(
          z
            .strictObject({
              text,
              at: moment.optional().openapi({ description: "Default: now." }),
              link: z.string().max(100).nullable().optional().openapi({
                description: "A link's ID. Null or omitted: about the whole workspace.",
              }),
            })
            .openapi("NewAnnotation", { example: { text: "Newsletter sent", at: "2027-01-31T09:00:00Z" } }),
        ),
      },
    },
    { 201: json(annotationSchema, "The annotation") },
    "invalid_input",
    "not_found",
    "collection_full",
  ),
  change: route(
    "links:write",
    {
      method: "patch",
      path: "/api/annotations/{id}",
      tags: ["Annotations"],
      operationId: "updateAnnotation",
      summary: "Update the text or time of an annotation",
      request: {
        params: idParam,
        body: jsonBody(
          z
            .strictObject({ text: text.optional(), at: moment.optional() })
            .openapi("AnnotationPatch", { example: { text: "Newsletter sent to everybody" } }),
        ),
      },
    },
    { 200: json(annotationSchema, "The annotation") },
    "invalid_input",
    "not_found",
  ),
  remove: route(
    "links:write",
    {
      method: "delete",
      path: "/api/annotations/{id}",
      tags: ["Annotations"],
      operationId: "deleteAnnotation",
      summary: "Delete an annotation",
      request: { params: idParam },
    },
    { 204: { description: "Deleted" } },
    "not_found",
  ),
};

export interface AnnotationApi {
  readonly annotations: Annotations;
  readonly pages: Pages;
  readonly now: () => number;
  readonly namesOf: (people: readonly PersonId[]) => Promise<ReadonlyMap<PersonId, string>>;
}

export function annotationRoutes(api: Api, { annotations, pages, now, namesOf }: AnnotationApi): void {
  async function show(items: readonly Annotation[]): Promise<z.infer<typeof annotationSchema>[]> {
    const names = await namesOf([...new Set(items.flatMap(({ createdBy }) => createdBy ?? []))]);
    return items.map(({ id, link, at, text, createdAt, createdBy }) => {
      const name = createdBy === null ? undefined : names.get(createdBy);
      return {
        ...{ id, link, at: toIso(at), text, createdAt: toIso(createdAt) },
        createdBy: createdBy === null || name === undefined ? null : { id: createdBy, name },
      };
    });
  }

  const showOne = async (annotation: Annotation) => {
    const [shown] = await show([annotation]);
    if (shown === undefined) throw new Error("nothing to show");
    return shown;
  };

  api.openapi(routes.list, async (c) => {
    const tenant = c.get("caller").tenant.id;
    const { limit, cursor, link, from, to } = c.req.valid("query");
    const range = {
      from: from === undefined ? undefined : fromIso(from),
      to: to === undefined ? undefined : fromIso(to),
    };
    const about = link === undefined ? undefined : linkOf(link);
    const page = await pages.page(
      { tenant, name: "annotations" },
      { limit, cursor },
      (most, after: readonly [number, AnnotationId] | undefined) =>
        annotations.list(tenant, {
          ...{ ...range, link: about, limit: most, after: after && { at: after[0], id: after[1] } },
        }),
      ({ at, id }) => [at, id] as const,
    );
    return c.json({ ...page, items: await show(page.items) }, 200);
  });

  api.openapi(routes.create, async (c) => {
    const caller = c.get("caller");
    const { text, at, link } = c.req.valid("json");
    const given = {
      ...{ id: c.get("once")?.id("annotation"), text, link: link == null ? null : linkOf(link) },
      at: at === undefined ? now() : fromIso(at),
    };
    const annotation = await annotations.create(caller.tenant.id, given, actorOf(caller));
    c.header("location", `/api/annotations/${annotation.id}`);
    return c.json(await showOne(annotation), 201);
  });

  api.openapi(routes.change, async (c) => {
    const caller = c.get("caller");
    const { at, text } = c.req.valid("json");
    const id = annotationId(c.req.valid("param").id);
    const fields = { text, at: at === undefined ? undefined : fromIso(at) };
    return c.json(await showOne(await annotations.change(caller.tenant.id, id, fields, actorOf(caller))), 200);
  });

  api.openapi(routes.remove, async (c) => {
    const caller = c.get("caller");
    await annotations.remove(caller.tenant.id, annotationId(c.req.valid("param").id), actorOf(caller));
    return c.body(null, 204);
  });
}

function linkOf(text: string): LinkId {
  const id = parseId("link", text);
  if (id === undefined) throw invalid("link", "unknown_link", "Must be the ID of a link.");
  return id;
}

function annotationId(text: string): AnnotationId {
  const id = parseId("annotation", text);
  if (id === undefined) throw noAnnotation();
  return id;
}
