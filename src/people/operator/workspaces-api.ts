import type { Suspensions } from "../../abuse/suspensions.ts";
import { toIso } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import { parseId } from "../../base/ids.ts";
import type { Actor } from "../../history/history.ts";
import { type Pages, pageSchema } from "../../http/pagination.ts";
import { type Api, json, jsonBody, route, singleLine, z } from "../../http/route.ts";
import {
  builtInPlans,
  type LimitName,
  type Limits,
  limitNames,
  type Tenant,
  type Tenants,
} from "../../tenants/tenants.ts";
import type { UsageReport } from "../../tenants/usage.ts";
import { showUsage, usageSchema } from "../../tenants/usage-api.ts";
import type { SignedIn } from "../sessions.ts";
import { workspaceNameMost } from "../workspaces/workspace-api.ts";
import type { Workspaces } from "../workspaces/workspaces.ts";
import { operatorList, searchParams } from "./people-api.ts";

/** Workspaces and plans of this server, for its operators. */
const reasonMost = 500;
const named = z.object({ workspace: z.string().openapi({ description: "Slug or ID." }) });
const everyLimit = <Value extends z.ZodType>(value: Value) =>
  Object.fromEntries(limitNames.map((name) => [name, value])) as Record<LimitName, Value>;

const limitsSchema = z.object(everyLimit(z.int().nullable()));
const limit = z.int().min(0).nullable();

const workspaceSchema = z
  .object({
    id: z.string(),
    slug: z.string(),
    name: z.string(),
    plan: z.string(),
    limits: limitsSchema.openapi({ description: "Null: no limit." }),
    overrides: limitsSchema.partial().openapi({ description: "Those that differ from the plan." }),
    suspended: z.string().nullable().openapi({ description: "The reason; null if not suspended." }),
    deleteAt: z.string().nullable(),
    createdAt: z.string(),
  })
  .openapi("OperatedWorkspace");

const changeSchema = z
  .strictObject({
    name: singleLine(workspaceNameMost).optional(),
    plan: z.string().max(63).optional(),
    limits: z
      .strictObject(everyLimit(z.union([limit, z.literal("plan")]).optional()))
      .optional()
      .openapi({ description: "Sets these limits for this workspace; null for none, `plan` for that of the plan." }),
  })
  .openapi("OperatedWorkspaceChange", { example: { plan: "unlimited" } });

const planSchema = z.object({ name: z.string(), builtIn: z.boolean(), limits: limitsSchema }).openapi("Plan");
const about = { tags: ["Operator"] };

const routes = {
  list: route(
    "operator",
    {
      ...{ method: "get", path: "/api/operator/workspaces", operationId: "listWorkspaces", ...about },
      summary: "List and search workspaces",
      request: { query: z.strictObject(searchParams) },
    },
    {
      200: json(pageSchema(workspaceSchema, "OperatedWorkspacePage"), "A page; `nextCursor` is null on the last page"),
    },
    "invalid_input",
  ),
  get: route(
    "operator",
    {
      ...{ method: "get", path: "/api/operator/workspaces/{workspace}", operationId: "getOperatedWorkspace", ...about },
      summary: "Get a workspace and what it uses",
      request: { params: named },
    },
    { 200: json(workspaceSchema.extend({ usage: usageSchema }).openapi("OperatedWorkspaceDetail"), "The workspace") },
    "not_found",
  ),
  change: route(
    "operator",
    {
      ...{ method: "patch", path: "/api/operator/workspaces/{workspace}", operationId: "changeOperatedWorkspace" },
      ...about,
      summary: "Change the plan, limits or name of a workspace",
      request: { params: named, body: jsonBody(changeSchema) },
    },
    { 200: json(workspaceSchema, "The workspace") },
    ...(["invalid_input", "not_found", "wrong_origin"] as const),
  ),
  suspend: route(
    "operator",
    {
      ...{ method: "put", path: "/api/operator/workspaces/{workspace}/suspension", operationId: "suspendWorkspace" },
      ...about,
      summary: "Suspend a workspace",
      description: "Its API keys answer 403 and its links 451. The reason is shown to its members.",
      request: {
        params: named,
        body: jsonBody(z.strictObject({ reason: singleLine(reasonMost) }).openapi("Suspension")),
      },
    },
    { 200: json(workspaceSchema, "The workspace") },
    ...(["invalid_input", "not_found", "wrong_origin"] as const),
  ),
  resume: route(
    "operator",
    {
      ...{ method: "delete", path: "/api/operator/workspaces/{workspace}/suspension", operationId: "resumeWorkspace" },
      ...about,
      summary: "Resume a suspended workspace",
      request: { params: named },
    },
    { 200: json(workspaceSchema, "The workspace") },
    ...(["not_found", "wrong_origin"] as const),
  ),
  remove: route(
    "operator",
    {
      ...{ method: "delete", path: "/api/operator/workspaces/{workspace}", operationId: "deleteOperatedWorkspace" },
      ...about,
      summary: "Delete a workspace",
      description: "It stops at once, and can be restored for 30 days.",
      request: { params: named },
    },
    { 200: json(workspaceSchema, "The workspace") },
    ...(["not_found", "proof_required", "wrong_origin", "busy"] as const),
  ),
  restore: route(
    "operator",
    {
      ...{
        method: "post",
        path: "/api/operator/workspaces/{workspace}/restore",
        operationId: "restoreOperatedWorkspace",
      },
      ...about,
      summary: "Restore a deleted workspace",
      request: { params: named },
    },
    { 200: json(workspaceSchema, "The workspace") },
    ...(["not_found", "wrong_origin", "busy"] as const),
  ),
  plans: route(
    "operator",
    {
      ...{ method: "get", path: "/api/operator/plans", operationId: "listPlans", ...about },
      summary: "List plans",
    },
    { 200: json(z.object({ items: z.array(planSchema) }).openapi("Plans"), "All plans") },
  ),
  setPlan: route(
    "operator",
    {
      ...{ method: "put", path: "/api/operator/plans/{name}", operationId: "setPlan", ...about },
      summary: "Create or change a plan",
      request: {
        params: z.object({ name: z.string().max(63) }),
        body: jsonBody(z.strictObject(everyLimit(limit)).openapi("PlanLimits")),
      },
    },
    { 200: json(planSchema, "The plan") },
    ...(["invalid_input", "wrong_origin"] as const),
  ),
};

