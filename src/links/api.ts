import { invalid, Problem } from "../base/errors.ts";
import { type LinkId, parseId, type TenantId } from "../base/ids.ts";
import type { Shares } from "../base/shares.ts";
import type { Pages } from "../http/pagination.ts";
import { invalidInput, problemBody } from "../http/problem.ts";
import { type Api, actorOf, type Caller, json, jsonBody, plainFirst, route, z } from "../http/route.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { hitsWithin, type Link, type LinkState, stateless } from "./link.ts";
import type { BulkResult, LinkInput, Links } from "./links.ts";
import { isPlainLink } from "./plain-link.ts";
import { type LinkQuery, type ListPosition, positionOf } from "./read/find.ts";
import {
  bulkElementSchema,
  bulkResultSchema,
  bulkSchema,
  createSchema,
  fieldsParam,
  idParam,
  ifMatch,
  linkPageSchema,
  linkSchema,
  listSchema,
  patchSchema,
  replaceSchema,
  showLink,
  toFields,
  toInput,
  toLinkQuery,
  toNewLink,
} from "./schemas.ts";

/** All routes of links. */
const routes = {
  create: route(
    "links:write",
    {
      method: "post",
      path: "/api/links",
      tags: ["Links"],
      operationId: "createLink",
      summary: "Create a link",
      "x-repeatable": true,
      request: { body: jsonBody(plainFirst(createSchema, isPlainLink)) },
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
      summary: "Create up to 1,000 links",
      "x-repeatable": true,
      description:
        "Each element is created or rejected separately; the results are in the order of the request. With `atomic`, either all are created, or the response is a problem whose `errors` name the invalid elements and nothing is created or counted.",
      request: { body: jsonBody(bulkSchema) },
    },
    { 200: json(bulkResultSchema, "One result per element") },
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
      summary: "List, filter, search and sort links",
      description: "Newest first by default. Any other order, and any filter, may read all links of the workspace.",
      request: { query: listSchema },
    },
    {
      200: json(
        linkPageSchema,
        "A page; `nextCursor` is null on the last page. With `fields`, each link has only those fields",
      ),
    },
    "invalid_input",
  ),
  get: route(
    "links:read",
    {
      method: "get",
      path: "/api/links/{id}",
      tags: ["Links"],
      operationId: "getLink",
      summary: "Get a link",
      request: { params: idParam, query: z.strictObject({ fields: fieldsParam }) },
    },
    { 200: json(linkSchema, "The link; with `fields`, only those fields") },
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
      summary: "Update some fields of a link",
      request: { params: idParam, headers: ifMatch, body: jsonBody(patchSchema) },
    },
    { 200: json(linkSchema, "The updated link") },
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
      summary: "Replace all fields of a link",
      request: { params: idParam, headers: ifMatch, body: jsonBody(replaceSchema) },
    },
    { 200: json(linkSchema, "The updated link") },
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
      description:
        "It moves to the trash, and its code answers 404. It can be restored for 30 days; its code stays taken. See `/api/trash`.",
      request: { params: idParam, headers: ifMatch },
    },
    { 204: { description: "Deleted" } },
    "not_found",
    "version_conflict",
  ),
};

type Place = readonly [value: ListPosition["value"], id: ListPosition["id"]];

export interface LinkApiSettings {
  readonly links: Links;
  readonly baseUrl: string;
  readonly now: () => number;
  readonly find: (tenant: TenantId, query: LinkQuery) => Promise<readonly Link[]>;
  readonly pages: Pages;
  /** Callers with large requests take turns. */
  readonly large: Shares;
  /** Many rows at once, off the serving thread. */
  readonly createMany: (caller: Caller, inputs: readonly LinkInput[], atomic: boolean) => Promise<BulkResult[]>;
  /** Called after a tenant has created links. */
  readonly made: (tenant: Tenant) => void;
  readonly statesOf: (links: readonly Link[]) => Promise<Map<LinkId, LinkState>>;
  /** Requests that the titles of these links are fetched soon. */
  readonly wantTitles: (links: readonly Link[]) => Promise<void>;
}

