import { fromIso, toIso } from "../base/clock.ts";
import { invalid, Problem } from "../base/errors.ts";
import { type LinkId, parseId } from "../base/ids.ts";
import { invalidInput, problemBody } from "../http/problem.ts";
import { type Api, type Caller, json, jsonBody, line, lines, problemSchema, route, z } from "../http/route.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { choiceFields, showChoice, toChoice } from "./choice-schema.ts";
import { destinationMost } from "./destination.ts";
import { type Link, type LinkFields, type LinkState, stateless } from "./link.ts";
import type { BulkResult, LinkChange, LinkInput, Links } from "./links.ts";

/** All routes of links, with their schemas. */
const destination = z.string().max(destinationMost + 1_000, "is far too long");

const fields = {
  url: destination
    .nullable()
    .openapi({ description: "Where the link leads: http or https, at most 2,048 characters." }),
  file: z
    .string()
    .max(100)
    .refine((text) => parseId("file", text) !== undefined, {
      message: "is no file's id",
      params: { code: "unknown_file" },
    })
    .nullable()
    .openapi({ description: "Instead of `url`: the stored file that the link leads to." }),
  permanent: z
    .boolean()
    .openapi({ description: "Answer 301 instead of 302. Browsers then remember it for 90 seconds." }),
  status: z.enum(["active", "disabled"]),
  expiresAt: z.iso.datetime({ offset: true }).nullable().openapi({ description: "Null: never. Left out: in a year." }),
  title: line(200).nullable(),
  notes: lines(2_000).nullable(),
  tags: z
    .array(line(50))
    .max(20)
    .refine((tags) => new Set(tags).size === tags.length, {
      message: "has a tag twice",
      params: { code: "duplicate" },
    }),
  fallbackUrl: destination.nullable().openapi({ description: "Where visitors go when the link is expired or spent." }),
  hitsPerMonth: z.int().min(1).max(1_000_000_000).nullable().openapi({ description: "Null: what the plan gives." }),
  ...choiceFields,
  password: z
    .string()
    .min(4)
    .max(200)
    .refine((text) => text.isWellFormed(), { message: "is not valid Unicode", params: { code: "bad_unicode" } })
    .nullable()
    .openapi({
      description: "Asked of every visitor. Never shown again; null takes it away, leaving it out keeps it.",
    }),
};

const fetchTitle = z.boolean().optional().openapi({
  description: "If it has no title, take the one of the page that it leads to: soon after, if the operator allows it.",
});

const writable = { ...z.object(fields).partial().shape, fetchTitle };

interface Destined {
  readonly url?: string | null | undefined;
  readonly file?: string | null | undefined;
}

type Refine = (value: Destined, context: z.core.$RefinementCtx<Destined>) => void;

/** A link leads to an address or to a file. */
const oneDestination: Refine = ({ url, file }, { addIssue }) => {
  if (url && file) {
    const message = "is given besides url; a link leads to one of them";
    addIssue({ code: "custom", path: ["file"], message, params: { code: "url_and_file" } });
  } else if (url == null && file == null) {
    addIssue({ code: "custom", path: ["url"], message: "This is needed.", params: { code: "required" } });
  }
};

/** The same for a change, which may leave both as they are. */
const oneDestinationIfAny: Refine = (value, context) => {
  if (value.url !== undefined || value.file !== undefined) oneDestination(value, context);
};

const createSchema = z
  .strictObject({
    ...writable,
    code: z.string().max(100).optional().openapi({
      description: "3 to 64 letters, digits, - and _; case matters. Left out: seven characters are generated.",
    }),
    domain: z.string().max(300).optional().openapi({
      description: "One of your verified domains, or the server's own. Left out: your default domain.",
    }),
    private: z.boolean().optional().openapi({
      description: "Twelve characters of chance instead of seven, which nobody finds by trying.",
    }),
  })
  .superRefine(oneDestination)
  .openapi("NewLink", { example: { url: "https://example.com/a/long/page" } });
const bulkElementSchema = createSchema.refine(({ password }) => password === undefined || password === null, {
  path: ["password"],
  message: "Links with a password are made one by one.",
  params: { code: "not_in_bulk" },
});
const replaceSchema = z.strictObject(writable).superRefine(oneDestination).openapi("LinkReplacement");
const patchSchema = z.strictObject(writable).superRefine(oneDestinationIfAny).openapi("LinkPatch");

