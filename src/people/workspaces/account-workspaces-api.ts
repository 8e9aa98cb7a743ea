import { toIso } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import { type Api, json, jsonBody, route, singleLine, z } from "../../http/route.ts";
import { roles } from "../roles.ts";
import type { Sessions, SignedIn } from "../sessions.ts";
import type { Members } from "./members.ts";
import { keysParam } from "./members-api.ts";
import { slugSchema, workspaceNameMost } from "./workspace-api.ts";
import type { PersonsWorkspace, Workspaces } from "./workspaces.ts";

/** The workspaces of the person who is signed in: list, create, switch, leave, restore. */
const ownWorkspaceSchema = z
  .object({
    id: z.string(),
    slug: z.string(),
    name: z.string(),
    role: z.enum(roles),
    suspended: z.boolean(),
    deleteAt: z
      .string()
      .nullable()
      .openapi({ description: "When it is deleted for good; null unless it was deleted." }),
  })
  .openapi("OwnWorkspace");

const named = z.object({ workspace: z.string().openapi({ description: "Slug or ID." }) });

const routes = {
  list: route(
    "account",
    {
      method: "get",
      path: "/api/account/workspaces",
      tags: ["Account"],
      operationId: "listOwnWorkspaces",
      summary: "List your workspaces",
    },
    {
      200: json(
        z
          .object({
            items: z.array(ownWorkspaceSchema),
            current: z.string().nullable().openapi({ description: "The one that this session shows." }),
            mayCreate: z.boolean(),
          })
          .openapi("OwnWorkspaces"),
        "All of them, at most 100",
      ),
    },
  ),
  create: route(
    "account",
    {
      method: "post",
      path: "/api/account/workspaces",
      tags: ["Account"],
      operationId: "createWorkspace",
      summary: "Create a workspace",
      description: "You become its owner. The operator decides with `QL_WORKSPACES` who may create workspaces.",
      request: {
        body: jsonBody(
          z
            .strictObject({ name: singleLine(workspaceNameMost), slug: slugSchema })
            .openapi("NewWorkspace", { example: { name: "Acme Ltd", slug: "acme" } }),
        ),
      },
    },
    { 201: json(ownWorkspaceSchema, "The workspace") },
    ...(["invalid_input", "name_taken", "collection_full"] as const),
  ),
  choose: route(
    "account",
    {
      method: "put",
      path: "/api/account/workspace",
      tags: ["Account"],
      operationId: "chooseWorkspace",
      summary: "Switch to a workspace",
      description: "Calls of this session that name no workspace are about this one from now on.",
      request: { body: jsonBody(named.strict().openapi("WorkspaceChoice")) },
    },
    { 200: json(ownWorkspaceSchema, "The workspace") },
    ...(["invalid_input", "not_found"] as const),
  ),
  leave: route(
    "account",
    {
      method: "delete",
      path: "/api/account/workspaces/{workspace}",
      tags: ["Account"],
      operationId: "leaveWorkspace",
      summary: "Leave a workspace",
      request: { params: named, query: z.strictObject(keysParam) },
    },
    { 204: { description: "You are no longer a member" } },
    ...(["invalid_input", "not_found", "last_owner", "keys_undecided", "busy"] as const),
  ),
  restore: route(
    "account",
    {
      method: "post",
      path: "/api/account/workspaces/{workspace}/restore",
      tags: ["Account"],
      operationId: "restoreWorkspace",
      summary: "Restore a workspace that you deleted",
      description: "For its owners, within 30 days.",
      request: { params: named },
    },
    { 200: json(ownWorkspaceSchema, "The workspace") },
    ...(["not_found", "busy"] as const),
  ),
};

export interface AccountWorkspacesApi {
  readonly workspaces: Workspaces;
  readonly members: Members;
  readonly sessions: Pick<Sessions, "choose">;
  /** Who may create workspaces besides operators. */
  readonly creators: "operator" | "everyone";
}

export function accountWorkspaceRoutes(api: Api, settings: AccountWorkspacesApi): void {
  const { workspaces, members, sessions, creators } = settings;
  const mayCreate = ({ person }: SignedIn): boolean => creators === "everyone" || person.isOperator;

  /** By slug or ID. One that the person is not in is not told apart from none. */
  async function requireOwn({ person }: SignedIn, name: string): Promise<PersonsWorkspace> {
    const all = await workspaces.ofPerson(person.id);
    const found = all.find(({ id, slug }) => id === name || slug === name);
    if (found === undefined) throw new Problem("not_found", `You are not a member of a workspace "${name}".`);
    return found;
  }

  api.openapi(routes.list, async (c) => {
    const signedIn = c.get("signedIn");
    const items = await workspaces.ofPerson(signedIn.person.id);
    const current = items.find(({ id }) => id === signedIn.session.workspace)?.id ?? null;
    return c.json({ items: items.map(showOwnWorkspace), current, mayCreate: mayCreate(signedIn) }, 200);
  });

  api.openapi(routes.create, async (c) => {
    const signedIn = c.get("signedIn");
    if (!mayCreate(signedIn)) {
      throw new Problem("forbidden", "Only operators create workspaces on this server. Ask one, or for an invitation.");
    }
    const id = await workspaces.create(signedIn.person.id, c.req.valid("json"));
    return c.json(showOwnWorkspace(await requireOwn(signedIn, id)), 201);
  });

  api.openapi(routes.choose, async (c) => {
    const signedIn = c.get("signedIn");
    const found = await requireOwn(signedIn, c.req.valid("json").workspace);
    if (found.deleteAt !== null) throw new Problem("not_found", "This workspace was deleted. An owner can restore it.");
    await sessions.choose(signedIn.session, found.id);
    return c.json(showOwnWorkspace(found), 200);
  });

  api.openapi(routes.leave, async (c) => {
    const signedIn = c.get("signedIn");
    const { id } = await requireOwn(signedIn, c.req.valid("param").workspace);
    const person = signedIn.person.id;
    await members.remove(id, { kind: "person", id: person }, person, c.req.valid("query").keys);
    return c.body(null, 204);
  });

  api.openapi(routes.restore, async (c) => {
    const signedIn = c.get("signedIn");
    const { id } = await requireOwn(signedIn, c.req.valid("param").workspace);
    await workspaces.restore(id, { actor: { kind: "person", id: signedIn.person.id }, isOperator: false });
    return c.json(showOwnWorkspace(await requireOwn(signedIn, id)), 200);
  });
}

const showOwnWorkspace = (workspace: PersonsWorkspace) => ({
  ...{ id: workspace.id, slug: workspace.slug, name: workspace.name, role: workspace.role },
  suspended: workspace.isSuspended,
  deleteAt: workspace.deleteAt === null ? null : toIso(workspace.deleteAt),
});
