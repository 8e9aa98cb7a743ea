import { type Clock, fromIso } from "../base/clock.ts";
import type { HistoryId, TenantId } from "../base/ids.ts";
import { streamPages } from "../clicks/reports/export.ts";
import { type Pages, pageParams, pageSchema } from "../http/pagination.ts";
import { type Api, route, z } from "../http/route.ts";
import type { Sql } from "../sql/sql.ts";
import { createHistoryLog, type HistoryPage, type HistoryQuery } from "./log.ts";
import { actorKinds, historyCsv, historyCsvTitle, historyEntrySchema, showHistory } from "./show.ts";

/** The log of a workspace, and the operator's of everything that belongs to none. */
const moment = z.iso.datetime({ offset: true }).transform(fromIso).optional();
const word = z.string().min(1).max(100).optional();

const logParams = z.strictObject({
  ...pageParams,
  actor: word.openapi({ description: "Only changes by this person or API key: its ID." }),
  actorKind: z.enum(actorKinds).optional(),
  action: word.openapi({ example: "link.update" }),
  subject: word.openapi({ description: "Only changes of this: the ID of a link, key, file or person, or a domain." }),
  subjectKind: word.openapi({ example: "link" }),
  since: moment.openapi({ type: "string", format: "date-time" }),
  until: moment.openapi({ type: "string", format: "date-time" }),
  format: z
    .enum(["json", "csv", "jsonl"])
    .default("json")
    .openapi({ description: "`csv` and `jsonl` are the whole log, not a page: `limit` and `cursor` do not apply." }),
});

const answers = {
  200: {
    description: "A page, newest first. With `format`, the whole log as CSV or JSON lines.",
    content: {
      "application/json": { schema: pageSchema(historyEntrySchema, "HistoryPage") },
      "text/csv": { schema: z.string() },
      "application/jsonl": { schema: z.string() },
    },
  },
};

const routes = {
  workspace: route(
    "admin",
    {
      method: "get",
      path: "/api/history",
      tags: ["History"],
      operationId: "listHistory",
      summary: "List what was changed in the workspace, by whom and when",
      description:
        "Newest first. A page may have fewer entries than `limit`, or none, and still be followed by others: continue until `nextCursor` is null.",
      request: { query: logParams },
    },
    answers,
    "invalid_input",
  ),
  operator: route(
    "operator",
    {
      method: "get",
      path: "/api/operator/history",
      tags: ["Operator"],
      operationId: "listServerHistory",
      summary: "List what was changed outside of workspaces: sign-ins, refusals, plans, reports",
      request: { query: logParams },
    },
    answers,
    "invalid_input",
  ),
};

const exportRows = 500;
const types = { csv: "text/csv;charset=utf-8", jsonl: "application/jsonl" } as const;

export function historyRoutes(api: Api, sql: Sql, pages: Pages, clock: Clock): void {
  const log = createHistoryLog(sql);

  async function answer(
    tenant: TenantId | "",
    params: z.infer<typeof logParams>,
    still: () => Promise<void>,
  ): Promise<Response> {
    const { limit, cursor, format, ...query } = params;
    const shown = ({ items }: HistoryPage) => showHistory(sql.db, tenant, items);
    if (format === "json") {
      const list = { tenant: tenant as TenantId, name: `history ${JSON.stringify(query)}` };
      const page = await pages.pageWithPlace(list, cursor, async (after: readonly [HistoryId] | undefined) => {
        const found = await log.page(tenant, query, limit, after?.[0]);
        return { next: found.next, items: await shown(found) };
      });
      return Response.json(page);
    }
    const read = async (after: readonly [HistoryId] | undefined) => {
      const found = await log.page(tenant, query satisfies HistoryQuery, exportRows, after?.[0]);
      return { next: found.next, items: await shown(found) };
    };
    const write = ({ items }: Awaited<ReturnType<typeof read>>) =>
      items.map((entry) => (format === "csv" ? historyCsv(entry) : `${JSON.stringify(entry)}\n`)).join("");
    const title = format === "csv" ? historyCsvTitle() : "";
    return new Response(streamPages(read, write, title, { clock, still }), {
      headers: { "content-type": types[format], "content-disposition": `attachment; filename="history.${format}"` },
    });
  }

  api.openapi(routes.workspace, (c) => answer(c.get("caller").tenant.id, c.req.valid("query"), c.get("still")));
  api.openapi(routes.operator, (c) => answer("", c.req.valid("query"), c.get("still")));
}
