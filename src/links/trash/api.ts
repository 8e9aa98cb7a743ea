import { type Clock, dayMs, toIso } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import type { LinkId } from "../../base/ids.ts";
import { type Pages, pageParams, pageSchema } from "../../http/pagination.ts";
import { type Api, actorOf, json, route, z } from "../../http/route.ts";
import { etag, linkId } from "../api.ts";
import { notInTrash } from "../create/refusals.ts";
import type { Link } from "../link.ts";
import type { Links } from "../links.ts";
import { idParam, linkSchema, showLink } from "../schemas.ts";
import { emptyTrash } from "./empty.ts";
import { type TrashedLink, type TrashStore, trashDays } from "./trash-store.ts";

/** Deleted links. */
const trashedSchema = linkSchema
  .omit({
    target: true,
    suspended: true,
    clicks: true,
    lastClickAt: true,
    hitsUsed: true,
    hitsLimit: true,
    fileName: true,
  })
  .extend({
    deletedAt: z.string(),
    eraseAt: z.string().openapi({ description: "It can be restored until then." }),
  })
  .openapi("TrashedLink");

const routes = {
  list: route(
    "links:read",
    {
      method: "get",
      path: "/api/trash",
      tags: ["Trash"],
      operationId: "listTrash",
      summary: "List deleted links, those deleted last first",
      request: { query: z.strictObject(pageParams) },
    },
    { 200: json(pageSchema(trashedSchema, "TrashPage"), "A page; `nextCursor` is null on the last page") },
    "invalid_input",
  ),
  restore: route(
    "links:write",
    {
      method: "post",
      path: "/api/trash/{id}/restore",
      tags: ["Trash"],
      operationId: "restoreLink",
      summary: "Restore a deleted link",
      "x-repeatable": true,
      description:
        "With everything it had, its clicks included. Its destinations, file and domain must be acceptable today. A suspended link stays suspended.",
      request: { params: idParam },
    },
    { 200: json(linkSchema, "The link") },
    "not_found",
    "invalid_input",
  ),
  erase: route(
    "links:write",
    {
      method: "delete",
      path: "/api/trash/{id}",
      tags: ["Trash"],
      operationId: "eraseLink",
      summary: "Delete a link for good",
      description: "It cannot be restored. Only you can use its code again.",
      request: { params: idParam },
    },
    { 204: { description: "Deleted" } },
    "not_found",
  ),
  empty: route(
    "admin",
    {
      method: "delete",
      path: "/api/trash",
      tags: ["Trash"],
      operationId: "emptyTrash",
      summary: "Delete the links in the trash for good, up to 5,000 at a time",
      description: "Repeat the request while `isEmpty` is false.",
    },
    {
      200: json(
        z.object({ deleted: z.int(), isEmpty: z.boolean() }).openapi("EmptiedTrash"),
        "How many were deleted, and whether others are left",
      ),
    },
  ),
};

export interface TrashApi {
  readonly links: Links;
  readonly trash: TrashStore;
  readonly pages: Pages;
  readonly clock: Clock;
  readonly baseUrl: string;
  readonly show: (link: Link) => Promise<z.infer<typeof linkSchema>>;
}

export function trashRoutes(api: Api, { links, trash, pages, clock, baseUrl, show }: TrashApi): void {
  api.openapi(routes.list, async (c) => {
    const tenant = c.get("caller").tenant.id;
    const { items, nextCursor } = await pages.page(
      { tenant, name: "trash" },
      c.req.valid("query"),
      (limit, after: readonly [number, LinkId] | undefined) =>
        trash.list(tenant, limit, after && { deletedAt: after[0], id: after[1] }),
      ({ deletedAt, id }) => [deletedAt, id] as const,
    );
    return c.json({ items: items.map((item) => showTrashed(item, baseUrl)), nextCursor }, 200);
  });

  api.openapi(routes.restore, async (c) => {
    const caller = c.get("caller");
    const id = linkId(c.req.valid("param").id);
    const link = await links.restore(caller.tenant, id, actorOf(caller)).catch((error: unknown) => {
      // An earlier run of the same request may have restored it.
      if (c.get("once") && error instanceof Problem && error.code === "not_found")
        return links.get(caller.tenant.id, id);
      throw error;
    });
    c.header("etag", etag(link));
    return c.json(await show(link), 200);
  });

  api.openapi(routes.erase, async (c) => {
    const caller = c.get("caller");
    const id = linkId(c.req.valid("param").id);
    if (!(await trash.erase(caller.tenant.id, id, actorOf(caller), clock.now()))) throw notInTrash();
    return c.body(null, 204);
  });

  api.openapi(routes.empty, async (c) => {
    const caller = c.get("caller");
    return c.json(await emptyTrash({ trash, clock }, caller.tenant.id, actorOf(caller)), 200);
  });
}

export function showTrashed({ link, deletedAt }: TrashedLink, baseUrl: string) {
  const { target: _, suspended: __, clicks: ___, lastClickAt: ____, ...more } = showLink(link, baseUrl);
  const { hitsUsed: _____, hitsLimit: ______, fileName: _______, ...shown } = more;
  return { ...shown, deletedAt: toIso(deletedAt), eraseAt: toIso(deletedAt + trashDays * dayMs) };
}
