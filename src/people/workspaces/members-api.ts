import { toIso } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import { type PersonId, parseId } from "../../base/ids.ts";
import { type Pages, pageParams, pageSchema } from "../../http/pagination.ts";
import { type Api, actorOf, json, jsonBody, mayCall, route, z } from "../../http/route.ts";
import type { Tenant } from "../../tenants/tenants.ts";
import { roles } from "../roles.ts";
import type { ChangedMember, Member, Members } from "./members.ts";

/** Who is in the workspace. Everybody in it sees names and roles; addresses are for those who manage members. */
const memberSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    email: z.string().nullable().openapi({ description: "Null unless you may manage members." }),
    role: z.enum(roles),
    secondFactor: z.boolean(),
    disabled: z.boolean().openapi({ description: "Whether the operator has disabled the account." }),
    joinedAt: z.string(),
  })
  .openapi("Member");

export const keysParam = {
  keys: z.enum(["keep", "revoke"]).optional().openapi({
    description: "What becomes of the API keys that the person created. Required if there are any that work.",
  }),
};

const memberParams = z.object({ person: z.string() });

const routes = {
  list: route(
    "links:read",
    {
      method: "get",
      path: "/api/members",
      tags: ["Members"],
      operationId: "listMembers",
      summary: "List the members of the workspace",
      request: { query: z.strictObject(pageParams) },
    },
    { 200: json(pageSchema(memberSchema, "MemberPage"), "A page; `nextCursor` is null on the last page") },
    "invalid_input",
  ),
  change: route(
    "admin",
    {
      method: "patch",
      path: "/api/members/{person}",
      tags: ["Members"],
      operationId: "changeMember",
      summary: "Change the role of a member",
      description: "Only owners make and unmake owners. An owner always remains.",
      request: {
        params: memberParams,
        body: jsonBody(z.strictObject({ role: z.enum(roles) }).openapi("MemberChange")),
      },
    },
    { 200: json(memberSchema, "The member") },
    ...(["invalid_input", "not_found", "last_owner", "busy"] as const),
  ),
  remove: route(
    "admin",
    {
      method: "delete",
      path: "/api/members/{person}",
      tags: ["Members"],
      operationId: "removeMember",
      summary: "Remove a person from the workspace",
      description: "Invitations that they made are revoked.",
      request: { params: memberParams, query: z.strictObject(keysParam) },
    },
    { 204: { description: "Removed" } },
    ...(["invalid_input", "not_found", "last_owner", "keys_undecided", "busy"] as const),
  ),
};

export interface MemberApi {
  readonly members: Members;
  readonly pages: Pages;
  /** Mails the person whose role was changed by somebody else. */
  readonly tellMember: (tenant: Tenant, changed: ChangedMember) => Promise<void>;
}

export function memberRoutes(api: Api, { members, pages, tellMember }: MemberApi): void {
  api.openapi(routes.list, async (c) => {
    const caller = c.get("caller");
    const tenant = caller.tenant.id;
    const { items, nextCursor } = await pages.page(
      { tenant, name: "members" },
      c.req.valid("query"),
      (limit, after: readonly [PersonId] | undefined) => members.list(tenant, limit, after?.[0]),
      ({ id }) => [id] as const,
    );
    const showsEmail = mayCall(caller, "admin");
    return c.json({ items: items.map((member) => showMember(member, showsEmail)), nextCursor }, 200);
  });

  api.openapi(routes.change, async (c) => {
    const caller = c.get("caller");
    const by = actorOf(caller);
    const person = requirePersonId(c.req.valid("param").person);
    const changed = await members.changeRole(caller.tenant.id, by, person, c.req.valid("json").role);
    const isOwn = by.kind === "person" && by.id === person;
    if (!isOwn && changed.before !== changed.after) await tellMember(caller.tenant, changed);
    return c.json(showMember(changed.member, true), 200);
  });

  api.openapi(routes.remove, async (c) => {
    const caller = c.get("caller");
    const by = actorOf(caller);
    const person = requirePersonId(c.req.valid("param").person);
    const changed = await members.remove(caller.tenant.id, by, person, c.req.valid("query").keys);
    if (!(by.kind === "person" && by.id === person)) await tellMember(caller.tenant, changed);
    return c.body(null, 204);
  });
}

export function requirePersonId(text: string): PersonId {
  const id = parseId("person", text);
  if (id === undefined) throw new Problem("not_found", "This person is not a member of the workspace.");
  return id;
}

const showMember = (member: Member, showsEmail: boolean) => ({
  ...{ id: member.id, name: member.name, email: showsEmail ? member.email : null, role: member.role },
  ...{ secondFactor: member.hasTotp, disabled: member.isDisabled, joinedAt: toIso(member.joinedAt) },
});
