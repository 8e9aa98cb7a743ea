import { beforeAll, describe, expect, test } from "bun:test";
import { dayMs } from "../../src/base/clock.ts";
import { createPasswords } from "../../src/base/passwords.ts";
import type { Change } from "../../src/cache/feed.ts";
import { createCodes } from "../../src/codes/codes.ts";
import { createIssuer } from "../../src/codes/issuer.ts";
import { byCommand } from "../../src/history/history.ts";
import { createLinks, type Links } from "../../src/links/links.ts";
import { createLinkStore, type LinkStore } from "../../src/links/store.ts";
import { createWorkspaces, type Workspaces } from "../../src/people/workspaces/workspaces.ts";
import { takeCodeBlock } from "../../src/sql/code-counter.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { tenantNumberOf } from "../../src/tenants/tenant-number.ts";
import { createTenants, type Tenant, type Tenants } from "../../src/tenants/tenants.ts";
import { nameOf } from "../ground/changes.ts";
import { linkStores } from "../ground/links.ts";
import { onEachDatabase } from "./databases.ts";
import { by, clock, lastHistory, newMember, newPerson, newWorkspace, outcome, touchOf } from "./people.ts";

onEachDatabase(({ open }) => {
  let sql: Sql;
  let workspaces: Workspaces;
  let tenants: Tenants;
  let store: LinkStore;
  let links: Links;
  const touched: string[] = [];
  const changes: Change[] = [];

  beforeAll(async () => {
    sql = await open();
    tenants = createTenants(sql, clock);
    const sessions = touchOf(sql, touched);
    workspaces = createWorkspaces({ sql, clock, sessions, publish: (change) => changes.push(change) });
    store = createLinkStore(sql);
    links = createLinks({
      ...linkStores(sql),
      store,
      issuer: createIssuer(createCodes("a salt for tests of workspaces"), (size) => takeCodeBlock(sql, size), 1_000),
      clock,
      ownHosts: new Set(),
      passwords: createPasswords(),
      defaultDays: 365,
      publish() {},
    });
  });

  const mayAs = (actor: ReturnType<typeof by>, isOperator = false) => ({ actor, isOperator });

  describe("a workspace", () => {
    test("belongs to the person who creates it, who sees it at once", async () => {
      const ann = await newPerson(sql);
      touched.length = 0;
      const id = await workspaces.create(ann.id, { slug: "anns", name: "Ann's" });
      expect(touched).toEqual([ann.id]);
      expect(await workspaces.ofPerson(ann.id)).toEqual([
        { id, slug: "anns", name: "Ann's", role: "owner", isSuspended: false, deleteAt: null },
      ]);
      expect(await lastHistory(sql, id)).toMatchObject({ action: "workspace.create", actor_id: ann.id });
    });

    test("has a slug that is free, on creation and later", async () => {
      const ann = await newPerson(sql);
      const id = await workspaces.create(ann.id, { slug: "taken", name: "Taken" });
      expect(await outcome(workspaces.create(ann.id, { slug: "taken", name: "Other" }))).toBe("name_taken");
      expect(await outcome(workspaces.create(ann.id, { slug: "Not a slug", name: "Other" }))).toBe("invalid_input");
      expect(await outcome(workspaces.change(id, by(ann.id), { slug: "twin" }))).toBe("name_taken");
      expect(await outcome(workspaces.change(id, by(ann.id), { slug: "../up" }))).toBe("invalid_input");
      expect(await workspaces.ofPerson(ann.id)).toHaveLength(1);
    });

    test("is renamed for all of its members", async () => {
      const tenant = await newWorkspace(sql);
      const people = [await newMember(sql, tenant, "owner"), await newMember(sql, tenant, "viewer")];
      const [owner = people[0] as never] = people;
      touched.length = 0;
      await workspaces.change(tenant, by(owner), { name: "New name", slug: "new-slug" });
      expect(touched.toSorted()).toEqual([String(await tenantNumberOf(sql.db, tenant)), ...people].toSorted());
      expect(await tenants.bySlug("new-slug")).toMatchObject({ id: tenant, name: "New name" });
      expect(await lastHistory(sql, tenant)).toMatchObject({
        ...{ action: "workspace.update", after_change: '{"slug":"new-slug","name":"New name"}' },
      });
      touched.length = 0;
      await workspaces.change(tenant, by(owner), { name: "New name" });
      expect(touched).toEqual([]);
    });
  });

  describe("a deleted workspace", () => {
    test("stops at once with its links and domains, and goes on when it is restored", async () => {
      const tenant = await newWorkspace(sql);
      const people = [await newMember(sql, tenant, "owner"), await newMember(sql, tenant, "admin")];
      const owner = people[0] as (typeof people)[number];
      const whole = (await tenants.byId(tenant)) as Tenant;
      const { code } = await links.create(whole, { url: "https://example.com/" }, byCommand);
      const before = (await store.target("", code)).version;
      changes.length = 0;
      clock.advance(1);
      const deleteAt = await workspaces.remove(tenant, mayAs(by(owner)));
      expect(deleteAt).toBe(clock.now() + 30 * dayMs);
      const number = String(await tenantNumberOf(sql.db, tenant));
      const told = changes.map((change) => (change.kind === "link" ? "" : nameOf(change)));
      expect(told.toSorted()).toEqual([number, ...people].toSorted());
      expect(await tenants.byId(tenant)).toMatchObject({ deleteAt, suspended: null });
      expect(await workspaces.ofPerson(owner)).toMatchObject([{ id: tenant, deleteAt }]);
      expect(await store.target("", code)).toMatchObject({ version: before });
      expect(await lastHistory(sql, tenant)).toMatchObject({ action: "workspace.delete", actor_id: owner });

      expect(await workspaces.remove(tenant, mayAs(by(owner)))).toBe(deleteAt);
      await workspaces.restore(tenant, mayAs(by(owner)));
      expect(await store.target("", code)).toMatchObject({ version: before, value: { suspended: false } });
      expect(await tenants.byId(tenant)).toMatchObject({ deleteAt: null });
    });

    test("is deleted and restored by owners and the operator only, and by nobody when its time is over", async () => {
      const tenant = await newWorkspace(sql);
      const owner = await newMember(sql, tenant, "owner");
      const admin = await newMember(sql, tenant, "admin");
      const { id: stranger } = await newPerson(sql, { operator: true });
      for (const other of [admin, stranger]) {
        expect(await outcome(workspaces.remove(tenant, mayAs(by(other))))).toBe("forbidden");
        expect(await outcome(workspaces.restore(tenant, mayAs(by(other))))).toBe("forbidden");
      }
      expect(await outcome(workspaces.remove(tenant, mayAs(by(stranger), true)))).toBe("done");
      expect(await outcome(workspaces.restore(tenant, mayAs(by(admin))))).toBe("forbidden");
      clock.advance(30 * dayMs - 1);
      expect(await outcome(workspaces.restore(tenant, mayAs(by(owner))))).toBe("done");
      await workspaces.remove(tenant, mayAs(by(owner)));
      clock.advance(30 * dayMs);
      expect(await outcome(workspaces.restore(tenant, mayAs(by(owner))))).toBe("not_found");
      expect(await outcome(workspaces.restore(tenant, mayAs(by(stranger), true)))).toBe("not_found");
    });
  });
});