export function linkRoutes(api: Api, settings: LinkApiSettings): void {
  const { links, baseUrl, large, createMany, find, pages, made, statesOf, wantTitles, now } = settings;
  /** For a new link, about which nothing else is known yet. */
  const show = (link: Link, { limits }: Tenant) =>
    showLink(link, baseUrl, { ...stateless, hitsLimit: hitsWithin(link.hitsPerMonth, limits.hitsPerLinkPerMonth) });
  const showKnown = async (link: Link) => showLink(link, baseUrl, (await statesOf([link])).get(link.id));
  const wantTitle = (link: Link, { fetchTitle = false }: { fetchTitle?: boolean | undefined }) =>
    fetchTitle && link.title === null ? wantTitles([link]) : undefined;

  api.openapi(routes.create, async (c) => {
    const { tenant } = c.get("caller");
    const id = c.get("once")?.id("link");
    const by = actorOf(c.get("caller"));
    const link = await links.create(tenant, { ...toNewLink(c.req.valid("json")), ...(id && { id }) }, by);
    made(tenant);
    await wantTitle(link, c.req.valid("json"));
    c.header("location", `/api/links/${link.id}`);
    c.header("etag", etag(link));
    return c.json(link.file === null ? show(link, tenant) : await showKnown(link), 201);
  });

  // Parsing a thousand links blocks this thread longer than any other request: so callers take turns here too.
  api.openapi(routes.bulk, (c) => {
    const work = async () => {
      const { links: elements, atomic } = c.req.valid("json");
      const given = elements.map((element) => bulkElementSchema.safeParse(element));
      const once = c.get("once");
      const good = given.flatMap((element, place) => {
        if (!element.success) return [];
        return [{ ...toInput(element.data), ...(once && { id: once.id("link", place) }) }];
      });
      // In an atomic request, nothing is tried if an element cannot be read.
      const written = (
        atomic && good.length < given.length ? [] : await createMany(c.get("caller"), good, atomic)
      ).values();
      const outcomes = given.map((element): BulkResult => {
        if (!element.success) return { problem: invalidInput(element.error, "link") };
        return written.next().value ?? { problem: new Problem("bulk_refused", "Nothing was created.") };
      });
      if (atomic) refuseUnlessAll(outcomes);
      made(c.get("caller").tenant);
      await wantTitles(
        outcomes.flatMap((outcome, i) => {
          const wanted = given[i]?.data?.fetchTitle ?? false;
          return wanted && "link" in outcome && outcome.link.title === null ? [outcome.link] : [];
        }),
      );
      const toFiles = outcomes.flatMap((one) => ("link" in one && one.link.file !== null ? [one.link] : []));
      const states = await statesOf(toFiles);
      const showOne = (link: Link) => {
        const state = states.get(link.id);
        return state === undefined ? show(link, c.get("caller").tenant) : showLink(link, baseUrl, state);
      };
      const results = outcomes.map((outcome, index) =>
        "link" in outcome ? { index, link: showOne(outcome.link) } : { index, problem: problemBody(outcome.problem) },
      );
      const created = results.filter((result) => "link" in result).length;
      if (created === 0) once?.forget();
      return c.json({ created, failed: results.length - created, results }, 200);
    };
    return large.run(c.get("caller").tenant.id, work, { signal: c.req.raw.signal });
  });

  api.openapi(routes.list, async (c) => {
    const { cursor, fields, limit, ...asked } = c.req.valid("query");
    const { id: tenant, limits } = c.get("caller").tenant;
    const query = toLinkQuery(asked, limits, now(), links.domainOf);
    let states = new Map<LinkId, LinkState>();
    const { items, nextCursor } = await pages.page(
      { tenant, name: `links by ${query.sort} ${query.order}` },
      { limit, cursor },
      async (most, after: Place | undefined) => {
        const found = await find(tenant, { ...query, limit: most, after: after && { value: after[0], id: after[1] } });
        states = await statesOf(found);
        return found;
      },
      (link): Place => {
        const { value, id } = positionOf(query.sort, link, states.get(link.id));
        return [value, id];
      },
    );
    const shown = items.map((link) => showLink(link, baseUrl, states.get(link.id)));
    return c.json({ items: shown.map((link) => only(link, fields)), nextCursor }, 200);
  });

  api.openapi(routes.get, async (c) => {
    const link = await links.get(c.get("caller").tenant.id, linkId(c.req.valid("param").id));
    c.header("etag", etag(link));
    return c.json(only(await showKnown(link), c.req.valid("query").fields), 200);
  });

  api.openapi(routes.patch, async (c) => {
    const { id } = c.req.valid("param");
    const change = toFields(c.req.valid("json"));
    const caller = c.get("caller");
    const expected = expectedVersion(c.req.valid("header"));
    const link = await links.patch(caller.tenant, linkId(id), change, actorOf(caller), expected);
    await wantTitle(link, c.req.valid("json"));
    c.header("etag", etag(link));
    return c.json(await showKnown(link), 200);
  });

  api.openapi(routes.replace, async (c) => {
    const { id } = c.req.valid("param");
    const input = toInput(c.req.valid("json"));
    const caller = c.get("caller");
    const expected = expectedVersion(c.req.valid("header"));
    const link = await links.replace(caller.tenant, linkId(id), input, actorOf(caller), expected);
    await wantTitle(link, c.req.valid("json"));
    c.header("etag", etag(link));
    return c.json(await showKnown(link), 200);
  });

  api.openapi(routes.remove, async (c) => {
    const { id } = c.req.valid("param");
    const caller = c.get("caller");
    await links.remove(caller.tenant.id, linkId(id), actorOf(caller), expectedVersion(c.req.valid("header")));
    return c.body(null, 204);
  });
}

/** Only the requested fields, which the schema leaves open. */
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
  const detail = `Nothing was created: ${bad.length} of ${outcomes.length} elements are invalid. The first is links.${first.place}: ${first.problem.detail}`;
  throw new Problem("bulk_refused", detail, { errors });
}

const errorsMost = 100;

export const etag = (link: Link): string => `"${link.version}"`;

export function expectedVersion(headers: { "if-match"?: string | undefined }): number | undefined {
  const text = headers["if-match"]?.trim();
  if (text === undefined || text === "*") return undefined;
  const version = /^(?:W\/)?"?(\d{1,15})"?$/.exec(text)?.[1];
  if (version !== undefined) return Number(version);
  throw invalid("If-Match", "bad_version", 'Must be the version you read, as in the ETag: "3".');
}

export function linkId(text: string): LinkId {
  const id = parseId("link", text);
  if (id === undefined) throw new Problem("not_found", "No such link.");
  return id;
}
