import { createHash, randomBytes } from "node:crypto";
import { type Clock, dayMs } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import { type InvitationId, newId, type PersonId, type TenantId } from "../../base/ids.ts";
import { type Actor, recordHistory } from "../../history/history.ts";
import type { InvitationTable } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { acrossTenants, type Db, ofTenant, type Trx } from "../../sql/tenant-db.ts";
import { createOneAtATime } from "../../tenants/one-at-a-time.ts";
import { mailboxOf } from "../person.ts";
import type { Role } from "../roles.ts";
import type { Publishing, Sessions } from "../sessions.ts";
import { roleOf } from "./current-role.ts";
import { membersMost, requireGrant } from "./members.ts";
import { requireRoom } from "./workspaces.ts";

/**
 * Invitations to a workspace: for one mailbox, or as a link that whoever has it may use once. The token has 256 random bits
 * and is stored as a hash; sending an invitation again replaces it. An invitation lives no longer than the right of the
 * person who made it: it goes when they are removed, or get a role that may not grant it.
 */
export interface Invitations {
  /** One for a mailbox that has one already replaces it. */
  create(tenant: TenantId, by: Actor, invitation: NewInvitation): Promise<WithToken>;
  /** Newest first, of those that still work; `before` is the last one of the previous page. */
  list(tenant: TenantId, limit: number, before?: InvitationId): Promise<Invitation[]>;
  /** A new token, and as much time again. The old token no longer works. `undefined` if there is no such invitation. */
  renew(tenant: TenantId, by: Actor, id: InvitationId, chance?: Uint8Array): Promise<WithToken | undefined>;
  /** False if there is no such invitation. */
  revoke(tenant: TenantId, by: Actor, id: InvitationId): Promise<boolean>;
  /** What somebody who has it is shown. */
  open(which: ByToken): Promise<OpenInvitation | undefined>;
  /** The person becomes a member. `undefined` if the invitation does not work, or no longer. */
  accept(which: ByToken, person: Invitee): Promise<TenantId | undefined>;
  /**
   * The same in a transaction of the caller, which may have created the account in it, and publishes afterwards. It raises
   * the person's version, and must come before everything else that the transaction locks, except people.
   */
  acceptIn(trx: Trx, which: ByToken, person: Invitee): Promise<{ tenant: TenantId; published: Publishing } | undefined>;
}

/** By its token; or by its ID, after a mailbox proved with another token that it was entered by somebody who had it. */
export type ByToken = string | { readonly id: InvitationId };

export interface NewInvitation {
  /** Null: for whoever has the link. */
  readonly to: { readonly email: string; readonly mailbox: string } | null;
  readonly role: Role;
  readonly expiresAt: number;
  /** Chosen before the first attempt: a repeated request returns the invitation that has this ID and token. */
  readonly once?: { readonly id: InvitationId; readonly chance: Uint8Array };
}

