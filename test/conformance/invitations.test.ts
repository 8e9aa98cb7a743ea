import { beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { dayMs } from "../../src/base/clock.ts";
import type { InvitationId, TenantId } from "../../src/base/ids.ts";
import type { Role } from "../../src/people/roles.ts";
import { createInvitations, type Invitations, invitationsMost } from "../../src/people/workspaces/invitations.ts";
import { createMembers, type Members } from "../../src/people/workspaces/members.ts";
import { createWorkspaces, type Workspaces, workspacesMost } from "../../src/people/workspaces/workspaces.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants, ofTenant } from "../../src/sql/tenant-db.ts";
import { onEachDatabase } from "./databases.ts";
import { by, byNewKey, clock, lastHistory, newMember, newPerson, newWorkspace, outcome, touchOf } from "./people.ts";

onEachDatabase(({ openTwo }) => {
  let sql: Sql;
  let invitations: Invitations;
  /** Of another process. */
  let elsewhere: Invitations;
  let members: Members;
  let workspaces: Workspaces;
  const published: string[] = [];

  beforeAll(async () => {
    const [one, two] = await openTwo();
    sql = one;
    invitations = createInvitations({ sql: one, clock, sessions: touchOf(one, published) });
    elsewhere = createInvitations({ sql: two, clock, sessions: touchOf(two) });
    members = createMembers({ sql: one, clock, sessions: touchOf(one) });
    workspaces = createWorkspaces({ sql: one, clock, sessions: touchOf(one), publish() {} });
  });

  const link = (role: Role = "member") => ({ to: null, role, expiresAt: clock.now() + 7 * dayMs });
  const to = (email: string, role: Role = "member") => ({ ...link(role), to: { email, mailbox: email.toLowerCase() } });
  const workspace = async () => {
    const tenant = await newWorkspace(sql);
    return { tenant, owner: await newMember(sql, tenant, "owner") };
  };
  const openIn = (tenant: TenantId) => invitations.list(tenant, 1_000);

  describe("an invitation", () => {
    test("makes the person who has it a member once, and is published", async () => {
      const { tenant, owner } = await workspace();
      const { token, invitation } = await invitations.create(tenant, by(owner), link("admin"));
      expect(invitation).toMatchObject({ email: null, role: "admin", inviter: { id: owner } });
      expect(await invitations.open(token)).toMatchObject({
        tenant,
        role: "admin",
        inviter: { id: owner },
        mailbox: null,
      });
      const [ann, ben] = [await newPerson(sql), await newPerson(sql)];
      published.length = 0;
      expect(await invitations.accept(token, ann)).toBe(tenant);
      expect(published).toEqual([ann.id]);
      expect(await members.find(tenant, ann.id)).toMatchObject({ role: "admin" });
      expect(await lastHistory(sql, tenant)).toMatchObject({ action: "member.join", actor_id: ann.id });
      expect(await invitations.accept(token, ben)).toBeUndefined();
      expect(await invitations.open(token)).toBeUndefined();
    });

    test("used by several at once from two processes lets exactly one in", async () => {
      for (let round = 0; round < 5; round++) {
        const { tenant, owner } = await workspace();
        const { token } = await invitations.create(tenant, by(owner), link());
        const people = await Promise.all(Array.from({ length: 6 }, () => newPerson(sql)));
        const accepted = await Promise.all(
          people.map((person, place) => (place % 2 === 0 ? invitations : elsewhere).accept(token, person)),
        );
        expect(accepted.filter((one) => one !== undefined)).toEqual([tenant]);
        expect(await members.list(tenant, 10)).toHaveLength(2);
      }
    });

    test("is stored as a hash, and no token is in the history", async () => {
      const { tenant, owner } = await workspace();
      const { token } = await invitations.create(tenant, by(owner), to("Zoe@Example.com"));
      const rows = await ofTenant(sql.db, tenant).selectFrom("invitations").selectAll().execute();
      expect(rows.map(({ hash }) => hash)).toEqual([createHash("sha256").update(token).digest("hex")]);
      const history = await ofTenant(sql.db, tenant).selectFrom("history").selectAll().orderBy("id").execute();
      expect(JSON.stringify([rows, history])).not.toContain(token);
      expect(history.at(-1)).toMatchObject({
        action: "invitation.create",
        after_change: expect.stringContaining("Zoe"),
      });
    });

    test("tampered, of nobody or in another shape is none", async () => {
      const { tenant, owner } = await workspace();
      const { token } = await invitations.create(tenant, by(owner), link());
      const ann = await newPerson(sql);
      const other = token.startsWith("A") ? "B" : "A";
      for (const wrong of [
        "",
        "x",
        `${token}x`,
        token.slice(1),
        other + token.slice(1),
        "%".repeat(43),
        "a".repeat(1e6),
      ]) {
        expect(await invitations.open(wrong)).toBeUndefined();
        expect(await invitations.accept(wrong, ann)).toBeUndefined();
      }
      expect(await invitations.accept(token, ann)).toBe(tenant);
    });

    test("ends: when it expires, is revoked, or its workspace is deleted", async () => {
      const ann = await newPerson(sql);
      const { tenant, owner } = await workspace();
      const expired = await invitations.create(tenant, by(owner), { ...link(), expiresAt: clock.now() + 1 });
      const revoked = await invitations.create(tenant, by(owner), link());
      const deleted = await invitations.create(tenant, by(owner), link());
      clock.advance(1);
      expect((await openIn(tenant)).map(({ id }) => id).sort()).toEqual(
        [revoked.invitation.id, deleted.invitation.id].sort(),
      );
      expect(await invitations.revoke(tenant, by(owner), revoked.invitation.id)).toBe(true);
      expect(await invitations.revoke(tenant, by(owner), revoked.invitation.id)).toBe(false);
      expect(await invitations.revoke(tenant, by(owner), expired.invitation.id)).toBe(false);
      const noneWorks = async (...those: readonly { token: string }[]) => {
        for (const { token } of those) {
          expect(await invitations.open(token)).toBeUndefined();
          expect(await invitations.accept(token, ann)).toBeUndefined();
        }
      };
      await noneWorks(expired, revoked);
      await workspaces.remove(tenant, { actor: by(owner), isOperator: false });
      await noneWorks(expired, revoked, deleted);
      await workspaces.restore(tenant, { actor: by(owner), isOperator: false });
      expect(await invitations.accept(deleted.token, ann)).toBe(tenant);
    });

    test("sent again has a new token and as much time again; the old token is void", async () => {
      const { tenant, owner } = await workspace();
      const first = await invitations.create(tenant, by(owner), link());
      clock.advance(6 * dayMs);
      const again = await invitations.renew(tenant, by(owner), first.invitation.id);
      expect(again?.invitation.expiresAt).toBe(clock.now() + 7 * dayMs);
      expect(await invitations.open(first.token)).toBeUndefined();
      expect(await invitations.open(again?.token ?? "")).toMatchObject({ id: first.invitation.id });
      expect(await invitations.renew(tenant, by(owner), "inv_nothing" as InvitationId)).toBeUndefined();
    });

    test("of another workspace can neither be seen, sent again nor revoked", async () => {
      const [one, two] = [await workspace(), await workspace()];
      const { invitation, token } = await invitations.create(one.tenant, by(one.owner), link());
      expect(await openIn(two.tenant)).toEqual([]);
      expect(await invitations.renew(two.tenant, by(two.owner), invitation.id)).toBeUndefined();
      expect(await invitations.revoke(two.tenant, by(two.owner), invitation.id)).toBe(false);
      expect(await invitations.open(token)).toBeDefined();
    });
  });

  describe("for a mailbox", () => {
    test("only the account with this mailbox can use it", async () => {
      const { tenant, owner } = await workspace();
      const [ann, ben] = [await newPerson(sql), await newPerson(sql)];
      const { token } = await invitations.create(tenant, by(owner), to(ann.email));
      expect(await outcome(invitations.accept(token, ben))).toBe("forbidden");
      expect(await invitations.accept(token, ann)).toBe(tenant);
    });

    test("of a member there is none, and a member cannot use a link", async () => {
      const { tenant, owner } = await workspace();
      const ann = await newPerson(sql);
      const { token } = await invitations.create(tenant, by(owner), to(ann.email));
      const open = await invitations.create(tenant, by(owner), link());
      await invitations.accept(token, ann);
      expect(await outcome(invitations.create(tenant, by(owner), to(ann.email)))).toBe("already_member");
      expect(await outcome(invitations.accept(open.token, ann))).toBe("already_member");
      // Others still can, and another workspace may invite the same person.
      expect(await invitations.open(open.token)).toBeDefined();
      const other = await workspace();
      expect(await outcome(invitations.create(other.tenant, by(other.owner), to(ann.email)))).toBe("done");
    });

    test("a second one replaces the first", async () => {
      const { tenant, owner } = await workspace();
      const first = await invitations.create(tenant, by(owner), to("twice@example.com"));
      const second = await invitations.create(tenant, by(owner), to("twice@example.com", "viewer"));
      expect(await openIn(tenant)).toHaveLength(1);
      expect(await invitations.open(first.token)).toBeUndefined();
      expect(await invitations.open(second.token)).toMatchObject({ role: "viewer" });
    });
  });

  describe("the right to invite", () => {
    test("follows the role: only owners invite owners, and members nobody", async () => {
      const { tenant, owner } = await workspace();
      const admin = await newMember(sql, tenant, "admin");
      for (const actor of [by(admin), await byNewKey(sql, tenant)]) {
        expect(await outcome(invitations.create(tenant, actor, link("owner")))).toBe("forbidden");
        expect(await outcome(invitations.create(tenant, actor, link("admin")))).toBe("done");
      }
      for (const role of ["member", "viewer"] as const) {
        const low = await newMember(sql, tenant, role);
        expect(await outcome(invitations.create(tenant, by(low), link("viewer")))).toBe("forbidden");
      }
      const { invitation } = await invitations.create(tenant, by(owner), to("boss@example.com", "owner"));
      expect(await outcome(invitations.revoke(tenant, by(admin), invitation.id))).toBe("forbidden");
      expect(await outcome(invitations.renew(tenant, by(admin), invitation.id))).toBe("forbidden");
      expect(await outcome(invitations.create(tenant, by(admin), to("boss@example.com")))).toBe("forbidden");
    });

    test("ends with it: what a person may no longer grant does not let anybody in", async () => {
      const { tenant, owner } = await workspace();
      const other = await newMember(sql, tenant, "owner");
      const made = async () => [
        await invitations.create(tenant, by(other), link("owner")),
        await invitations.create(tenant, by(other), link("member")),
      ];
      const works = async (all: readonly { token: string }[]) =>
        await Promise.all(all.map(async ({ token }) => (await invitations.open(token)) !== undefined));
      const all = await made();
      const ofOwner = await invitations.create(tenant, by(owner), link("owner"));
      await members.changeRole(tenant, by(owner), other, "admin");
      expect(await works(all)).toEqual([false, true]);
      await members.remove(tenant, by(owner), other);
      expect(await works(all)).toEqual([false, false]);
      expect(await works([ofOwner])).toEqual([true]);
    });
  });

  describe("the numbers", () => {
    test("of open invitations and of a person's workspaces are limited", async () => {
      const { tenant, owner } = await workspace();
      const row = (place: number) => ({
        ...{ id: `inv_full${place}` as InvitationId, hash: `full ${tenant} ${place}`, email: null, mailbox: null },
        ...{ role: "viewer" as const, inviter_id: null, created_at: 0, expires_at: clock.now() + 1_000 },
      });
      await ofTenant(sql.db, tenant)
        .insertInto("invitations")
        .values(Array.from({ length: invitationsMost }, (_, place) => row(place)))
        .execute();
      expect(await outcome(invitations.create(tenant, by(owner), link()))).toBe("collection_full");
      clock.advance(1_000);
      expect(await outcome(invitations.create(tenant, by(owner), link()))).toBe("done");

      const { token } = await invitations.create(tenant, by(owner), link());
      const busy = await newPerson(sql);
      for (let count = 0; count < workspacesMost; count++) {
        const id = await newWorkspace(sql);
        const own = acrossTenants(sql.db).insertInto("members");
        await own.values({ tenant_id: id, person_id: busy.id, role: "viewer", created_at: 0 }).execute();
      }
      expect(await outcome(invitations.accept(token, busy))).toBe("collection_full");
      expect(await outcome(workspaces.create(busy.id, { slug: "one-more", name: "One more" }))).toBe("collection_full");
      expect(await invitations.open(token)).toBeDefined();
    });
  });
});
