import { beforeAll, describe, expect, test } from "bun:test";
import type { PersonId, TenantId } from "../../src/base/ids.ts";
import { byCommand } from "../../src/history/history.ts";
import type { Role } from "../../src/people/roles.ts";
import { createMembers, type Members } from "../../src/people/workspaces/members.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { createKeys, type Keys } from "../../src/tenants/keys.ts";
import { onEachDatabase } from "./databases.ts";
import { by, byNewKey, clock, lastHistory, newMember, newWorkspace, outcome, touchOf } from "./people.ts";

onEachDatabase(({ openTwo }) => {
  let sql: Sql;
  let members: Members;
  /** Of another process. */
  let membersElsewhere: Members;
  let keys: Keys;
  const published: string[] = [];

  beforeAll(async () => {
    const [one, two] = await openTwo();
    sql = one;
    members = createMembers({ sql: one, clock, sessions: touchOf(one, published) });
    membersElsewhere = createMembers({ sql: two, clock, sessions: touchOf(two, published) });
    keys = createKeys({ sql, clock });
  });

  const workspace = () => newWorkspace(sql);
  const person = (tenant: TenantId, role: Role, more: { disabled?: boolean } = {}) =>
    newMember(sql, tenant, role, more);
  const roles = async (tenant: TenantId) => (await members.list(tenant, 100)).map(({ role }) => role).sort();
  const historyOf = (tenant: TenantId) => lastHistory(sql, tenant);

  describe("members", () => {
    test("are those of the workspace, in pages", async () => {
      const [tenant, other] = [await workspace(), await workspace()];
      const people = [
        await person(tenant, "owner"),
        await person(tenant, "viewer"),
        await person(tenant, "admin"),
      ].sort();
      const stranger = await person(other, "owner");
      const first = await members.list(tenant, 2);
      const rest = await members.list(tenant, 2, first.at(-1)?.id);
      expect([...first, ...rest].map(({ id }) => id)).toEqual(people);
      expect(await members.find(tenant, stranger)).toBeUndefined();
      expect(await outcome(members.changeRole(tenant, byCommand, stranger, "admin"))).toBe("not_found");
      expect(await outcome(members.remove(tenant, byCommand, stranger))).toBe("not_found");
      expect(await roles(other)).toEqual(["owner"]);
    });

    test("get another role, which is published and in the history", async () => {
      const tenant = await workspace();
      const [owner, other] = [await person(tenant, "owner"), await person(tenant, "viewer")];
      published.length = 0;
      expect(await members.changeRole(tenant, by(owner), other, "admin")).toMatchObject({
        ...{ before: "viewer", after: "admin", member: { id: other, role: "admin" } },
      });
      expect(published).toEqual([other]);
      expect(await historyOf(tenant)).toEqual({
        ...{ action: "member.role", actor_kind: "person", actor_id: owner, subject_id: other },
        ...{ before_change: '{"role":"viewer"}', after_change: '{"role":"admin"}' },
      });
    });
  });

  describe("only owners", () => {
    test("make owners", async () => {
      const tenant = await workspace();
      const [owner, admin] = [await person(tenant, "owner"), await person(tenant, "admin")];
      const other = await person(tenant, "member");
      for (const actor of [by(admin), await byNewKey(sql, tenant)]) {
        expect(await outcome(members.changeRole(tenant, actor, other, "owner"))).toBe("forbidden");
        expect(await outcome(members.changeRole(tenant, actor, other, "viewer"))).toBe("done");
      }
      expect(await outcome(members.changeRole(tenant, by(admin), admin, "owner"))).toBe("forbidden");
      expect(await outcome(members.changeRole(tenant, by(owner), other, "owner"))).toBe("done");
    });

    test("unmake and remove owners", async () => {
      const tenant = await workspace();
      const [one, two] = [await person(tenant, "owner"), await person(tenant, "owner")];
      const admin = await person(tenant, "admin");
      for (const actor of [by(admin), await byNewKey(sql, tenant)]) {
        expect(await outcome(members.changeRole(tenant, actor, two, "admin"))).toBe("forbidden");
        expect(await outcome(members.remove(tenant, actor, two))).toBe("forbidden");
      }
      expect(await roles(tenant)).toEqual(["admin", "owner", "owner"]);
      expect(await outcome(members.remove(tenant, by(one), two))).toBe("done");
    });

    test("and admins change anything; the role counts that they have now", async () => {
      const tenant = await workspace();
      await person(tenant, "owner");
      const [admin, viewer] = [await person(tenant, "admin"), await person(tenant, "viewer")];
      for (const role of ["member", "viewer"] as const) {
        const low = await person(tenant, role);
        expect(await outcome(members.changeRole(tenant, by(low), viewer, "member"))).toBe("forbidden");
        expect(await outcome(members.remove(tenant, by(low), viewer))).toBe("forbidden");
      }
      expect(await outcome(members.changeRole(tenant, by(admin), admin, "viewer"))).toBe("done");
      expect(await outcome(members.changeRole(tenant, by(admin), admin, "admin"))).toBe("forbidden");
      expect(await outcome(members.remove(await workspace(), by(admin), viewer))).toBe("not_found");
    });
  });

  describe("whoever lost the right", () => {
    const key = { name: "kept", scopes: ["admin"] as const };

    test("makes no API key with a call that began before", async () => {
      const tenant = await workspace();
      const owner = await person(tenant, "owner");
      const [removed, demoted] = [await person(tenant, "admin"), await person(tenant, "admin")];
      await members.remove(tenant, by(owner), removed);
      await members.changeRole(tenant, by(owner), demoted, "member");
      for (const lost of [removed, demoted])
        expect(await outcome(keys.create(tenant, key, by(lost)))).toBe("forbidden");
      const revoked = await byNewKey(sql, tenant);
      await keys.revoke(tenant, revoked.id, by(owner));
      expect(await outcome(keys.create(tenant, key, revoked))).toBe("forbidden");
      expect((await keys.list(tenant, 10)).filter(({ revokedAt }) => revokedAt === null)).toEqual([]);
      expect(await outcome(keys.create(tenant, key, by(owner)))).toBe("done");
    });

    test("has no key that their removal did not decide about, when both come at once from two processes", async () => {
      for (let round = 0; round < 10; round++) {
        const tenant = await workspace();
        const [owner, admin] = [await person(tenant, "owner"), await person(tenant, "admin")];
        const [made, removed] = await Promise.all([
          outcome(keys.create(tenant, key, by(admin))),
          outcome(membersElsewhere.remove(tenant, by(owner), admin, "revoke")),
        ]);
        expect([made, removed]).toBeOneOf([
          ["done", "done"],
          ["forbidden", "done"],
        ]);
        expect((await keys.list(tenant, 10)).filter(({ revokedAt }) => revokedAt === null)).toEqual([]);
      }
    });

    test("changes nothing with a key that was revoked", async () => {
      const tenant = await workspace();
      const [owner, viewer] = [await person(tenant, "owner"), await person(tenant, "viewer")];
      const revoked = await byNewKey(sql, tenant);
      await keys.revoke(tenant, revoked.id, by(owner));
      expect(await outcome(members.changeRole(tenant, revoked, viewer, "admin"))).toBe("forbidden");
      expect(await outcome(members.remove(tenant, revoked, viewer))).toBe("forbidden");
    });
  });

  describe("an owner remains", () => {
    test("whatever is asked", async () => {
      const tenant = await workspace();
      const owner = await person(tenant, "owner");
      await person(tenant, "admin");
      // An account that is disabled opens nothing, and an owner of another workspace is none of this.
      await person(tenant, "owner", { disabled: true });
      await person(await workspace(), "owner");
      for (const actor of [by(owner), byCommand]) {
        expect(await outcome(members.changeRole(tenant, actor, owner, "admin"))).toBe("last_owner");
        expect(await outcome(members.remove(tenant, actor, owner))).toBe("last_owner");
      }
      expect(await outcome(members.changeRole(tenant, by(owner), owner, "owner"))).toBe("done");
    });

    test("when two remove each other at once, from two processes", async () => {
      for (let round = 0; round < 10; round++) {
        const tenant = await workspace();
        const [one, two] = [await person(tenant, "owner"), await person(tenant, "owner")];
        const outcomes = await Promise.all([
          outcome(members.remove(tenant, by(one), two)),
          outcome(membersElsewhere.remove(tenant, by(two), one)),
        ]);
        expect(outcomes.toSorted()).toEqual(["done", "forbidden"]);
        expect(await roles(tenant)).toEqual(["owner"]);
      }
    });

    test("when all leave or step down at once, from two processes", async () => {
      for (let round = 0; round < 5; round++) {
        const tenant = await workspace();
        const owners = await Promise.all(Array.from({ length: 4 }, () => person(tenant, "owner")));
        const outcomes = await Promise.all(
          owners.map((owner, place) => {
            const where = place % 2 === 0 ? members : membersElsewhere;
            const left =
              place < 2 ? where.remove(tenant, by(owner), owner) : where.changeRole(tenant, by(owner), owner, "viewer");
            return outcome(left);
          }),
        );
        expect(outcomes.toSorted()).toEqual(["done", "done", "done", "last_owner"]);
        expect((await roles(tenant)).filter((role) => role === "owner")).toHaveLength(1);
      }
    });

    test("when the workspace is handed over", async () => {
      const tenant = await workspace();
      const [owner, admin] = [await person(tenant, "owner"), await person(tenant, "admin")];
      const off = await person(tenant, "member", { disabled: true });
      expect(await outcome(members.transfer(tenant, admin, owner, "admin"))).toBe("forbidden");
      expect(await outcome(members.transfer(tenant, owner, owner, "admin"))).toBe("last_owner");
      expect(await outcome(members.transfer(tenant, owner, off, "admin"))).toBe("last_owner");
      published.length = 0;
      expect(await outcome(members.transfer(tenant, owner, admin, "viewer"))).toBe("done");
      expect(published.toSorted()).toEqual([owner, admin].toSorted());
      expect(await members.find(tenant, admin)).toMatchObject({ role: "owner" });
      expect(await members.find(tenant, owner)).toMatchObject({ role: "viewer" });
      expect(await outcome(members.transfer(tenant, owner, admin, "viewer"))).toBe("forbidden");
    });
  });

  describe("a person who goes", () => {
    test("may always leave, and is published", async () => {
      const tenant = await workspace();
      await person(tenant, "owner");
      const viewer = await person(tenant, "viewer");
      published.length = 0;
      expect(await outcome(members.remove(tenant, by(viewer), viewer))).toBe("done");
      expect(published).toEqual([viewer]);
      expect(await historyOf(tenant)).toMatchObject({ action: "member.leave", actor_id: viewer, subject_id: viewer });
      expect(await outcome(members.remove(tenant, by(viewer), viewer))).toBe("not_found");
    });

    test("leaves it to the one who removes them what becomes of their keys that work", async () => {
      const tenant = await workspace();
      const [owner, admin] = [await person(tenant, "owner"), await person(tenant, "admin")];
      const make = (createdBy: PersonId, expiresAt: number | null = null) =>
        keys.create(tenant, { name: "k", scopes: ["links:read"], expiresAt }, by(createdBy));
      const [one, two, ofOwner] = [await make(admin), await make(admin), await make(owner)];
      const gone = await make(admin);
      await keys.revoke(tenant, gone.key.id, by(admin));
      await make(admin, clock.now());
      const refused = await members.remove(tenant, by(owner), admin).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: "keys_undecided", more: { figures: { keys: 2 } } });
      expect(await outcome(members.remove(tenant, by(owner), admin, "revoke"))).toBe("done");
      expect(await keys.authenticate(one.secret)).toBeUndefined();
      expect(await keys.authenticate(two.secret)).toBeUndefined();
      expect(await keys.authenticate(ofOwner.secret)).toBeDefined();
      expect((await historyOf(tenant))?.after_change).toBe(
        JSON.stringify({ revokedKeys: [one.key.id, two.key.id].sort() }),
      );
    });

    test("may leave keys that go on working", async () => {
      const tenant = await workspace();
      await person(tenant, "owner");
      const admin = await person(tenant, "admin");
      const { secret } = await keys.create(tenant, { name: "k", scopes: ["links:read"] }, by(admin));
      expect(await outcome(members.remove(tenant, by(admin), admin))).toBe("keys_undecided");
      expect(await outcome(members.remove(tenant, by(admin), admin, "keep"))).toBe("done");
      expect(await keys.authenticate(secret)).toBeDefined();
    });
  });
});