export interface OperatorWorkspacesApi {
  readonly tenants: Tenants;
  readonly workspaces: Workspaces;
  readonly suspensions: Suspensions;
  readonly usage: UsageReport;
  readonly baseUrl: string;
  readonly pages: Pages;
  readonly requireFresh: (signedIn: SignedIn) => void;
}

export function operatorWorkspaceRoutes(api: Api, settings: OperatorWorkspacesApi): void {
  const { tenants, workspaces, suspensions, usage, baseUrl, pages, requireFresh } = settings;
  const actor = ({ person }: SignedIn): Actor => ({ kind: "person", id: person.id });

  async function require(name: string): Promise<Tenant> {
    const id = parseId("tenant", name);
    const tenant = await (id === undefined ? tenants.bySlug(name) : tenants.byId(id));
    if (tenant === undefined) throw new Problem("not_found", `There is no workspace "${name}".`);
    return tenant;
  }

  api.openapi(routes.list, async (c) => {
    const { search, ...asked } = c.req.valid("query");
    const { items, nextCursor } = await pages.page(
      { tenant: operatorList, name: `workspaces ${search ?? ""}` },
      asked,
      (limit, after: readonly [string] | undefined) => tenants.list(limit, after?.[0], search),
      ({ slug }) => [slug] as const,
    );
    return c.json({ items: items.map(show), nextCursor }, 200);
  });

  api.openapi(routes.get, async (c) => {
    const tenant = await require(c.req.valid("param").workspace);
    return c.json({ ...show(tenant), usage: showUsage(await usage.of(tenant), baseUrl) }, 200);
  });

  api.openapi(routes.change, async (c) => {
    const { slug } = await require(c.req.valid("param").workspace);
    const { name, plan, limits = {} } = c.req.valid("json");
    const overrides = Object.fromEntries(
      Object.entries(limits).map(([name, value]) => [name, value === "plan" ? undefined : value]),
    );
    const change = { ...(name !== undefined && { name }), ...(plan !== undefined && { plan }), overrides };
    const after = await tenants.change(slug, change, actor(c.get("signedIn")));
    return c.json(show(after), 200);
  });

  api.openapi(routes.suspend, async (c) => {
    const { id } = await require(c.req.valid("param").workspace);
    await suspensions.suspendTenant(id, c.req.valid("json").reason, actor(c.get("signedIn")));
    return c.json(show(await require(id)), 200);
  });

  api.openapi(routes.resume, async (c) => {
    const { id } = await require(c.req.valid("param").workspace);
    if (!(await suspensions.restoreTenant(id, actor(c.get("signedIn"))))) {
      throw new Problem("not_found", "The workspace is not suspended.");
    }
    return c.json(show(await require(id)), 200);
  });

  api.openapi(routes.remove, async (c) => {
    const signedIn = c.get("signedIn");
    requireFresh(signedIn);
    const { id } = await require(c.req.valid("param").workspace);
    await workspaces.remove(id, { actor: actor(signedIn), isOperator: true });
    return c.json(show(await require(id)), 200);
  });

  api.openapi(routes.restore, async (c) => {
    const { id } = await require(c.req.valid("param").workspace);
    await workspaces.restore(id, { actor: actor(c.get("signedIn")), isOperator: true });
    return c.json(show(await require(id)), 200);
  });

  api.openapi(routes.plans, async (c) => {
    const all = [...(await tenants.plans())].map(([name, limits]) => showPlan(name, limits));
    return c.json({ items: all }, 200);
  });

  api.openapi(routes.setPlan, async (c) => {
    const { name } = c.req.valid("param");
    const limits: Limits = c.req.valid("json");
    await tenants.setPlan(name, limits, actor(c.get("signedIn")));
    return c.json(showPlan(name, limits), 200);
  });
}

const showPlan = (name: string, limits: Limits) => ({ name, builtIn: builtInPlans.has(name), limits });

const show = ({ createdAt, deleteAt, id, slug, name, plan, limits, overrides, suspended }: Tenant) => ({
  ...{ id, slug, name, plan, limits, overrides, suspended, createdAt: toIso(createdAt) },
  deleteAt: deleteAt === null ? null : toIso(deleteAt),
});
