import { beforeAll, describe, expect, test } from "bun:test";
import type { TenantId } from "../../src/base/ids.ts";
import { recordHistory } from "../../src/history/history.ts";
import { type AccountData, createAccountData } from "../../src/people/account-data.ts";
import { createInvitations, type Invitations } from "../../src/people/workspaces/invitations.ts";
import { createWorkspaces } from "../../src/people/workspaces/workspaces.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { ofTenant } from "../../src/sql/tenant-db.ts";
import { onEachDatabase } from "./databases.ts";
import { by, clock, newMember, newPerson, newWorkspace, outcome, touchOf } from "./people.ts";

/** The end of an account, and what it takes along. */
onEachDatabase(({ openTwo }) => {
  let [sql, other] = [] as unknown as [Sql, Sql];
  let data: AccountData;
  let invitations: Invitations;

  beforeAll(async () => {
    [sql, other] = await openTwo();
    data = createAccountData({ sql, clock, sessions: touchOf(sql) });
    invitations = createInvitations({ sql, clock, sessions: touchOf(sql) });
  });

  const past = async (tenant: TenantId) => {
    const rows = ofTenant(sql.db, tenant).selectFrom("history").selectAll().where("subject_kind", "=", "invitation");
    return (await rows.orderBy("id").execute()).map(({ action, before_change, after_change, mailbox }) => ({
      ...{ action, before: before_change && JSON.parse(before_change), mailbox },
      after: after_change && JSON.parse(after_change),
    }));
  };

  const invite = async (tenant: TenantId, email: string) => {
    const owner = await newMember(sql, tenant, "owner");
    const to = { email, mailbox: email.toLowerCase() };
    const { invitation } = await invitations.create(tenant, by(owner), {
      ...{ to, role: "member", expiresAt: clock.now() + 1_000 },
    });
    return { owner, id: invitation.id };
  };

  describe("the address of a deleted account", () => {
    test("leaves the history of workspaces that invited it, under every address that it had, and no other's", async () => {
      const [tenant, elsewhere] = [await newWorkspace(sql), await newWorkspace(sql)];
      const { id, email } = await newPerson(sql, { email: "Leaving@example.com" });
      await sql.transaction((trx) =>
        recordHistory(trx, clock, {
          ...{ tenant: "", actor: by(id), action: "person.update", subject: { kind: "person", id } },
          ...{ before: { email: "former@example.com" }, after: { email } },
        }),
      );
      const made = await invite(tenant, email);
      await invitations.revoke(tenant, by(made.owner), made.id);
      await invite(elsewhere, "former@example.com");
      await invite(elsewhere, "staying@example.com");
      await data.erase(id);
      const gone = { mailbox: null };
      expect(await past(tenant)).toEqual([
        { action: "invitation.create", before: null, after: { role: "member" }, ...gone },
        { action: "invitation.revoke", before: { role: "member" }, after: null, ...gone },
      ]);
      expect(await past(elsewhere)).toEqual([
        { action: "invitation.create", before: null, after: { role: "member" }, ...gone },
        {
          ...{ action: "invitation.create", before: null, mailbox: "staying@example.com" },
          after: { role: "member", email: "staying@example.com" },
        },
      ]);
    });
  });

  describe("an account that is deleted while it does something else", () => {
    test("joins no workspace whose owners and keys were not looked at", async () => {
      for (let round = 0; round < 10; round++) {
        const tenant = await newWorkspace(sql);
        const { id, mailbox } = await newPerson(sql);
        const owner = await newMember(sql, tenant, "owner");
        const link = { to: null, role: "owner", expiresAt: clock.now() + 1_000 } as const;
        const { token } = await invitations.create(tenant, by(owner), link);
        const joining = createInvitations({ sql: other, clock, sessions: touchOf(other) });
        const [left, joined] = await Promise.all([
          outcome(data.erase(id)),
          outcome(joining.accept(token, { id, mailbox })),
        ]);
        const rows = ofTenant(sql.db, tenant).selectFrom("history").select("action").where("actor_id", "=", id);
        const did = (await rows.orderBy("id").execute()).map(({ action }) => action);
        if (left === "busy") expect([joined, did]).toEqual(["done", ["member.join"]]);
        else expect([left, did]).toEqual(["done", joined === "done" ? ["member.join", "member.leave"] : []]);
      }
    });

    test("is deleted once, when it is asked for twice at once from two processes", async () => {
      const elsewhere = createAccountData({ sql: other, clock, sessions: touchOf(other) });
      for (let round = 0; round < 5; round++) {
        const { id } = await newPerson(sql);
        const both = await Promise.all([outcome(data.erase(id)), outcome(elsewhere.erase(id))]);
        expect(both.toSorted()).toEqual(["done", "unauthorized"]);
        const rows = ofTenant(sql.db, "").selectFrom("history").select("action").where("subject_id", "=", id);
        expect(await rows.execute()).toEqual([{ action: "person.delete" }]);
      }
    });

    test("is told so by what comes too late", async () => {
      const { id, mailbox } = await newPerson(sql);
      const tenant = await newWorkspace(sql);
      const owner = await newMember(sql, tenant, "owner");
      const link = { to: null, role: "member", expiresAt: clock.now() + 1_000 } as const;
      const { token } = await invitations.create(tenant, by(owner), link);
      await data.erase(id);
      const workspaces = createWorkspaces({ sql, clock, sessions: touchOf(sql), publish() {} });
      expect(await outcome(workspaces.create(id, { slug: "too-late", name: "Too late" }))).toBe("unauthorized");
      expect(await outcome(invitations.accept(token, { id, mailbox }))).toBe("unauthorized");
    });
  });
});
