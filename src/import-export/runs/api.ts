import { toIso } from "../../base/clock.ts";
import { invalid, Problem } from "../../base/errors.ts";
import { type FileId, type ImportId, parseId, type TenantId } from "../../base/ids.ts";
import type { TenantFile } from "../../files/file.ts";
import { type Pages, pageParams, pageSchema } from "../../http/pagination.ts";
import { type Api, actorOf, json, jsonBody, route, z } from "../../http/route.ts";
import { noFile } from "../../links/create/refusals.ts";
import { formatNames } from "../formats.ts";
import type { ImportPosition } from "../import-position.ts";
import { badRowsMost, type ImportRun, type ImportRuns, runsMost } from "./import-runs.ts";

/** Imports through the API: upload a file, check it, start, watch, cancel. */
const importMostBytes = 50_000_000;

const countsSchema = z
  .object({
    rows: z.int(),
    created: z.int(),
    present: z.int().openapi({ description: "Links that you have already, with the same code and destination." }),
    rejected: z.int(),
  })
  .openapi("ImportCounts");

const importSchema = z
  .object({
    id: z.string(),
    file: z.string(),
    name: z.string(),
    size: z.int(),
    format: z.enum(formatNames).nullable().openapi({ description: "As it was recognised. Null: not read yet." }),
    state: z.enum(["checking", "checked", "running", "done", "cancelled", "failed"]).openapi({
      description:
        "`checked`: it can be started. `failed` and `cancelled` ones continue where they stopped when started.",
    }),
    problem: z.string().nullable().openapi({ description: "Why it failed." }),
    check: z
      .union([countsSchema, z.null()])
      .openapi({ description: "What an import would do, without having written anything." }),
    done: countsSchema.openapi({ description: "What it has done so far." }),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .openapi("LinkImport");

const idParam = z.object({ id: z.string().openapi({ example: "imp_01k9a0b1c2d3e4f5g6h7j8k9m0" }) });
const tags = ["Imports"];

const routes = {
  list: route(
    "links:read",
    {
      ...{ method: "get", path: "/api/imports", tags, operationId: "listImports" },
      summary: "List imports, newest first",
      request: { query: z.strictObject(pageParams) },
    },
    { 200: json(pageSchema(importSchema, "LinkImportPage"), "A page; `nextCursor` is null on the last page") },
    "invalid_input",
  ),
  create: route(
    "links:write",
    {
      ...{ method: "post", path: "/api/imports", tags, operationId: "createImport" },
      summary: "Check an uploaded file for import",
      description: `Upload the file first: \`POST /api/files\`. CSV and JSON lines of QuickLink, Shlink, YOURLS, Kutt and Bitly are recognised. Every row is checked, and nothing is written until you start the import. At most 50 MB, and ${runsMost} imports are kept.`,
      "x-repeatable": true,
      request: {
        body: jsonBody(
          z
            .strictObject({
              file: z.string().max(100).openapi({ description: "The ID of an uploaded file." }),
              format: z.enum(formatNames).nullable().optional().openapi({ description: "Default: recognised." }),
            })
            .openapi("NewImport", { example: { file: "fil_01k9a0b1c2d3e4f5g6h7j8k9m0" } }),
        ),
      },
    },
    { 201: json(importSchema, "The import, which is being checked") },
    "invalid_input",
    "collection_full",
  ),
  get: route(
    "links:read",
    {
      ...{ method: "get", path: "/api/imports/{id}", tags, operationId: "getImport" },
      summary: "Get an import and its progress",
      request: { params: idParam },
    },
    { 200: json(importSchema, "The import") },
    "not_found",
  ),
  rows: route(
    "links:read",
    {
      ...{ method: "get", path: "/api/imports/{id}/rows", tags, operationId: "listImportRows" },
      summary: "List the rejected rows of an import",
      description: `By line. The first ${badRowsMost.toLocaleString("en")} of the check and of the import are kept.`,
      request: {
        params: idParam,
        query: z.strictObject({ ...pageParams, phase: z.enum(["check", "import"]).default("check") }),
      },
    },
    {
      200: json(
        pageSchema(z.object({ line: z.int(), problem: z.string() }).openapi("ImportRow"), "ImportRowPage"),
        "A page; `nextCursor` is null on the last page",
      ),
    },
    "not_found",
    "invalid_input",
  ),
  change: route(
    "links:write",
    {
      ...{ method: "patch", path: "/api/imports/{id}", tags, operationId: "updateImport" },
      summary: "Start or cancel an import",
      description:
        "Start it with `running`, once it is checked; one that failed or was cancelled continues where it stopped. Its links count towards your plan, and it stops when the month's links are used. What is imported stays when it is cancelled.",
      request: {
        params: idParam,
        body: jsonBody(
          z
            .strictObject({ state: z.enum(["running", "cancelled"]) })
            .openapi("ImportChange", { example: { state: "running" } }),
        ),
      },
    },
    { 200: json(importSchema, "The import") },
    "not_found",
    "invalid_input",
  ),
  remove: route(
    "links:write",
    {
      ...{ method: "delete", path: "/api/imports/{id}", tags, operationId: "deleteImport" },
      summary: "Delete the record of an import that is not running",
      description: "The links and the uploaded file stay.",
      request: { params: idParam },
    },
    { 204: { description: "Deleted" } },
    "not_found",
    "invalid_input",
  ),
};

export interface ImportApi {
  readonly runs: ImportRuns;
  readonly fileOf: (tenant: TenantId, id: FileId) => Promise<TenantFile>;
  readonly pages: Pages;
  /** There is something to do. */
  readonly wake: () => void;
}

export function importRoutes(api: Api, { runs, fileOf, pages, wake }: ImportApi): void {
  async function find(tenant: TenantId, text: string): Promise<ImportRun> {
    const id = parseId("import", text);
    const run = id && (await runs.get(tenant, id));
    if (run === undefined) throw new Problem("not_found", "No such import.");
    return run;
  }

  api.openapi(routes.list, async (c) => {
    const tenant = c.get("caller").tenant.id;
    const page = await pages.page(
      { tenant, name: "imports" },
      c.req.valid("query"),
      (limit, after: readonly [ImportId] | undefined) => runs.list(tenant, limit, after?.[0]),
      ({ id }) => [id] as const,
    );
    return c.json({ ...page, items: page.items.map(show) }, 200);
  });

  api.openapi(routes.create, async (c) => {
    const caller = c.get("caller");
    const { file: text, format = null } = c.req.valid("json");
    const id = parseId("file", text);
    const file = id && (await fileOf(caller.tenant.id, id).catch(ifMissing));
    if (file === undefined || file.state !== "stored") throw noFile();
    if (file.sizeBytes > importMostBytes) throw invalid("file", "too_long", "Must have at most 50 MB. Split the file.");
    const { name, sizeBytes } = file;
    const given = { id: c.get("once")?.id("import"), file: file.id, name, sizeBytes, onlyFormat: format };
    const run = await runs.create(caller.tenant.id, given, actorOf(caller));
    wake();
    c.header("location", `/api/imports/${run.id}`);
    return c.json(show(asCreated(run)), 201);
  });

  api.openapi(routes.get, async (c) =>
    c.json(show(await find(c.get("caller").tenant.id, c.req.valid("param").id)), 200),
  );

  api.openapi(routes.rows, async (c) => {
    const tenant = c.get("caller").tenant.id;
    const { id } = await find(tenant, c.req.valid("param").id);
    const { limit, cursor, phase } = c.req.valid("query");
    const page = await pages.page(
      { tenant, name: `rejected rows of ${id} ${phase}` },
      { limit, cursor },
      (most, after: readonly [number] | undefined) => runs.badRows(tenant, id, phase, most, after?.[0]),
      ({ line }) => [line] as const,
    );
    return c.json({ ...page, items: page.items.map((item) => ({ ...item })) }, 200);
  });

  api.openapi(routes.change, async (c) => {
    const caller = c.get("caller");
    const tenant = caller.tenant.id;
    const { state } = c.req.valid("json");
    const { id } = await find(tenant, c.req.valid("param").id);
    const from =
      state === "running" ? (["checked", "failed", "cancelled"] as const) : (["checking", "running"] as const);
    const isChanged = await runs.setState(tenant, id, from, state, actorOf(caller));
    const run = await find(tenant, id);
    if (!isChanged && run.state !== state && run.state !== "done") {
      throw invalid(
        "state",
        "contradiction",
        `The import is ${run.state}. Only one that is ${from.join(", ")} can be.`,
      );
    }
    wake();
    return c.json(show(run), 200);
  });

  api.openapi(routes.remove, async (c) => {
    const caller = c.get("caller");
    const { id } = await find(caller.tenant.id, c.req.valid("param").id);
    if (!(await runs.remove(caller.tenant.id, id, actorOf(caller)))) {
      throw invalid("id", "contradiction", "The import is running. Cancel it first.");
    }
    return c.body(null, 204);
  });
}

/** A repeated request gets the answer of the first. */
const asCreated = (run: ImportRun): ImportRun => ({
  ...{ ...run, state: "checking", format: null, problem: null, checked: null, updatedAt: run.createdAt },
});

function ifMissing(error: unknown): undefined {
  if (error instanceof Problem && error.code === "not_found") return undefined;
  throw error;
}

const counts = ({ records, made, present, refused }: ImportPosition) => ({
  ...{ rows: records, created: made, present, rejected: refused },
});

const show = ({
  id,
  file,
  name,
  sizeBytes,
  format,
  state,
  problem,
  checked,
  done,
  createdAt,
  updatedAt,
}: ImportRun) => ({
  ...{ id, file, name, size: sizeBytes, format, state, problem, check: checked && counts(checked), done: counts(done) },
  ...{ createdAt: toIso(createdAt), updatedAt: toIso(updatedAt) },
});
