import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import type { PersonId, TenantId } from "../../base/ids.ts";
import { type Actor, recordHistory } from "../../history/history.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Db, ofTenant, type Trx } from "../../sql/tenant-db.ts";
import { createOneAtATime } from "../../tenants/one-at-a-time.ts";
import { mayGrant, type Role } from "../roles.ts";
import type { Publishing, Sessions } from "../sessions.ts";
import { roleOf } from "./current-role.ts";
import { dropInvitations } from "./drop-invitations.ts";
import { type KeysOfMember, keysToRevoke, raisedKeysOf, revokeKeys } from "./keys-of-member.ts";

/**
 * The people of a workspace. Every change of them locks the row of the workspace first, and then reads again who asks and
 * whom it is about: of two owners who remove each other at once, the second is no longer a member.
 *
 * An owner always remains whose account is not disabled. Only owners make and unmake owners (`mayGrant`).
 */
export interface Members {
  /** By ID, which is the order of their accounts; `after` is the last one of the previous page. */
  list(tenant: TenantId, limit: number, after?: PersonId): Promise<Member[]>;
  find(tenant: TenantId, person: PersonId): Promise<Member | undefined>;
  changeRole(tenant: TenantId, by: Actor, person: PersonId, role: Role): Promise<ChangedMember>;
  /** A person may always remove themselves: they leave. */
  remove(tenant: TenantId, by: Actor, person: PersonId, keys?: KeysOfMember): Promise<ChangedMember>;
  /** An owner makes another member owner, and becomes what `role` says. */
  transfer(tenant: TenantId, by: PersonId, to: PersonId, role: Exclude<Role, "owner">): Promise<ChangedMember>;
}

export interface Member {
  readonly id: PersonId;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  /** Whether signing in takes a second factor. */
  readonly hasTotp: boolean;
  readonly isDisabled: boolean;
  readonly joinedAt: number;
}

/** Of a member, for the mail about it. `after` is null for a person who is no longer a member. */
export interface ChangedMember {
  readonly member: Member;
  readonly before: Role;
  readonly after: Role | null;
}

/** Whatever changes a workspace raises the versions of all its members in one transaction. */
export const membersMost = 500;

export interface MemberSettings {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly sessions: Pick<Sessions, "touch">;
}

