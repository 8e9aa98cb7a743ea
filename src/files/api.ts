import { toIso } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import { type FileId, parseId } from "../base/ids.ts";
import { type Pages, pageParams, pageSchema } from "../http/pages.ts";
import { type Api, json, jsonBody, line, route, z } from "../http/route.ts";
import type { TenantFile } from "./file.ts";
import type { Files } from "./files.ts";

/** All routes of files, with their schemas. */
const namePattern = /^(?!\.+$)[^/\\\u202a-\u202e\u2066-\u2069]+$/;
const typePattern = /^[a-z0-9][\w!#$&^.+-]*\/[a-z0-9][\w!#$&^.+-]*(?:; ?charset=[\w.:-]+)?$/i;
const typeMost = 100;
const nameMost = 255;

const name = line(nameMost).refine((text) => namePattern.test(text), {
  message: "must not have / or \\, be dots alone, or turn the direction of writing",
  params: { code: "bad_file_name" },
});

const createSchema = z
  .strictObject({
    name: name.openapi({ description: "What a download is saved as, at most 255 characters." }),
    size: z.int().min(1).openapi({ description: "In bytes. Exactly so many can be uploaded." }),
    type: z
      .string()
      .max(typeMost, `has more than ${typeMost} characters`)
      .regex(typePattern, "is not a media type, such as image/png or text/plain; charset=utf-8")
      .openapi({ description: "Its media type. The bytes must not contradict it." }),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, "is not a SHA-256 in 64 hex digits, small letters")
      .optional()
      .openapi({ description: "In hex. If it is given, the bytes must have it." }),
  })
  .openapi("NewFile", { example: { name: "plan.pdf", size: 48_213, type: "application/pdf" } });

const fileSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    size: z.int(),
    type: z.string(),
    sha256: z.string().nullable().openapi({ description: "In hex; of what is stored, once it is." }),
    state: z.enum(["pending", "stored"]).openapi({ description: "`pending`: to be uploaded and completed." }),
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
      summary: "Announce a file, to upload it",
      description:
        "Its bytes are held from the tenant's storage. Send them with `upload.method` to `upload.url`, with exactly `upload.headers`, until `upload.expiresAt`; then complete it.",
      request: { body: jsonBody(createSchema) },
    },
    { 201: json(admittedSchema, "The file, and where to send it") },
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
      summary: "Say that a file is uploaded",
      description:
        "Size, type and checksum are compared with what was announced. If they differ the upload is given up: announce it again. Asked again, the answer is the same.",
      request: { params },
    },
    { 200: json(fileSchema, "The file as it is stored") },
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
    { 200: json(filePageSchema, "A page; `nextCursor` is null on the last one") },
    "invalid_input",
  ),
  get: route(
    "files:read",
    {
      method: "get",
      path: "/api/files/{id}",
      tags: ["Files"],
      operationId: "getFile",
      summary: "Read about a file",
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
      summary: "Get a file's address for download",
      description: "Whoever has the address can fetch the file until `expiresAt`. It counts as no visit of a link.",
      request: { params },
    },
    { 200: json(offerSchema, "The address") },
    "not_found",
  ),
  remove: route(
    "files:write",
    {
      method: "delete",
      path: "/api/files/{id}",
      tags: ["Files"],
      operationId: "deleteFile",
      summary: "Delete a file, or give up its upload",
      description: "Its bytes are given back. Links that lead to it answer 404 until they lead somewhere else.",
      request: { params },
    },
    { 204: { description: "Gone" } },
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
    await files.remove(c.get("caller").tenant.id, fileId(c.req.valid("param").id));
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
  if (id === undefined) throw new Problem("not_found", "There is no such file.");
  return id;
}
