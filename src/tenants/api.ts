import { type Clock, fromIso, toIso } from "../base/clock.ts";
import { invalid, Problem } from "../base/errors.ts";
import { type KeyId, type PersonId, parseId } from "../base/ids.ts";
import { type Pages, pageParams, pageSchema } from "../http/pagination.ts";
import { type Api, actorOf, type Caller, json, jsonBody, mayCall, route, singleLine, z } from "../http/route.ts";
import { type ApiKey, type Keys, keyPerMinuteMost, type Scope, scopes } from "./keys.ts";
import { type LimitName, limitNames } from "./tenants.ts";

/** All routes of tenants and keys. A key can only see its own tenant. */
const limitsSchema = z.object(
  Object.fromEntries(limitNames.map((name) => [name, z.int().nullable()])) as Record<
    LimitName,
    z.ZodNullable<z.ZodInt>
  >,
);

const tenantSchema = z
  .object({
    id: z.string(),
    slug: z.string(),
    name: z.string(),
    plan: z.string(),
    limits: limitsSchema,
    linkDays: z.int().openapi({ description: "Days until a link expires if no expiry is given." }),
    createdAt: z.string(),
  })
  .openapi("Tenant");

const keySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    hint: z.string(),
    scopes: z.array(z.enum(scopes)),
    createdAt: z.string(),
    expiresAt: z.string().nullable(),
    revokedAt: z.string().nullable(),
    lastUsedAt: z.string().nullable(),
    apiPerMinute: z.int().nullable(),
    createdBy: z
      .object({ id: z.string(), name: z.string() })
      .nullable()
      .openapi({ description: "Null: created by a command, or the account is gone." }),
  })
  .openapi("ApiKey");

const newKeySchema = z
  .strictObject({
    name: singleLine(100),
    scopes: z.array(z.enum(scopes)).min(1).max(scopes.length),
    expiresAt: z.iso.datetime({ offset: true }).nullable().optional(),
    apiPerMinute: z.int().min(1).max(keyPerMinuteMost).nullable().optional().openapi({
      description: "API calls per minute for this key, within the workspace's limit. Null: the workspace's limit.",
    }),
  })
  .openapi("NewApiKey", { example: { name: "website", scopes: ["links:read", "links:write"] } });

const routes = {
  tenant: route(
    "links:read",
    {
      method: "get",
      path: "/api/tenant",
      tags: ["Tenant"],
      operationId: "getTenant",
      summary: "Get the workspace of this key and its limits",
    },
    { 200: json(tenantSchema, "The workspace; null means no limit") },
  ),
  list: route(
    "admin",
    {
      method: "get",
      path: "/api/keys",
      tags: ["Keys"],
      operationId: "listKeys",
      summary: "List API keys, newest first",
      request: { query: z.strictObject(pageParams) },
    },
    { 200: json(pageSchema(keySchema, "ApiKeyPage"), "A page; `nextCursor` is null on the last page") },
    "invalid_input",
  ),
  create: route(
    "admin",
    {
      method: "post",
      path: "/api/keys",
      tags: ["Keys"],
      operationId: "createKey",
      summary: "Create an API key",
      "x-repeatable": true,
      request: { body: jsonBody(newKeySchema) },
    },
    {
      201: json(
        keySchema.extend({ secret: z.string() }).openapi("CreatedApiKey"),
        "The key; `secret` is shown only once",
      ),
    },
    "invalid_input",
    "collection_full",
  ),
  revoke: route(
    "admin",
    {
      method: "delete",
      path: "/api/keys/{id}",
      tags: ["Keys"],
      operationId: "revokeKey",
      summary: "Revoke an API key",
      description: "It stops working at once, on all servers within the time of an edit.",
      request: { params: z.object({ id: z.string() }) },
    },
    { 204: { description: "Revoked" } },
    "not_found",
  ),
};

export interface TenantApi {
  readonly keys: Keys;
  readonly pages: Pages;
  readonly clock: Clock;
  readonly linkDays: number;
  readonly namesOf: (people: readonly (PersonId | null)[]) => Promise<ReadonlyMap<PersonId, string>>;
}

export function tenantRoutes(api: Api, { keys, pages, clock, linkDays, namesOf }: TenantApi): void {
  async function withCreators(some: readonly ApiKey[]) {
    const names = await namesOf(some.map(({ createdBy }) => createdBy));
    return some.map((key) => {
      const name = key.createdBy === null ? undefined : names.get(key.createdBy);
      return { ...showKey(key), createdBy: name === undefined ? null : { id: String(key.createdBy), name } };
    });
  }

  api.openapi(routes.tenant, (c) => {
    const { id, slug, name, plan, limits, createdAt } = c.get("caller").tenant;
    return c.json({ id, slug, name, plan, limits, linkDays, createdAt: toIso(createdAt) }, 200);
  });

  api.openapi(routes.list, async (c) => {
    const tenant = c.get("caller").tenant.id;
    const { items, nextCursor } = await pages.page(
      { tenant, name: "keys" },
      c.req.valid("query"),
      (limit, after: readonly [KeyId] | undefined) => keys.list(tenant, limit, after?.[0]),
      ({ id }) => [id] as const,
    );
    return c.json({ items: await withCreators(items), nextCursor }, 200);
  });

  api.openapi(routes.create, async (c) => {
    const { name, scopes, expiresAt: until, apiPerMinute = null } = c.req.valid("json");
    const expiresAt = until ? fromIso(until) : null;
    if (expiresAt !== null && expiresAt <= clock.now()) {
      throw invalid("expiresAt", "in_the_past", "The expiry must be in the future.");
    }
    const caller = c.get("caller");
    requireOwnScopes(caller, scopes);
    const once = c.get("once");
    const { key, secret } = await keys.create(
      caller.tenant.id,
      {
        ...{ name, scopes, expiresAt, apiPerMinute, createdBy: personBehind(caller) },
        ...(once && { once: { id: once.id("key"), chance: once.secret("key") } }),
      },
      actorOf(caller),
    );
    const [shown = { ...showKey(key), createdBy: null }] = await withCreators([key]);
    return c.json({ ...shown, secret }, 201);
  });

  api.openapi(routes.revoke, async (c) => {
    const id = parseId("key", c.req.valid("param").id);
    const caller = c.get("caller");
    if (!id || !(await keys.revoke(caller.tenant.id, id, actorOf(caller)))) {
      throw new Problem("not_found", "No such API key.");
    }
    return c.body(null, 204);
  });
}

/** Nobody passes on more than they have: a person what their role has, a key what its scopes are. */
function requireOwnScopes(caller: Caller, wanted: readonly Scope[]): void {
  const missing = wanted.filter((scope) => !mayCall(caller, scope));
  if (missing.length === 0) return;
  const own = caller.by.kind === "person" ? "Your role" : "This API key";
  throw new Problem("forbidden", `${own} does not have ${missing.join(", ")}, and cannot grant it to a key.`);
}

/** What a person's key creates is theirs too: removing them asks about both. */
const personBehind = ({ by }: Caller): PersonId | null => (by.kind === "person" ? by.person.id : by.key.createdBy);

/** A key as the API and the command line show it: without the secret. */
export function showKey(key: ApiKey) {
  const time = (at: number | null) => (at === null ? null : toIso(at));
  return {
    id: key.id,
    name: key.name,
    hint: key.hint,
    scopes: [...key.scopes],
    createdAt: toIso(key.createdAt),
    expiresAt: time(key.expiresAt),
    revokedAt: time(key.revokedAt),
    lastUsedAt: time(key.lastUsedAt),
    apiPerMinute: key.apiPerMinute,
  };
}
