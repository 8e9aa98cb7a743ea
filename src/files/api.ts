import { toIso } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import { type FileId, parseId } from "../base/ids.ts";
import { type Pages, pageParams, pageSchema } from "../http/pagination.ts";
import { type Api, actorOf, json, jsonBody, route, singleLine, z } from "../http/route.ts";
import type { TenantFile } from "./file.ts";
import type { Files } from "./files.ts";

/** All routes of files, with their schemas. */
const namePattern = /^(?!\.+$)[^/\\\u202a-\u202e\u2066-\u2069]+$/;
const typePattern = /^[a-z0-9][\w!#$&^.+-]*\/[a-z0-9][\w!#$&^.+-]*(?:; ?charset=[\w.:-]+)?$/i;
const typeMost = 100;
const nameMost = 255;

const name = singleLine(nameMost).refine((text) => namePattern.test(text), {
  message: "Must not contain / or \\, consist of dots, or contain bidirectional control characters.",
  params: { code: "bad_file_name" },
});

const createSchema = z
  .strictObject({
    name: name.openapi({ description: "File name of the download, at most 255 characters." }),
    size: z.int().min(1).openapi({ description: "In bytes. The upload must have exactly this size." }),
    type: z
      .string()
      .max(typeMost, `Must have at most ${typeMost} characters.`)
      .regex(typePattern, "Must be a media type, such as image/png or text/plain; charset=utf-8.")
      .openapi({ description: "Media type. The content must match it." }),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, "Must be a SHA-256 as 64 lowercase hex digits.")
      .optional()
      .openapi({ description: "In hex. If given, the uploaded bytes must match it." }),
  })
  .openapi("NewFile", { example: { name: "plan.pdf", size: 48_213, type: "application/pdf" } });

const fileSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    size: z.int(),
    type: z.string(),
    sha256: z.string().nullable().openapi({ description: "In hex; of the stored file, once it is complete." }),
    state: z.enum(["pending", "stored"]).openapi({ description: "`pending`: not uploaded and completed yet." }),
    createdAt: z.string(),
    storedAt: z.string().nullable(),
  })
  .openapi("File");

const admittedSchema = fileSchema
  .extend({
    upload: z.object({
      method: z.literal("PUT"),
      url: z.string(),
      headers: z.record(z.string(), z.string()),
      expiresAt: z.string(),
    }),
  })
  .openapi("Upload");

const filePageSchema = pageSchema(fileSchema, "FilePage");
const offerSchema = z.object({ url: z.string(), expiresAt: z.string() }).openapi("Download");
const params = z.object({ id: z.string().openapi({ example: "fil_01k9a0b1c2d3e4f5g6h7j8k9m0" }) });

