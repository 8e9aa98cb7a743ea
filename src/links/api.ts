import { fromIso, toIso } from "../base/clock.ts";
import { invalid, Problem } from "../base/errors.ts";
import { type LinkId, parseId, type TenantId } from "../base/ids.ts";
import { invalidInput, problemBody } from "../http/problem.ts";
import { type Api, type Caller, json, jsonBody, line, lines, problemSchema, route, z } from "../http/route.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { choiceFields, showChoice, toChoice } from "./choice-schema.ts";
import { type Cursors, cursorMost } from "./cursor.ts";
import { destinationMost } from "./destination.ts";
import { type LinkQuery, linkSorts, positionOf } from "./find.ts";
import { type Link, type LinkFields, type LinkState, stateless } from "./link.ts";
import type { BulkResult, LinkChange, LinkInput, Links } from "./links.ts";

/** All routes of links, with their schemas. */
const destination = z.string().max(destinationMost + 1_000, "is far too long");

const fileId = z
  .string()
  .max(100)
  .refine((text) => parseId("file", text) !== undefined, {
    message: "is no file's id",
    params: { code: "unknown_file" },
  });

const fields = {
  url: destination
    .nullable()
    .openapi({ description: "Where the link leads: http or https, at most 2,048 characters." }),
  file: fileId.nullable().openapi({ description: "Instead of `url`: the stored file that the link leads to." }),
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
    domain: z.string().max(300).nullable().optional().openapi({
      description: "One of your verified domains. Null: the server's own. Left out: your default domain.",
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
const replaceSchema = z
  .strictObject(writable)
  .superRefine(oneDestination)
  .openapi("LinkReplacement", { example: { url: "https://example.com/new", tags: ["spring"] } });
const patchSchema = z
  .strictObject(writable)
  .superRefine(oneDestinationIfAny)
  .openapi("LinkPatch", { example: { title: "The spring campaign" } });

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
    // Not `nullable()`, which would make the object of that name nullable wherever it is meant.
    target: z
      .union([targetSchema, z.null()])
      .openapi({ description: "What was last found there. Null: nobody looked yet." }),
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

const fieldNames = Object.keys(linkSchema.shape);

const fieldsParam = z
  .string()
  .max(500)
  .transform((text) => text.split(","))
  .refine((names) => names.every((name) => fieldNames.includes(name)), {
    message: `names a field that a link does not have; there are ${fieldNames.join(", ")}`,
    params: { code: "unknown_field" },
  })
  .optional()
  .openapi({
    type: "string",
    description: "Only these fields of each link, with commas between: `id,code,url`.",
    example: "id,code,url",
  });

const moment = z.iso.datetime({ offset: true }).transform(fromIso).optional();
const someTags = z.array(z.string().min(1).max(50)).max(10);

const listSchema = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  cursor: z.string().max(cursorMost).optional().openapi({ description: "`nextCursor` of the page before." }),
  sort: z.enum(linkSorts).default("createdAt"),
  order: z.enum(["asc", "desc"]).default("desc"),
  tag: z
    .preprocess((given) => (typeof given === "string" ? [given] : given), someTags)
    .optional()
    .openapi({
      type: "array",
      items: { type: "string" },
      description: "Links with this tag; give it several times for several, at most 10.",
    }),
  match: z.enum(["all", "any"]).default("all").openapi({ description: "Whether a link must have all of the tags." }),
  status: z.enum(["active", "disabled"]).optional(),
  domain: z.string().max(300).optional().openapi({ description: "One of your domains, or the server's own." }),
  file: fileId.optional().openapi({ description: "Links that lead to this file." }),
  createdAfter: moment.openapi({ type: "string", format: "date-time" }),
  createdBefore: moment.openapi({ type: "string", format: "date-time" }),
  expiresBefore: moment.openapi({ type: "string", format: "date-time" }),
  search: line(100).optional().openapi({
    description: "Is in the code, address, title, notes or tags. Capital and small A to Z are the same.",
  }),
  fields: fieldsParam,
});

const bulkMost = 1_000;
const bulkSchema = z
  .strictObject({
    links: z
      .array(z.unknown())
      .min(1)
      .max(bulkMost)
      .openapi({
        description: "1 to 1,000 elements, each as in POST /api/links.",
        items: { $ref: "#/components/schemas/NewLink" },
      }),
    atomic: z.boolean().default(false).openapi({ description: "All or nothing: one bad element, and none is made." }),
  })
  .openapi("BulkLinks", {
    example: { links: [{ url: "https://example.com/1" }, { url: "https://example.com/2" }] },
  });
const bulkResultSchema = z
  .object({
    created: z.int(),
    failed: z.int(),
    results: z.array(z.object({ index: z.int(), link: linkSchema.optional(), problem: problemSchema.optional() })),
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
      operationId: "createLink",
      summary: "Shorten an address",
      "x-repeatable": true,
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
      operationId: "createLinks",
      summary: "Shorten up to 1,000 addresses",
      "x-repeatable": true,
      description:
        "Each is taken or refused on its own, and the results stand in the order of the request. With `atomic` all are taken, or the answer is a problem whose `errors` name the bad elements, and nothing was made or spent.",
      request: { body: jsonBody(bulkSchema) },
    },
    { 200: json(bulkResultSchema, "One result for each") },
    "invalid_input",
    "bulk_refused",
    "limit_reached",
  ),
  list: route(
    "links:read",
    {
      method: "get",
      path: "/api/links",
      tags: ["Links"],
      operationId: "listLinks",
      summary: "List links, filtered, searched and sorted",
      description:
        "Newest first if nothing else is said. Whatever is not the plain list reads all links of the tenant in the worst case.",
      request: { query: listSchema },
    },
    { 200: json(pageSchema, "A page; `nextCursor` is null on the last one. With `fields` each link has only those") },
    "invalid_input",
  ),
  get: route(
    "links:read",
    {
      method: "get",
      path: "/api/links/{id}",
      tags: ["Links"],
      operationId: "getLink",
      summary: "Read a link",
      request: { params: idParam, query: z.strictObject({ fields: fieldsParam }) },
    },
    { 200: json(linkSchema, "The link; with `fields` only those of it") },
    "not_found",
    "invalid_input",
  ),
  patch: route(
    "links:write",
    {
      method: "patch",
      path: "/api/links/{id}",
      tags: ["Links"],
      operationId: "updateLink",
      summary: "Change some fields of a link",
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
      operationId: "replaceLink",
      summary: "Set all fields of a link",
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
      operationId: "deleteLink",
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
  readonly find: (tenant: TenantId, query: LinkQuery) => Promise<readonly Link[]>;
  readonly cursors: Cursors;
  /** Many rows at once, away from the thread that serves. */
  readonly createMany: (caller: Caller, inputs: readonly LinkInput[], atomic: boolean) => Promise<BulkResult[]>;
  /** Told after a tenant has made links. */
  readonly made: (tenant: Tenant) => void;
  readonly statesOf: (links: readonly Link[]) => Promise<Map<LinkId, LinkState>>;
  /** Has the titles of these fetched soon. */
  readonly wantTitles: (links: readonly Link[]) => Promise<void>;
}

export function linkRoutes(api: Api, settings: LinkApiSettings): void {
  const { links, baseUrl, createMany, find, cursors, made, statesOf, wantTitles } = settings;
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
    const id = c.get("once")?.id("link");
    const link = await links.create(tenant, { ...toInput(c.req.valid("json")), ...(id && { id }) }, "tenant");
    made(tenant);
    await wantTitle(link, c.req.valid("json"));
    c.header("location", `/api/links/${link.id}`);
    c.header("etag", etag(link));
    return c.json(show(link), 201);
  });

  api.openapi(routes.bulk, async (c) => {
    const { links: elements, atomic } = c.req.valid("json");
    const given = elements.map((element) => bulkElementSchema.safeParse(element));
    const once = c.get("once");
    const good = given.flatMap((element, place) => {
      if (!element.success) return [];
      return [{ ...toInput(element.data), ...(once && { id: once.id("link", place) }) }];
    });
    // What cannot even be read keeps an atomic request from being tried.
    const written = (
      atomic && good.length < given.length ? [] : await createMany(c.get("caller"), good, atomic)
    ).values();
    const outcomes = given.map((element): BulkResult => {
      if (!element.success) return { problem: invalidInput(element.error, "link") };
      return written.next().value ?? { problem: new Problem("bulk_refused", "Nothing was made.") };
    });
    if (atomic) refuseUnlessAll(outcomes);
    made(c.get("caller").tenant);
    await wantTitles(
      outcomes.flatMap((outcome, i) => {
        const wanted = given[i]?.data?.fetchTitle ?? false;
        return wanted && "link" in outcome && outcome.link.title === null ? [outcome.link] : [];
      }),
    );
    const results = outcomes.map((outcome, index) =>
      "link" in outcome ? { index, link: show(outcome.link) } : { index, problem: problemBody(outcome.problem) },
    );
    const created = results.filter((result) => "link" in result).length;
    if (created === 0) once?.forget();
    return c.json({ created, failed: results.length - created, results }, 200);
  });

  api.openapi(routes.list, async (c) => {
    const { cursor, fields, tag, domain, file, ...rest } = c.req.valid("query");
    const tenant = c.get("caller").tenant.id;
    const query = {
      ...rest,
      tags: tag,
      domain: domain === undefined ? undefined : links.domainOf(domain),
      file: file === undefined ? undefined : parseId("file", file),
      limit: rest.limit + 1,
    };
    const after = cursor === undefined ? undefined : cursors.read(tenant, query, cursor);
    const found = await find(tenant, { ...query, after });
    const items = found.slice(0, rest.limit);
    const last = found.length > items.length ? items.at(-1) : undefined;
    const nextCursor = last ? cursors.write(tenant, query, positionOf(query.sort, last)) : null;
    return c.json({ items: (await showAll(items)).map((link) => only(link, fields)), nextCursor }, 200);
  });

  api.openapi(routes.get, async (c) => {
    const link = await links.get(c.get("caller").tenant.id, linkId(c.req.valid("param").id));
    c.header("etag", etag(link));
    return c.json(only(await showKnown(link), c.req.valid("query").fields), 200);
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

/** What was asked for of it, which its schema leaves open. */
function only<Whole extends object>(whole: Whole, fields: readonly string[] | undefined): Whole {
  if (fields === undefined) return whole;
  return Object.fromEntries(Object.entries(whole).filter(([name]) => fields.includes(name))) as Whole;
}

/** One problem for all: what is wrong with which element. */
function refuseUnlessAll(outcomes: readonly BulkResult[]): void {
  const bad = [...outcomes.entries()].flatMap(([place, outcome]) =>
    "problem" in outcome && outcome.problem.code !== "bulk_refused" ? [{ place, problem: outcome.problem }] : [],
  );
  const [first] = bad;
  if (first === undefined) return;
  // Not about an element, but about the tenant or the moment.
  if (first.problem.more.errors === undefined) throw first.problem;
  const errors = bad.slice(0, errorsMost).flatMap(({ place, problem }) =>
    (problem.more.errors ?? []).map((error) => ({
      ...error,
      field: ["links", place, error.field].filter((part) => part !== "").join("."),
    })),
  );
  const detail = `Nothing was made: ${bad.length} of ${outcomes.length} cannot be. The first is links.${first.place}: ${first.problem.detail}`;
  throw new Problem("bulk_refused", detail, { errors });
}

const errorsMost = 100;

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