export interface Invitation {
  readonly id: InvitationId;
  readonly email: string | null;
  readonly role: Role;
  readonly inviter: { readonly id: PersonId; readonly name: string } | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface WithToken {
  readonly invitation: Invitation;
  readonly token: string;
}

export interface OpenInvitation extends Invitation {
  readonly tenant: TenantId;
  readonly workspace: string;
  readonly mailbox: string | null;
}

export interface Invitee {
  readonly id: PersonId;
  readonly mailbox: string;
}

export const invitationMs = 7 * dayMs;
export const invitationMostMs = 30 * dayMs;
/** Open ones of a workspace: as many people as it can have. */
export const invitationsMost = membersMost;

const tokenBytes = 32;
const pattern = /^[\w-]{43}$/;
const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

export interface InvitationSettings {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly sessions: Pick<Sessions, "touch">;
}

export function createInvitations({ sql, clock, sessions }: InvitationSettings): Invitations {
  const { db } = sql;
  const inTurn = createOneAtATime(sql);

  async function requireNotMember(trx: Trx, tenant: TenantId, mailbox: string): Promise<void> {
    const found = ofTenant(trx, tenant)
      .selectFrom("members")
      .innerJoin("people", "people.id", "members.person_id")
      .select("people.name")
      .where("people.mailbox", "=", mailbox);
    const member = await found.executeTakeFirst();
    if (member) throw new Problem("already_member", `${member.name} is a member of this workspace already.`);
  }

  /** Makes room: expired ones, and one for the same mailbox. */
  async function clear(trx: Trx, tenant: TenantId, own: Role, mailbox: string | null): Promise<void> {
    const open = ofTenant(trx, tenant).selectFrom("invitations").select(["id", "role", "mailbox", "expires_at"]);
    const rows = await open.execute();
    const gone = rows.filter(({ expires_at }) => expires_at <= clock.now());
    const same = rows.filter((row) => mailbox !== null && row.mailbox === mailbox && row.expires_at > clock.now());
    requireGrant(own, ...same.map(({ role }) => role));
    const ids = [...gone, ...same].map(({ id }) => id);
    if (ids.length > 0) await ofTenant(trx, tenant).deleteFrom("invitations").where("id", "in", ids).execute();
    if (rows.length - ids.length >= invitationsMost) {
      throw new Problem(
        "collection_full",
        `A workspace can have at most ${invitationsMost} open invitations. Revoke one that is not needed.`,
      );
    }
  }

  async function find(trx: Db, tenant: TenantId, id: InvitationId): Promise<Invitation | undefined> {
    const row = await selectInvitations(trx, tenant).where("invitations.id", "=", id).executeTakeFirst();
    return row && row.expires_at > clock.now() ? toInvitation(row) : undefined;
  }

  /** By an earlier run of the same request. */
  async function findMade(trx: Trx, tenant: TenantId, id: InvitationId, token: string) {
    const row = selectInvitations(trx, tenant).where("invitations.id", "=", id);
    const found = await row.where("invitations.hash", "=", hashOf(token)).executeTakeFirst();
    return found && toInvitation(found);
  }

  async function findOpen(from: Db, which: ByToken): Promise<OpenInvitation | undefined> {
    if (typeof which === "string" && !pattern.test(which)) return undefined;
    const query = selectOpen(from);
    const found =
      typeof which === "string"
        ? query.where("invitations.hash", "=", hashOf(which))
        : query.where("invitations.id", "=", which.id);
    const row = await found.executeTakeFirst();
    if (row === undefined || row.delete_at !== null || row.expires_at <= clock.now()) return undefined;
    return { ...toInvitation(row), tenant: row.tenant_id, workspace: row.workspace, mailbox: row.mailbox };
  }

  async function acceptIn(trx: Trx, which: ByToken, { id, mailbox }: Invitee) {
    const tenant = (await findOpen(trx, which))?.tenant;
    if (tenant === undefined) return undefined;
    await sql.forUpdate(trx.selectFrom("tenants").select("id").where("id", "=", tenant)).execute();
    // Another request may have used it until then.
    const open = await findOpen(trx, which);
    if (open === undefined) return undefined;
    await requireRoom(sql, trx, id);
    if (open.mailbox !== null && open.mailbox !== mailbox) {
      throw new Problem(
        "forbidden",
        "This invitation is for another email address. Sign in with the account that has it.",
      );
    }
    const own = ofTenant(trx, tenant);
    const people = (await own.selectFrom("members").select("person_id").execute()).map((row) => row.person_id);
    if (people.includes(id)) throw new Problem("already_member", "You are a member of this workspace already.");
    if (people.length >= membersMost) {
      throw new Problem("collection_full", `A workspace can have at most ${membersMost} members.`);
    }
    const published = await sessions.touch(trx, [id]);
    const used = own.deleteFrom("invitations").where("id", "=", open.id).returning(["id", "role", "inviter_id"]);
    const row = await used.executeTakeFirstOrThrow();
    const { role } = row;
    await own.insertInto("members").values({ person_id: id, role, created_at: clock.now() }).execute();
    await recordHistory(trx, clock, {
      ...{ tenant, actor: { kind: "person", id }, action: "member.join", subject: { kind: "person", id } },
      after: { role, invitation: row.id, ...(row.inviter_id !== null && { inviter: row.inviter_id }) },
    });
    return { tenant, published };
  }

  return {
    create: (tenant, by, { to, role, expiresAt, once }) =>
      inTurn(tenant, async (trx) => {
        const token = tokenFrom(once?.chance);
        const id = once?.id ?? newId("invitation", clock);
        const made = await findMade(trx, tenant, id, token);
        if (made) return { invitation: made, token };
        const own = await roleOf(sql, trx, tenant, by);
        requireGrant(own, role);
        if (to !== null) await requireNotMember(trx, tenant, to.mailbox);
        await clear(trx, tenant, own, to?.mailbox ?? null);
        const row: Omit<InvitationTable, "tenant_id"> = {
          ...{ id, hash: hashOf(token), email: to?.email ?? null, mailbox: to?.mailbox ?? null, role },
          inviter_id: await personBehind(trx, tenant, by),
          ...{ created_at: clock.now(), expires_at: expiresAt },
        };
        await ofTenant(trx, tenant).insertInto("invitations").values(row).execute();
        const after = { role, ...(to !== null && { email: to.email }) };
        const subject = { kind: "invitation", id };
        const { mailbox } = row;
        await recordHistory(trx, clock, { tenant, actor: by, action: "invitation.create", subject, after, mailbox });
        return { invitation: await require(trx, tenant, id), token };
      }),

    async list(tenant, limit, before) {
      let query = selectInvitations(db, tenant).where("invitations.expires_at", ">", clock.now());
      if (before !== undefined) query = query.where("invitations.id", "<", before);
      return (await query.orderBy("invitations.id", "desc").limit(limit).execute()).map(toInvitation);
    },

    renew: (tenant, by, id, chance) =>
      inTurn(tenant, async (trx) => {
        const token = tokenFrom(chance);
        const made = await findMade(trx, tenant, id, token);
        if (made) return { invitation: made, token };
        const before = await find(trx, tenant, id);
        if (before === undefined) return undefined;
        requireGrant(await roleOf(sql, trx, tenant, by), before.role);
        const now = clock.now();
        const change = {
          ...{ hash: hashOf(token), created_at: now, expires_at: now + before.expiresAt - before.createdAt },
          // They may know the new token.
          inviter_id: await personBehind(trx, tenant, by),
        };
        await ofTenant(trx, tenant).updateTable("invitations").set(change).where("id", "=", id).execute();
        const subject = { kind: "invitation", id };
        await recordHistory(trx, clock, { tenant, actor: by, action: "invitation.renew", subject });
        return { invitation: await require(trx, tenant, id), token };
      }),

    revoke: (tenant, by, id) =>
      inTurn(tenant, async (trx) => {
        const before = await find(trx, tenant, id);
        if (before === undefined) return false;
        requireGrant(await roleOf(sql, trx, tenant, by), before.role);
        await ofTenant(trx, tenant).deleteFrom("invitations").where("id", "=", id).execute();
        const { email, role } = before;
        const subject = { kind: "invitation", id };
        await recordHistory(trx, clock, {
          ...{ tenant, actor: by, action: "invitation.revoke", subject },
          before: { role, ...(email !== null && { email }) },
          mailbox: email === null ? null : (mailboxOf(email) ?? null),
        });
        return true;
      }),

    open: (which) => findOpen(db, which),

    acceptIn,

    async accept(which, person) {
      const accepted = await sql.transaction((trx) => acceptIn(trx, which, person));
      accepted?.published();
      return accepted?.tenant;
    },
  };

  async function require(trx: Trx, tenant: TenantId, id: InvitationId): Promise<Invitation> {
    const invitation = await find(trx, tenant, id);
    if (invitation === undefined) throw new Error("the invitation that was just written is missing");
    return invitation;
  }
}

/** What a person's key invites is theirs too: it goes when they do. */
async function personBehind(trx: Trx, tenant: TenantId, by: Actor): Promise<PersonId | null> {
  if (by.kind !== "key") return by.kind === "person" ? by.id : null;
  const key = ofTenant(trx, tenant).selectFrom("api_keys").select("created_by").where("id", "=", by.id);
  return (await key.executeTakeFirst())?.created_by ?? null;
}

const tokenFrom = (chance: Uint8Array = randomBytes(tokenBytes)): string => Buffer.from(chance).toString("base64url");

const columns = [
  ...(["invitations.id", "invitations.email", "invitations.role", "invitations.inviter_id"] as const),
  ...(["invitations.created_at", "invitations.expires_at", "people.name as inviter_name"] as const),
] as const;

const selectInvitations = (db: Db, tenant: TenantId) =>
  ofTenant(db, tenant)
    .selectFrom("invitations")
    .leftJoin("people", "people.id", "invitations.inviter_id")
    .select(columns);

const selectOpen = (db: Db) =>
  acrossTenants(db)
    .selectFrom("invitations")
    .innerJoin("tenants as t", "t.id", "invitations.tenant_id")
    .leftJoin("people", "people.id", "invitations.inviter_id")
    .select(columns)
    .select(["invitations.tenant_id", "invitations.mailbox", "t.name as workspace", "t.delete_at"]);

type InvitationRow = Awaited<ReturnType<ReturnType<typeof selectInvitations>["execute"]>>[number];

const toInvitation = (row: InvitationRow): Invitation => ({
  ...{ id: row.id, email: row.email, role: row.role, createdAt: row.created_at, expiresAt: row.expires_at },
  inviter: row.inviter_id === null ? null : { id: row.inviter_id, name: row.inviter_name ?? "" },
});