const routes = {
  create: route(
    "files:write",
    {
      method: "post",
      path: "/api/files",
      tags: ["Files"],
      operationId: "createFile",
      "x-repeatable": true,
      summary: "Start an upload",
      description:
        "Reserves the file's bytes from the workspace's storage. Send the file with `upload.method` to `upload.url` with exactly `upload.headers` before `upload.expiresAt`, then complete the upload.",
      request: { body: jsonBody(createSchema) },
    },
    { 201: json(admittedSchema, "The file, and where to upload it") },
    "invalid_input",
    "over_quota",
    "collection_full",
    "limit_reached",
    "busy",
  ),
  complete: route(
    "files:write",
    {
      method: "post",
      path: "/api/files/{id}/complete",
      tags: ["Files"],
      operationId: "completeFile",
      "x-repeatable": true,
      summary: "Complete an upload",
      description:
        "Compares size, type and checksum with what was announced. If they differ, the upload is discarded: start again. Repeating the request returns the same response.",
      request: { params },
    },
    { 200: json(fileSchema, "The stored file") },
    "not_found",
    "upload_missing",
    "invalid_input",
    "over_quota",
  ),
  list: route(
    "files:read",
    {
      method: "get",
      path: "/api/files",
      tags: ["Files"],
      operationId: "listFiles",
      summary: "List files, newest first",
      request: {
        query: z.strictObject(pageParams),
      },
    },
    { 200: json(filePageSchema, "A page; `nextCursor` is null on the last page") },
    "invalid_input",
  ),
  get: route(
    "files:read",
    {
      method: "get",
      path: "/api/files/{id}",
      tags: ["Files"],
      operationId: "getFile",
      summary: "Get a file",
      request: { params },
    },
    { 200: json(fileSchema, "The file") },
    "not_found",
  ),
  download: route(
    "files:read",
    {
      method: "get",
      path: "/api/files/{id}/download",
      tags: ["Files"],
      operationId: "downloadFile",
      summary: "Get a download URL",
      description: "Anyone who has the URL can download the file until `expiresAt`. Downloads do not count as visits.",
      request: { params },
    },
    { 200: json(offerSchema, "The download URL") },
    "not_found",
  ),
  remove: route(
    "files:write",
    {
      method: "delete",
      path: "/api/files/{id}",
      tags: ["Files"],
      operationId: "deleteFile",
      summary: "Delete a file, or cancel its upload",
      description: "Frees its storage. Links to the file answer 404 until you give them another destination.",
      request: { params },
    },
    { 204: { description: "Deleted" } },
    "not_found",
  ),
};

export function fileRoutes(api: Api, files: Files, pages: Pages): void {
  api.openapi(routes.create, async (c) => {
    const { sha256, ...rest } = c.req.valid("json");
    const input = { ...rest, ...(sha256 && { sha256 }) };
    const once = c.get("once");
    const idOf = once && ((place: number) => once.id("file", place));
    const { file, upload } = await files.create(c.get("caller").tenant, input, idOf);
    c.header("location", `/api/files/${file.id}`);
    const { method, url, headers } = upload;
    const expiresAt = toIso(file.uploadUntil);
    return c.json({ ...show(file), upload: { method, url, headers: { ...headers }, expiresAt } }, 201);
  });

  api.openapi(routes.complete, async (c) => {
    const file = await files.complete(c.get("caller").tenant, fileId(c.req.valid("param").id));
    return c.json(show(file), 200);
  });

  api.openapi(routes.list, async (c) => {
    const tenant = c.get("caller").tenant.id;
    const { items, nextCursor } = await pages.page(
      { tenant, name: "files" },
      c.req.valid("query"),
      (limit, after: readonly [FileId] | undefined) => files.list(tenant, limit, after?.[0]),
      ({ id }) => [id] as const,
    );
    return c.json({ items: items.map(show), nextCursor }, 200);
  });

  api.openapi(routes.get, async (c) => {
    const file = await files.get(c.get("caller").tenant.id, fileId(c.req.valid("param").id));
    return c.json(show(file), 200);
  });

  api.openapi(routes.download, async (c) => {
    const { url, until } = await files.download(c.get("caller").tenant.id, fileId(c.req.valid("param").id));
    return c.json({ url, expiresAt: toIso(until) }, 200);
  });

  api.openapi(routes.remove, async (c) => {
    const caller = c.get("caller");
    await files.remove(caller.tenant.id, fileId(c.req.valid("param").id), actorOf(caller));
    return c.body(null, 204);
  });
}

function show({ id, name, sizeBytes, type, sha256, state, createdAt, storedAt }: TenantFile) {
  return {
    id,
    name,
    size: sizeBytes,
    type,
    sha256,
    state: state === "stored" ? ("stored" as const) : ("pending" as const),
    createdAt: toIso(createdAt),
    storedAt: storedAt === null ? null : toIso(storedAt),
  };
}

function fileId(text: string): FileId {
  const id = parseId("file", text);
  if (id === undefined) throw new Problem("not_found", "No such file.");
  return id;
}