const targetSchema = z
  .object({
    state: z.enum(["ok", "failing", "dead", "unchecked"]).openapi({
      description: "`dead`: failing for days. `unchecked`: this server does not ask there, `reason` says why.",
    }),
    checkedAt: z.string(),
    httpStatus: z.int().nullable(),
    reason: z.string().nullable(),
  })
  .openapi("LinkTarget");

const linkSchema = z
  .object({
    id: z.string(),
    domain: z.string(),
    code: z.string(),
    shortUrl: z.string(),
    url: z.string().nullable().openapi({ description: "Null when it leads to a file." }),
    file: z.string().nullable().openapi({ description: "Null when it leads to an address." }),
    permanent: z.boolean(),
    status: z.enum(["active", "disabled"]),
    expiresAt: z.string().nullable(),
    title: z.string().nullable(),
    notes: z.string().nullable(),
    tags: z.array(z.string()),
    fallbackUrl: z.string().nullable(),
    hitsPerMonth: z.int().nullable(),
    ...choiceFields,
    password: z.boolean().openapi({ description: "Whether visitors are asked for one." }),
    target: targetSchema.nullable().openapi({ description: "What was last found there. Null: nobody looked yet." }),
    suspended: z
      .string()
      .nullable()
      .openapi({ description: "Why the operator stopped it; it answers 451 until then." }),
    version: z.int(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .openapi("Link");

const pageSchema = z.object({ items: z.array(linkSchema), nextCursor: z.string().nullable() }).openapi("LinkPage");

const bulkMost = 1_000;
const bulkSchema = z.strictObject({ links: z.array(z.unknown()).min(1).max(bulkMost) }).openapi("BulkLinks", {
  description: "Each element as in POST /api/links, but without a password: those take time, and are made one by one.",
});
const bulkResultSchema = z
  .object({
    created: z.int(),
    failed: z.int(),
    results: z.array(z.object({ link: linkSchema.optional(), problem: problemSchema.optional() })),
  })
  .openapi("BulkResult");

const idParam = z.object({ id: z.string().openapi({ example: "lnk_01k9a0b1c2d3e4f5g6h7j8k9m0" }) });
const ifMatch = z.object({
  "if-match": z.string().optional().openapi({ description: 'The version you saw, as in the ETag: "3".' }),
});

const routes = {
  create: route(
    "links:write",
    {
      method: "post",
      path: "/api/links",
      tags: ["Links"],
      summary: "Shorten an address",
      request: { body: jsonBody(createSchema) },
    },
    { 201: json(linkSchema, "The new link") },
    "invalid_input",
    "code_taken",
    "limit_reached",
  ),
  bulk: route(
    "links:write",
    {
      method: "post",
      path: "/api/links/bulk",
      tags: ["Links"],
      summary: "Shorten up to 1,000 addresses",
      description: "Each is taken or refused on its own; the results stand in the order of the request.",
      request: { body: jsonBody(bulkSchema) },
    },
    { 200: json(bulkResultSchema, "One result for each") },
    "invalid_input",
  ),
  list: route(
    "links:read",
    {
      method: "get",
      path: "/api/links",
      tags: ["Links"],
      summary: "List links, newest first",
      request: {
        query: z.strictObject({
          limit: z.coerce.number().int().min(1).max(100).default(50),
          cursor: z.string().max(64).optional().openapi({ description: "`nextCursor` of the page before." }),
        }),
      },
    },
    { 200: json(pageSchema, "A page; `nextCursor` is null on the last one") },
    "invalid_input",
  ),
  get: route(
    "links:read",
    { method: "get", path: "/api/links/{id}", tags: ["Links"], summary: "Read a link", request: { params: idParam } },
    { 200: json(linkSchema, "The link") },
    "not_found",
  ),
  patch: route(
    "links:write",
    {
      method: "patch",
      path: "/api/links/{id}",
      tags: ["Links"],
      summary: "Change some fields",
      request: { params: idParam, headers: ifMatch, body: jsonBody(patchSchema) },
    },
    { 200: json(linkSchema, "The link as it is now") },
    "not_found",
    "invalid_input",
    "version_conflict",
  ),
  replace: route(
    "links:write",
    {
      method: "put",
      path: "/api/links/{id}",
      tags: ["Links"],
      summary: "Set all fields",
      request: { params: idParam, headers: ifMatch, body: jsonBody(replaceSchema) },
    },
    { 200: json(linkSchema, "The link as it is now") },
    "not_found",
    "invalid_input",
    "version_conflict",
  ),
  remove: route(
    "links:write",
    {
      method: "delete",
      path: "/api/links/{id}",
      tags: ["Links"],
      summary: "Delete a link",
      description: "Its code answers 404 from then on, and nobody but you can take it again.",
      request: { params: idParam, headers: ifMatch },
    },
    { 204: { description: "Gone" } },
    "not_found",
    "version_conflict",
  ),
};

export interface LinkApiSettings {
  readonly links: Links;
  readonly baseUrl: string;
  /** Many rows at once, away from the thread that serves. */
  readonly createMany: (caller: Caller, inputs: readonly LinkInput[]) => Promise<BulkResult[]>;
  /** Told after a tenant has made links. */
  readonly made: (tenant: Tenant) => void;
  readonly statesOf: (links: readonly Link[]) => Promise<Map<LinkId, LinkState>>;
  /** Has the titles of these fetched soon. */
  readonly wantTitles: (links: readonly Link[]) => Promise<void>;
}

export function linkRoutes(api: Api, settings: LinkApiSettings): void {
  const { links, baseUrl, createMany, made, statesOf, wantTitles } = settings;
  /** A new one: nobody knows anything about it yet. */
  const show = (link: Link) => showLink(link, baseUrl);
  const showAll = async (some: readonly Link[]) => {
    const states = await statesOf(some);
    return some.map((link) => showLink(link, baseUrl, states.get(link.id)));
  };
  const showKnown = async (link: Link) => showLink(link, baseUrl, (await statesOf([link])).get(link.id));
  const wantTitle = (link: Link, { fetchTitle = false }: { fetchTitle?: boolean | undefined }) =>
    fetchTitle && link.title === null ? wantTitles([link]) : undefined;

  api.openapi(routes.create, async (c) => {
    const { tenant } = c.get("caller");
    const link = await links.create(tenant, toInput(c.req.valid("json")), "tenant");
    made(tenant);
    await wantTitle(link, c.req.valid("json"));
    c.header("location", `/api/links/${link.id}`);
    c.header("etag", etag(link));
    return c.json(show(link), 201);
  });

  api.openapi(routes.bulk, async (c) => {
    const given = c.req.valid("json").links.map((element) => bulkElementSchema.safeParse(element));
    const good = given.flatMap((element) => (element.success ? [toInput(element.data)] : []));
    const outcomes = await createMany(c.get("caller"), good);
    made(c.get("caller").tenant);
    const asking = given.flatMap((element) => (element.success ? [element.data.fetchTitle ?? false] : []));
    await wantTitles(
      outcomes.flatMap((one, i) => ("link" in one && asking[i] && one.link.title === null ? [one.link] : [])),
    );
    const written = outcomes.values();
    const results = given.map((element) => {
      if (!element.success) return { problem: problemBody(invalidInput(element.error, "link")) };
      const result = written.next().value;
      if (result === undefined) throw new Error("fewer results than links");
      return "link" in result ? { link: show(result.link) } : { problem: problemBody(result.problem) };
    });
    const created = results.filter((result) => "link" in result).length;
    return c.json({ created, failed: results.length - created, results }, 200);
  });

  api.openapi(routes.list, async (c) => {
    const { limit, cursor } = c.req.valid("query");
    const before = cursor === undefined ? undefined : parseId("link", cursor);
    if (cursor !== undefined && before === undefined) {
      throw invalid(
        "cursor",
        "bad_cursor",
        "This is not a cursor. Use `nextCursor` of the page before, or leave it out.",
      );
    }
    const page = await links.list(c.get("caller").tenant.id, limit, before);
    return c.json({ items: await showAll(page.items), nextCursor: page.nextCursor }, 200);
  });

  api.openapi(routes.get, async (c) => {
    const link = await links.get(c.get("caller").tenant.id, linkId(c.req.valid("param").id));
    c.header("etag", etag(link));
    return c.json(await showKnown(link), 200);
  });

  api.openapi(routes.patch, async (c) => {
    const { id } = c.req.valid("param");
    const change = toFields(c.req.valid("json"));
    const link = await links.patch(c.get("caller").tenant, linkId(id), change, expectedVersion(c.req.valid("header")));
    await wantTitle(link, c.req.valid("json"));
    c.header("etag", etag(link));
    return c.json(await showKnown(link), 200);
  });

  api.openapi(routes.replace, async (c) => {
    const { id } = c.req.valid("param");
    const input = toInput(c.req.valid("json"));
    const link = await links.replace(c.get("caller").tenant, linkId(id), input, expectedVersion(c.req.valid("header")));
    await wantTitle(link, c.req.valid("json"));
    c.header("etag", etag(link));
    return c.json(await showKnown(link), 200);
  });

  api.openapi(routes.remove, async (c) => {
    const { id } = c.req.valid("param");
    await links.remove(c.get("caller").tenant.id, linkId(id), expectedVersion(c.req.valid("header")));
    return c.body(null, 204);
  });
}

/** A link as the API and the command line show it. */
export function showLink(link: Link, baseUrl: string, { target, suspended }: LinkState = stateless) {
  const { tenantId: _, url, expiresAt, createdAt, updatedAt, ...rest } = link;
  const origin = link.domain === "" ? baseUrl : `${new URL(baseUrl).protocol}//${link.domain}`;
  return {
    ...rest,
    url: link.file === null ? url : null,
    domain: new URL(origin).host,
    shortUrl: `${origin}/${link.code}`,
    tags: [...link.tags],
    ...showChoice(link),
    expiresAt: expiresAt === null ? null : toIso(expiresAt),
    target: target && { ...target, checkedAt: toIso(target.checkedAt) },
    suspended,
    createdAt: toIso(createdAt),
    updatedAt: toIso(updatedAt),
  };
}

/** The same rules for those who do not come through HTTP. */
export function parseNewLink(sent: unknown): LinkInput {
  const parsed = createSchema.safeParse(sent);
  if (!parsed.success) throw invalidInput(parsed.error, "link");
  return toInput(parsed.data);
}

export function parseLinkChange(sent: unknown): LinkChange {
  const parsed = patchSchema.safeParse(sent);
  if (!parsed.success) throw invalidInput(parsed.error, "link");
  return toFields(parsed.data);
}

type Sent = z.infer<typeof patchSchema>;

function toFields(sent: Sent): LinkChange {
  const { expiresAt, url, file, rules, split, utm, forwardQuery, fetchTitle: _, ...rest } = sent;
  const fields = {
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
    ...destinationOf(url, file),
    ...toChoice({ rules, split, utm, forwardQuery }),
  };
  return expiresAt === undefined ? fields : { ...fields, expiresAt: expiresAt === null ? null : fromIso(expiresAt) };
}

function toInput(sent: z.infer<typeof createSchema>): LinkInput {
  const { code, domain, private: hidden, ...rest } = sent;
  return {
    ...toFields(rest),
    ...(code !== undefined && { code }),
    ...(domain !== undefined && { domain }),
    ...(hidden && { private: true }),
  };
}

/** What was not given stays as it is; otherwise the one takes the other's place. */
function destinationOf(url: string | null | undefined, file: string | null | undefined): Partial<LinkFields> {
  if (url === undefined && file === undefined) return {};
  const id = file == null ? undefined : parseId("file", file);
  return id === undefined ? { url: url ?? "", file: null } : { url: "", file: id };
}

const etag = (link: Link): string => `"${link.version}"`;

function expectedVersion(headers: { "if-match"?: string | undefined }): number | undefined {
  const text = headers["if-match"]?.trim();
  if (text === undefined || text === "*") return undefined;
  const version = /^(?:W\/)?"?(\d{1,15})"?$/.exec(text)?.[1];
  if (version !== undefined) return Number(version);
  throw invalid("If-Match", "bad_version", 'If-Match must be the version you saw, as in the ETag: "3".');
}

export function linkId(text: string): LinkId {
  const id = parseId("link", text);
  if (id === undefined) throw new Problem("not_found", "There is no such link.");
  return id;
}
