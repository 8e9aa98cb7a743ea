import { toIso } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import { type Api, actorOf, json, jsonBody, route, singleLine, z } from "../../http/route.ts";
import type { Tenant, Tenants } from "../../tenants/tenants.ts";
import { roles } from "../roles.ts";
import type { SignedIn } from "../sessions.ts";
import type { ChangedMember, Members } from "./members.ts";
import { requirePersonId } from "./members-api.ts";
import type { Workspaces } from "./workspaces.ts";

/** The workspace of the call itself. Its links, limits and keys are other rooms. */
export const workspaceNameMost = 100;
export const slugSchema = z
  .string()
  .max(63)
  .openapi({ description: "1 to 63 characters of a-z, 0-9 and -. Unique on this server.", example: "acme" });

const workspaceSchema = z
  .object({
    id: z.string(),
    slug: z.string(),
    name: z.string(),
    plan: z.string(),
    role: z.enum(roles).nullable().openapi({ description: "Yours; null for an API key." }),
    createdAt: z.string(),
  })
  .openapi("Workspace");

const routes = {
  get: route(
    "links:read",
    {
      method: "get",
      path: "/api/workspace",
      tags: ["Workspace"],
      operationId: "getWorkspace",
      summary: "Get the workspace of this call",
    },
    { 200: json(workspaceSchema, "The workspace") },
  ),
  change: route(
    "admin",
    {
      method: "patch",
      path: "/api/workspace",
      tags: ["Workspace"],
      operationId: "changeWorkspace",
      summary: "Rename the workspace",
      request: {
        body: jsonBody(
          z
            .strictObject({ name: singleLine(workspaceNameMost).optional(), slug: slugSchema.optional() })
            .openapi("WorkspaceChange", { example: { name: "Acme Ltd" } }),
        ),
      },
    },
    { 200: json(workspaceSchema, "The workspace") },
    ...(["invalid_input", "name_taken", "busy"] as const),
  ),
  remove: route(
    "owner",
    {
      method: "delete",
      path: "/api/workspace",
      tags: ["Workspace"],
      operationId: "deleteWorkspace",
      summary: "Delete the workspace",
      description:
        "Its links, API keys and uploads stop at once. For 30 days an owner can restore it; then everything in it is deleted for good. Export it first: `GET /api/workspace/export`.",
    },
    { 200: json(z.object({ deleteAt: z.string() }).openapi("DeletedWorkspace"), "When it is deleted for good") },
    ...(["not_found", "proof_required", "busy"] as const),
  ),
  transfer: route(
    "owner",
    {
      method: "put",
      path: "/api/workspace/owner",
      tags: ["Workspace"],
      operationId: "transferWorkspace",
      summary: "Hand the workspace over to another member",
      description: "The other member becomes owner, and you get another role, in one step.",
      request: {
        body: jsonBody(
          z
            .strictObject({
              person: z.string(),
              role: z
                .enum(["admin", "member", "viewer"])
                .default("admin")
                .openapi({ description: "Yours afterwards." }),
            })
            .openapi("WorkspaceTransfer"),
        ),
      },
    },
    { 204: { description: "The other member is owner" } },
    ...(["invalid_input", "not_found", "last_owner", "proof_required", "busy"] as const),
  ),
};

export interface WorkspaceApi {
  readonly workspaces: Workspaces;
  readonly members: Members;
  readonly tenants: Pick<Tenants, "byId">;
  /** Throws unless the person proved a short time ago who they are. */
  readonly requireFresh: (signedIn: SignedIn) => void;
  readonly tellMember: (tenant: Tenant, changed: ChangedMember) => Promise<void>;
}

export function workspaceRoutes(api: Api, settings: WorkspaceApi): void {
  const { workspaces, members, tenants, requireFresh, tellMember } = settings;

  api.openapi(routes.get, (c) => {
    const { tenant, by } = c.get("caller");
    return c.json(showWorkspace(tenant, by.kind === "person" ? by.role : null), 200);
  });

  api.openapi(routes.change, async (c) => {
    const caller = c.get("caller");
    await workspaces.change(caller.tenant.id, actorOf(caller), c.req.valid("json"));
    const tenant = await tenants.byId(caller.tenant.id);
    if (tenant === undefined) throw new Problem("not_found", "This workspace was deleted.");
    return c.json(showWorkspace(tenant, caller.by.kind === "person" ? caller.by.role : null), 200);
  });

  api.openapi(routes.remove, async (c) => {
    const { tenant, by } = c.get("caller");
    if (by.kind !== "person") throw new Problem("forbidden", "API keys cannot do this.");
    requireFresh(by);
    const deleteAt = await workspaces.remove(tenant.id, {
      actor: { kind: "person", id: by.person.id },
      isOperator: false,
    });
    return c.json({ deleteAt: toIso(deleteAt) }, 200);
  });

  api.openapi(routes.transfer, async (c) => {
    const { tenant, by } = c.get("caller");
    if (by.kind !== "person") throw new Problem("forbidden", "API keys cannot do this.");
    requireFresh(by);
    const { person, role } = c.req.valid("json");
    const changed = await members.transfer(tenant.id, by.person.id, requirePersonId(person), role);
    await tellMember(tenant, changed);
    return c.body(null, 204);
  });
}

const showWorkspace = ({ id, slug, name, plan, createdAt }: Tenant, role: (typeof roles)[number] | null) => ({
  ...{ id, slug, name, plan, role, createdAt: toIso(createdAt) },
});