export function createMembers({ sql, clock, sessions }: MemberSettings): Members {
  const { db } = sql;
  const inTurn = createOneAtATime(sql);

  /** Publishes after the commit what `work` raised. */
  async function change(
    tenant: TenantId,
    work: (trx: Trx) => Promise<[ChangedMember, Publishing]>,
  ): Promise<ChangedMember> {
    const [changed, published] = await inTurn(tenant, work);
    published();
    return changed;
  }

  async function setRole(trx: Trx, tenant: TenantId, person: PersonId, role: Role): Promise<void> {
    await ofTenant(trx, tenant).updateTable("members").set({ role }).where("person_id", "=", person).execute();
  }

  return {
    async list(tenant, limit, after) {
      let query = selectMembers(db, tenant);
      if (after !== undefined) query = query.where("members.person_id", ">", after);
      return (await query.orderBy("members.person_id").limit(limit).execute()).map(toMember);
    },

    find: (tenant, person) => findMember(db, tenant, person),

    changeRole: (tenant, by, person, role) =>
      change(tenant, async (trx) => {
        const own = await roleOf(sql, trx, tenant, by);
        const member = await requireMember(trx, tenant, person);
        requireGrant(own, member.role, role);
        if (member.role === "owner" && role !== "owner") await requireOtherOwner(trx, tenant, person);
        const published = await sessions.touch(trx, [person]);
        await setRole(trx, tenant, person, role);
        await dropInvitations(trx, tenant, person, role);
        await recordHistory(trx, clock, {
          ...{ tenant, actor: by, action: "member.role", subject: { kind: "person", id: person } },
          ...{ before: { role: member.role }, after: { role } },
        });
        return [{ member: { ...member, role }, before: member.role, after: role }, published];
      }),

    remove: (tenant, by, person, keys) =>
      change(tenant, async (trx) => {
        const member = await requireMember(trx, tenant, person);
        const leaves = by.kind === "person" && by.id === person;
        if (!leaves) requireGrant(await roleOf(sql, trx, tenant, by), member.role);
        if (member.role === "owner") await requireOtherOwner(trx, tenant, person);
        const removed = { tenant, person, now: clock.now() };
        const revoked = await keysToRevoke(trx, removed, keys);
        const published = await sessions.touch(trx, [person], await raisedKeysOf(trx, person));
        await revokeKeys(trx, removed, revoked);
        await ofTenant(trx, tenant).deleteFrom("members").where("person_id", "=", person).execute();
        await dropInvitations(trx, tenant, person, null);
        await recordHistory(trx, clock, {
          ...{ tenant, actor: by, action: leaves ? "member.leave" : "member.remove" },
          ...{ subject: { kind: "person", id: person }, before: { role: member.role } },
          after: revoked.length === 0 ? null : { revokedKeys: revoked },
        });
        return [{ member, before: member.role, after: null }, published];
      }),

    transfer: (tenant, by, to, role) =>
      change(tenant, async (trx) => {
        const actor: Actor = { kind: "person", id: by };
        if ((await roleOf(sql, trx, tenant, actor)) !== "owner") throw notGranted("owner");
        const member = await requireMember(trx, tenant, to);
        if (to === by)
          throw new Problem("last_owner", "You are an owner of this workspace already. Name another member.");
        if (member.isDisabled)
          throw new Problem("last_owner", "The account of this person is disabled. Name another member.");
        const published = await sessions.touch(trx, [by, to]);
        await setRole(trx, tenant, to, "owner");
        await setRole(trx, tenant, by, role);
        await dropInvitations(trx, tenant, by, role);
        await recordHistory(trx, clock, {
          ...{ tenant, actor, action: "workspace.transfer", subject: { kind: "person", id: to } },
          ...{ before: { role: member.role }, after: { role: "owner", from: by, becomes: role } },
        });
        return [{ member: { ...member, role: "owner" }, before: member.role, after: "owner" }, published];
      }),
  };
}

/** Throws unless somebody with this role may give, change and take all of these. */
export function requireGrant(own: Role, ...roles: readonly Role[]): void {
  const refused = roles.find((role) => !mayGrant(own, role));
  if (refused !== undefined) throw notGranted(refused);
}

const notGranted = (role: Role): Problem =>
  new Problem(
    "forbidden",
    role === "owner" ? "Only owners make and unmake owners." : "Only owners and admins change who is a member.",
  );

/** Of others, with an account that works. */
async function requireOtherOwner(trx: Trx, tenant: TenantId, person: PersonId): Promise<void> {
  const others = ofTenant(trx, tenant)
    .selectFrom("members")
    .innerJoin("people", "people.id", "members.person_id")
    .select("people.id")
    .where("members.role", "=", "owner")
    .where("members.person_id", "!=", person)
    .where("people.disabled_at", "is", null)
    .limit(1);
  if ((await others.execute()).length > 0) return;
  throw new Problem(
    "last_owner",
    "This is the only owner of the workspace. Make another member owner first, or delete the workspace.",
  );
}

export async function findMember(db: Db, tenant: TenantId, person: PersonId): Promise<Member | undefined> {
  const row = await selectMembers(db, tenant).where("members.person_id", "=", person).executeTakeFirst();
  return row && toMember(row);
}

async function requireMember(trx: Trx, tenant: TenantId, person: PersonId): Promise<Member> {
  const member = await findMember(trx, tenant, person);
  if (member === undefined) throw new Problem("not_found", "This person is not a member of the workspace.");
  return member;
}

const selectMembers = (db: Db, tenant: TenantId) =>
  ofTenant(db, tenant)
    .selectFrom("members")
    .innerJoin("people", "people.id", "members.person_id")
    .select(["people.id", "people.name", "people.email", "people.totp", "people.disabled_at"])
    .select(["members.role", "members.created_at"]);

type MemberRow = Awaited<ReturnType<ReturnType<typeof selectMembers>["execute"]>>[number];

const toMember = (row: MemberRow): Member => ({
  ...{ id: row.id, name: row.name, email: row.email, role: row.role, joinedAt: row.created_at },
  ...{ hasTotp: row.totp !== null, isDisabled: row.disabled_at !== null },
});
