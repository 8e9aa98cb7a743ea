import { type Clock, fromIso, toIso } from "../../base/clock.ts";
import { invalid, Problem } from "../../base/errors.ts";
import { type InvitationId, parseId } from "../../base/ids.ts";
import { type Pages, pageParams, pageSchema } from "../../http/pagination.ts";
import { type Api, actorOf, json, jsonBody, route, z } from "../../http/route.ts";
import type { Tenant } from "../../tenants/tenants.ts";
import { mailboxOf } from "../person.ts";
import { roles } from "../roles.ts";
import { type Invitation, type Invitations, invitationMostMs, invitationMs, type WithToken } from "./invitations.ts";

/**
 * Invitations, for those who manage members. One for an address is mailed, and then nobody but its reader has the link.
 * Without a mail server, and for one without an address, the answer has the link, once.
 */
const addressMaxChars = 320;

const invitationSchema = z
  .object({
    id: z.string(),
    email: z.string().nullable().openapi({ description: "Null: for whoever has the link." }),
    role: z.enum(roles),
    inviter: z.object({ id: z.string(), name: z.string() }).nullable(),
    createdAt: z.string(),
    expiresAt: z.string(),
  })
  .openapi("Invitation");

const madeSchema = invitationSchema
  .extend({
    url: z
      .string()
      .nullable()
      .openapi({ description: "The link to pass on, shown only once. Null: it was sent to `email`." }),
  })
  .openapi("MadeInvitation");

const routes = {
  list: route(
    "admin",
    {
      method: "get",
      path: "/api/invitations",
      tags: ["Members"],
      operationId: "listInvitations",
      summary: "List open invitations, newest first",
      request: { query: z.strictObject(pageParams) },
    },
    { 200: json(pageSchema(invitationSchema, "InvitationPage"), "A page; `nextCursor` is null on the last page") },
    "invalid_input",
  ),
  create: route(
    "admin",
    {
      method: "post",
      path: "/api/invitations",
      tags: ["Members"],
      operationId: "createInvitation",
      "x-repeatable": true,
      summary: "Invite somebody to the workspace",
      description: "A second invitation for the same address replaces the first.",
      request: {
        body: jsonBody(
          z
            .strictObject({
              email: z.string().max(addressMaxChars).nullable().optional().openapi({
                description: "Whom it is for. Without it, the link works once for whoever has it.",
              }),
              role: z.enum(roles),
              expiresAt: z.iso.datetime({ offset: true }).optional().openapi({
                description: "At most 30 days from now. Default: in 7 days.",
              }),
            })
            .openapi("NewInvitation", { example: { email: "ann@example.com", role: "member" } }),
        ),
      },
    },
    { 201: json(madeSchema, "The invitation") },
    ...(["invalid_input", "already_member", "collection_full", "busy"] as const),
  ),
  resend: route(
    "admin",
    {
      method: "post",
      path: "/api/invitations/{id}/resend",
      tags: ["Members"],
      operationId: "resendInvitation",
      "x-repeatable": true,
      summary: "Send an invitation again",
      description: "With a new link and as much time as at first; the old link no longer works.",
      request: { params: z.object({ id: z.string() }) },
    },
    { 200: json(madeSchema, "The invitation") },
    ...(["not_found", "busy"] as const),
  ),
  revoke: route(
    "admin",
    {
      method: "delete",
      path: "/api/invitations/{id}",
      tags: ["Members"],
      operationId: "revokeInvitation",
      summary: "Revoke an invitation",
      request: { params: z.object({ id: z.string() }) },
    },
    { 204: { description: "Revoked" } },
    ...(["not_found", "busy"] as const),
  ),
};

export interface InvitationApi {
  readonly invitations: Invitations;
  readonly pages: Pages;
  readonly clock: Clock;
  /** The page that accepts it. */
  readonly linkFor: (token: string) => string;
  /** Mails it; false if this server sends no mail. */
  readonly mail: (tenant: Tenant, to: string, made: WithToken) => Promise<boolean>;
}

export function invitationRoutes(api: Api, { invitations, pages, clock, linkFor, mail }: InvitationApi): void {
  async function deliver(tenant: Tenant, made: WithToken) {
    const { email } = made.invitation;
    const isMailed = email !== null && (await mail(tenant, email, made));
    return { ...showInvitation(made.invitation), url: isMailed ? null : linkFor(made.token) };
  }

  api.openapi(routes.list, async (c) => {
    const tenant = c.get("caller").tenant.id;
    const { items, nextCursor } = await pages.page(
      { tenant, name: "invitations" },
      c.req.valid("query"),
      (limit, after: readonly [InvitationId] | undefined) => invitations.list(tenant, limit, after?.[0]),
      ({ id }) => [id] as const,
    );
    return c.json({ items: items.map(showInvitation), nextCursor }, 200);
  });

  api.openapi(routes.create, async (c) => {
    const caller = c.get("caller");
    const { email = null, role, expiresAt: until } = c.req.valid("json");
    const expiresAt = endOf(until, clock.now());
    const to = email === null ? null : recipientOf(email);
    const once = c.get("once");
    const made = await invitations.create(caller.tenant.id, actorOf(caller), {
      ...{ to, role, expiresAt },
      ...(once && { once: { id: once.id("invitation"), chance: once.secret("invitation") } }),
    });
    return c.json(await deliver(caller.tenant, made), 201);
  });

  api.openapi(routes.resend, async (c) => {
    const caller = c.get("caller");
    const id = parseId("invitation", c.req.valid("param").id);
    const chance = c.get("once")?.secret("invitation");
    const made = id && (await invitations.renew(caller.tenant.id, actorOf(caller), id, chance));
    if (!made) throw noInvitation();
    return c.json(await deliver(caller.tenant, made), 200);
  });

  api.openapi(routes.revoke, async (c) => {
    const caller = c.get("caller");
    const id = parseId("invitation", c.req.valid("param").id);
    if (!id || !(await invitations.revoke(caller.tenant.id, actorOf(caller), id))) throw noInvitation();
    return c.body(null, 204);
  });
}

function recipientOf(email: string): { email: string; mailbox: string } {
  const mailbox = mailboxOf(email);
  if (mailbox === undefined)
    throw invalid("email", "bad_address", "Must be an email address, such as ann@example.com.");
  // Disguised characters become what they stand for: no mail goes to a look-alike.
  return { email: email.trim().normalize("NFKC"), mailbox };
}

function endOf(until: string | undefined, now: number): number {
  const expiresAt = until === undefined ? now + invitationMs : fromIso(until);
  if (expiresAt <= now) throw invalid("expiresAt", "in_the_past", "The expiry must be in the future.");
  if (expiresAt > now + invitationMostMs) throw invalid("expiresAt", "too_late", "Must be at most 30 days from now.");
  return expiresAt;
}

const noInvitation = (): Problem =>
  new Problem("not_found", "No such invitation. It may have been accepted, or expired.");

const showInvitation = ({ id, email, role, inviter, createdAt, expiresAt }: Invitation) => ({
  ...{ id, email, role, inviter, createdAt: toIso(createdAt), expiresAt: toIso(expiresAt) },
});
