import type { LinkId, TenantId } from "../../base/ids.ts";
import type { HistoryRecord } from "../../history/log.ts";
import { historyEntrySchema, type ShownHistory, showHistory } from "../../history/show.ts";
import { type Pages, pageParams, pageSchema } from "../../http/pagination.ts";
import { type Api, actorOf, json, jsonBody, route, z } from "../../http/route.ts";
import type { HistoryTable } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { etag, expectedVersion, linkId } from "../api.ts";
import { missing } from "../create/refusals.ts";
import { cacheKey, type Link } from "../link.ts";
import type { Links } from "../links.ts";
import { showRules } from "../routing/choice-schema.ts";
import type { Rule } from "../routing/rules.ts";
import { idParam, ifMatch, linkSchema } from "../schemas.ts";
import type { LinkCreation, LinkPast } from "./link-history.ts";

/** A link's history, and undo. */
const routes = {
  list: route(
    "links:read",
    {
      method: "get",
      path: "/api/links/{id}/history",
      tags: ["History"],
      operationId: "listLinkHistory",
      summary: "List the changes of a link, newest first; its creation is the last",
      description: "Also of a link in the trash.",
      request: { params: idParam, query: z.strictObject(pageParams) },
    },
    { 200: json(pageSchema(historyEntrySchema, "LinkHistoryPage"), "A page; `nextCursor` is null on the last page") },
    "not_found",
    "invalid_input",
  ),
  undo: route(
    "links:write",
    {
      method: "post",
      path: "/api/links/{id}/undo",
      tags: ["History"],
      operationId: "undoLink",
      summary: "Set a link back to an older version",
      "x-repeatable": true,
      description:
        "All fields get the values that they had at that version, by the rules of an edit; the password stays as it is. Undoing is itself a change that can be undone. A link that already has these values is not changed.",
      request: {
        params: idParam,
        headers: ifMatch,
        body: jsonBody(
          z
            .strictObject({ version: z.int().min(1).openapi({ description: "A `version` of the link's history." }) })
            .openapi("UndoLink", { example: { version: 1 } }),
        ),
      },
    },
    { 200: json(linkSchema, "The link") },
    "not_found",
    "invalid_input",
    "version_conflict",
  ),
};

export interface LinkPastApi {
  readonly sql: Sql;
  readonly links: Links;
  readonly past: LinkPast;
  readonly pages: Pages;
  readonly show: (link: Link) => Promise<z.infer<typeof linkSchema>>;
}

export function linkPastRoutes(api: Api, { sql, links, past, pages, show }: LinkPastApi): void {
  api.openapi(routes.list, async (c) => {
    const tenant = c.get("caller").tenant.id;
    const id = linkId(c.req.valid("param").id);
    const { limit, cursor } = c.req.valid("query");
    const page = await pages.pageWithPlace({ tenant, name: `history of ${id}` }, cursor, (after: Place | undefined) =>
      readPast({ sql, past }, tenant, id, limit, after?.[0]),
    );
    return c.json(page, 200);
  });

  api.openapi(routes.undo, async (c) => {
    const caller = c.get("caller");
    const id = linkId(c.req.valid("param").id);
    const expected = expectedVersion(c.req.valid("header"));
    const link = await links.undo(caller.tenant, id, c.req.valid("json").version, actorOf(caller), expected);
    c.header("etag", etag(link));
    return c.json(await show(link), 200);
  });
}

type Place = readonly [version: number];

/** A page as it is shown. The creation follows the oldest change, and has the version that this one found. */
export async function readPast(
  { sql, past }: Pick<LinkPastApi, "sql" | "past">,
  tenant: TenantId,
  id: LinkId,
  limit: number,
  below?: number,
): Promise<{ readonly items: ShownHistory[]; readonly next: Place | null }> {
  const creation = await past.creation(tenant, id);
  if (creation === undefined) throw missing();
  const rows = await past.changes(tenant, id, limit + 1, below);
  const last = rows.length < limit ? undefined : rows[limit - 1];
  const next: Place | null = last?.version == null ? null : [last.version];
  const records = rows.slice(0, limit);
  if (next === null) records.push(created(id, creation, records.at(-1)?.version ?? below));
  const items = await showHistory(sql.db, tenant, records);
  return { items: items.map(showChange), next };
}

function created(id: LinkId, creation: LinkCreation, oldest: number | undefined): HistoryRecord {
  const { at, madeByKind, madeBy, domain, code } = creation;
  return {
    ...{ id: null, at, action: "link.create", before: null, after: null },
    // Links from before there was a history.
    actor: { kind: (madeByKind ?? "nobody") as HistoryTable["actor_kind"], id: madeBy, name: null },
    subject: { kind: "link", id, name: cacheKey(domain, code) },
    version: oldest === undefined ? creation.version : oldest - 1,
  };
}

/** Rules as in the API. */
function showChange(entry: ShownHistory): ShownHistory {
  const shown = (fields: ShownHistory["before"]) =>
    fields !== null && Array.isArray(fields.rules) ? { ...fields, rules: showRules(fields.rules as Rule[]) } : fields;
  return { ...entry, before: shown(entry.before), after: shown(entry.after) };
}
