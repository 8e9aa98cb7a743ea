import { toIso } from "../base/clock.ts";
import { type Pages, pageParams, pageSchema } from "../http/pagination.ts";
import { type Api, actorOf, json, jsonBody, route, z } from "../http/route.ts";
import { type Domain, tokenName, tokenPath, tokenText } from "./domain.ts";
import type { Domains } from "./domains.ts";
import type { DomainFields } from "./store.ts";

const domainSchema = z
  .object({
    host: z.string(),
    state: z.enum(["pending", "verified"]),
    isDefault: z.boolean(),
    rootUrl: z.string().nullable(),
    missingUrl: z.string().nullable(),
    rootBlocked: z.boolean().openapi({
      description: "True if the operator's blocklist contains the host of `rootUrl`; it is then not used.",
    }),
    missingBlocked: z.boolean().openapi({ description: "The same for `missingUrl`." }),
    proof: z
      .object({
        txt: z.object({ name: z.string(), value: z.string() }),
        file: z.object({ url: z.string(), content: z.string() }),
      })
      .nullable()
      .openapi({ description: "Publish one of the two, then verify the domain. Null once verified." }),
    createdAt: z.string(),
    verifiedAt: z.string().nullable(),
  })
  .openapi("Domain");

const newDomainSchema = z
  .strictObject({ host: z.string().max(300).openapi({ description: "Host name only: no https://, no path." }) })
  .openapi("NewDomain", { example: { host: "links.example.com" } });

const target = (description: string) => z.string().max(4_000).nullable().optional().openapi({ description });

const changeSchema = z
  .strictObject({
    isDefault: z.boolean().optional().openapi({ description: "Create new links on this domain by default." }),
    rootUrl: target("Where the bare domain redirects. Null: a plain page."),
    missingUrl: target("Where unknown codes redirect. Null: the default 404 page."),
  })
  .openapi("DomainChange", { example: { rootUrl: "https://example.com" } });

const hostParam = z.object({ host: z.string() });
const tags = ["Domains"];

const routes = {
  list: route(
    "links:read",
    {
      method: "get",
      path: "/api/domains",
      tags,
      operationId: "listDomains",
      summary: "List domains, oldest first",
      request: { query: z.strictObject(pageParams) },
    },
    { 200: json(pageSchema(domainSchema, "DomainPage"), "A page; `nextCursor` is null on the last page") },
    "invalid_input",
  ),
  add: route(
    "admin",
    {
      method: "post",
      path: "/api/domains",
      tags,
      operationId: "addDomain",
      "x-repeatable": true,
      summary: "Add a custom domain",
      description: "The response contains the records that verify the domain.",
      request: { body: jsonBody(newDomainSchema) },
    },
    { 201: json(domainSchema, "The domain, not verified yet") },
    "invalid_input",
    "name_taken",
    "collection_full",
  ),
  get: route(
    "links:read",
    {
      method: "get",
      path: "/api/domains/{host}",
      tags,
      operationId: "getDomain",
      summary: "Get a domain",
      request: { params: hostParam },
    },
    { 200: json(domainSchema, "The domain") },
    "not_found",
  ),
  verify: route(
    "admin",
    {
      method: "post",
      path: "/api/domains/{host}/verify",
      tags,
      operationId: "verifyDomain",
      "x-repeatable": true,
      summary: "Verify a domain",
      description: "Checks the TXT record, then the file. Once verified, links can be created on the domain.",
      request: { params: hostParam },
    },
    { 200: json(domainSchema, "The verified domain") },
    "not_found",
    "domain_unproven",
    "domain_taken",
  ),
  change: route(
    "admin",
    {
      method: "patch",
      path: "/api/domains/{host}",
      tags,
      operationId: "updateDomain",
      summary: "Update a domain",
      request: { params: hostParam, body: jsonBody(changeSchema) },
    },
    { 200: json(domainSchema, "The updated domain") },
    "not_found",
    "invalid_input",
  ),
  remove: route(
    "admin",
    {
      method: "delete",
      path: "/api/domains/{host}",
      tags,
      operationId: "removeDomain",
      summary: "Remove a domain",
      description: "Only possible when the domain has no links. Afterwards another workspace can verify it.",
      request: { params: hostParam },
    },
    { 204: { description: "Removed" } },
    "not_found",
    "domain_in_use",
  ),
};

export function domainRoutes(api: Api, domains: Domains, pages: Pages): void {
  api.openapi(routes.list, async (c) => {
    const tenant = c.get("caller").tenant.id;
    const { items, nextCursor } = await pages.page(
      { tenant, name: "domains" },
      c.req.valid("query"),
      (limit, after: readonly [number, string] | undefined) =>
        domains.list(tenant, limit, after && { createdAt: after[0], host: after[1] }),
      ({ createdAt, host }) => [createdAt, host] as const,
    );
    return c.json({ items: items.map(showDomain), nextCursor }, 200);
  });

  api.openapi(routes.add, async (c) => {
    const caller = c.get("caller");
    const chance = c.get("once")?.secret("domain");
    const domain = await domains.add(caller.tenant.id, c.req.valid("json").host, actorOf(caller), chance);
    c.header("location", `/api/domains/${domain.host}`);
    return c.json(showDomain(domain), 201);
  });

  api.openapi(routes.get, async (c) => {
    return c.json(showDomain(await domains.get(c.get("caller").tenant.id, c.req.valid("param").host)), 200);
  });

  api.openapi(routes.verify, async (c) => {
    const caller = c.get("caller");
    const domain = await domains.verify(caller.tenant.id, c.req.valid("param").host, actorOf(caller));
    return c.json(showDomain(domain), 200);
  });

  api.openapi(routes.change, async (c) => {
    const { isDefault, rootUrl, missingUrl } = c.req.valid("json");
    const fields: DomainFields = {
      ...(isDefault !== undefined && { isDefault }),
      ...(rootUrl !== undefined && { rootUrl }),
      ...(missingUrl !== undefined && { missingUrl }),
    };
    const caller = c.get("caller");
    const domain = await domains.change(caller.tenant.id, c.req.valid("param").host, fields, actorOf(caller));
    return c.json(showDomain(domain), 200);
  });

  api.openapi(routes.remove, async (c) => {
    const caller = c.get("caller");
    await domains.remove(caller.tenant.id, c.req.valid("param").host, actorOf(caller));
    return c.body(null, 204);
  });
}

/** A domain as the API and the command line show it. */
export function showDomain(domain: Domain) {
  const { host, state, token, isDefault, rootUrl, missingUrl, rootBlocked, missingBlocked } = domain;
  const { createdAt, verifiedAt } = domain;
  const value = tokenText(token);
  return {
    host,
    state,
    isDefault,
    rootUrl,
    missingUrl,
    rootBlocked,
    missingBlocked,
    proof:
      state === "verified"
        ? null
        : {
            txt: { name: tokenName(host), value },
            file: { url: `http://${host}${tokenPath}`, content: value },
          },
    createdAt: toIso(createdAt),
    verifiedAt: verifiedAt === null ? null : toIso(verifiedAt),
  };
}
