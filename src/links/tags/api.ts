import { Problem } from "../../base/errors.ts";
import type { LinkId, TenantId } from "../../base/ids.ts";
import { type Pages, pageParams, pageSchema } from "../../http/pagination.ts";
import { type Api, type Caller, json, jsonBody, route, singleLine, soughtText, z } from "../../http/route.ts";
import { type RunSteps, showOutcomes } from "../bulk/api.ts";
import { replacedMost } from "../bulk/replace.ts";
import { bulkEditedSchema } from "../bulk/schemas.ts";
import type { FieldChange, LinkStep } from "../bulk/step.ts";
import { type Link, shownHost } from "../link.ts";
import type { LinkQuery } from "../read/find.ts";
import { listedTagsMost, type TagUse } from "./used-tags.ts";

/** All tags of a workspace. A tag exists as long as a link has it. */
const tagName = singleLine(50);

const tagSchema = z
  .object({ tag: z.string(), links: z.int().openapi({ description: "How many links have it." }) })
  .openapi("Tag");

const changedSchema = bulkEditedSchema
  .omit({ nextCursor: true })
  .extend({
    isComplete: z.boolean().openapi({ description: "False: more than 5,000 links have the tag. Repeat the request." }),
  })
  .openapi("TagChanged");

const routes = {
  list: route(
    "links:read",
    {
      method: "get",
      path: "/api/tags",
      tags: ["Tags"],
      operationId: "listTags",
      summary: "List the tags of all links, with the number of links",
      description: `The ${listedTagsMost.toLocaleString("en")} most used ones. Use \`prefix\` to complete what somebody types.`,
      request: {
        query: z.strictObject({
          ...pageParams,
          prefix: soughtText(50).optional().openapi({ description: "Case-insensitive for A to Z." }),
          sort: z.enum(["links", "tag"]).default("links").openapi({ description: "The most used first, or by name." }),
        }),
      },
    },
    { 200: json(pageSchema(tagSchema, "TagPage"), "A page; `nextCursor` is null on the last page") },
    "invalid_input",
  ),
  rename: route(
    "links:write",
    {
      method: "patch",
      path: "/api/tags",
      tags: ["Tags"],
      operationId: "renameTag",
      summary: "Rename a tag on all links, or merge it into another one",
      description:
        "If links already have the new name, the two tags become one. Clicks keep the tag that their link had then. Up to 5,000 links per request; `undo` goes to `PATCH /api/links/bulk`.",
      request: {
        body: jsonBody(
          z
            .strictObject({ tag: tagName, name: tagName })
            .refine(({ tag, name }) => tag !== name, {
              path: ["name"],
              message: "Must differ from tag.",
              params: { code: "contradiction" },
            })
            .openapi("TagRename", { example: { tag: "sping", name: "spring" } }),
        ),
      },
    },
    { 200: json(changedSchema, "One result per link, and what undoes it") },
    "invalid_input",
    "not_found",
    "busy",
  ),
  remove: route(
    "links:write",
    {
      method: "delete",
      path: "/api/tags",
      tags: ["Tags"],
      operationId: "deleteTag",
      summary: "Remove a tag from all links",
      description: "Up to 5,000 links per request; `undo` goes to `PATCH /api/links/bulk`.",
      request: { query: z.strictObject({ tag: tagName.openapi({ example: "old" }) }) },
    },
    { 200: json(changedSchema, "One result per link, and what undoes it") },
    "invalid_input",
    "not_found",
    "busy",
  ),
};

export interface TagApi {
  readonly tags: (tenant: TenantId, prefix: string) => Promise<readonly TagUse[]>;
  readonly find: (tenant: TenantId, query: LinkQuery) => Promise<readonly Link[]>;
  readonly runSteps: RunSteps;
  readonly pages: Pages;
  readonly baseUrl: string;
}

const pageLinks = 500;

export function tagRoutes(api: Api, { tags, find, runSteps, pages, baseUrl }: TagApi): void {
  async function changeAll(caller: Caller, tag: string, change: FieldChange, signal: AbortSignal) {
    const steps: LinkStep[] = [];
    let last: LinkId | undefined;
    do {
      const query: LinkQuery = { tags: [tag], sort: "createdAt", order: "desc", limit: pageLinks };
      const page = await find(caller.tenant.id, { ...query, after: last && { value: last, id: last } });
      for (const { id } of page) steps.push({ kind: "edit", id, change });
      last = page.length < pageLinks ? undefined : page.at(-1)?.id;
    } while (last !== undefined && steps.length < replacedMost);
    if (steps.length === 0) throw new Problem("not_found", `No link has the tag "${tag}".`);
    const outcomes = await runSteps(caller, steps, signal);
    const asked = steps.map((step) => ({ id: step.id, step }));
    return {
      ...showOutcomes(asked, outcomes, (domain) => shownHost(baseUrl, domain)),
      isComplete: last === undefined,
    };
  }

  api.openapi(routes.list, async (c) => {
    const tenant = c.get("caller").tenant.id;
    const { limit, cursor, prefix = "", sort } = c.req.valid("query");
    const order = sort === "links" ? byLinks : byTag;
    const page = await pages.page(
      { tenant, name: `tags by ${sort}` },
      { limit, cursor },
      async (most, after: readonly [string, number] | undefined) => {
        const all = [...(await tags(tenant, prefix))].sort(order);
        const rest =
          after === undefined ? all : all.filter((one) => order(one, { tag: after[0], links: after[1] }) > 0);
        return rest.slice(0, most);
      },
      ({ tag, links }) => [tag, links] as const,
    );
    return c.json({ ...page, items: page.items.map((item) => ({ ...item })) }, 200);
  });

  api.openapi(routes.rename, async (c) => {
    const { tag, name } = c.req.valid("json");
    const change = { renameTag: { from: tag, to: name } };
    return c.json(await changeAll(c.get("caller"), tag, change, c.req.raw.signal), 200);
  });

  api.openapi(routes.remove, async (c) => {
    const { tag } = c.req.valid("query");
    return c.json(await changeAll(c.get("caller"), tag, { removeTags: [tag] }, c.req.raw.signal), 200);
  });
}

/** The same in every place: not by the language of the server. */
const byTag = (a: TagUse, b: TagUse): number => (a.tag === b.tag ? 0 : a.tag < b.tag ? -1 : 1);
const byLinks = (a: TagUse, b: TagUse): number => b.links - a.links || byTag(a, b);
