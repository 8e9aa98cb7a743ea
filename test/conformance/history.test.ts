import { beforeAll, describe, expect, test } from "bun:test";
import { manualClock } from "../../src/base/clock.ts";
import { newId, type TenantId } from "../../src/base/ids.ts";
import { createPasswords } from "../../src/base/passwords.ts";
import { createCodes } from "../../src/codes/codes.ts";
import { createIssuer } from "../../src/codes/issuer.ts";
import { createLinks, type Links } from "../../src/links/links.ts";
import { createLinkStore, type LinkStore } from "../../src/links/store.ts";
import { takeCodeBlock } from "../../src/sql/code-counter.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { ofTenant } from "../../src/sql/tenant-db.ts";
import { createTenants, type Tenant } from "../../src/tenants/tenants.ts";
import { byCommand, byKey } from "../ground/actors.ts";
import { linkStores } from "../ground/links.ts";
import { onEachDatabase } from "./databases.ts";

const url = "https://example.com/";
const codes = createCodes("a salt for tests, and only for them");

/** What the history says about changes of links, in the transaction of the change. */
onEachDatabase(({ openTwo }) => {
  const clock = manualClock(Date.UTC(2026, 10, 17));
  let sql: Sql;
  let store: LinkStore;
  let links: Links;
  let tenant: Tenant;
  let names = 0;

  beforeAll(async () => {
    [sql] = await openTwo();
    store = createLinkStore(sql);
    const issuer = createIssuer(codes, (size) => takeCodeBlock(sql, size), 100);
    const ownHosts = new Set(["go.example.com"]);
    links = createLinks({
      ...linkStores(sql),
      ...{ store, issuer, clock, ownHosts, passwords: createPasswords(), defaultDays: 365, publish() {} },
    });
  });

  const newTenant = () => createTenants(sql, clock).create(`tenant-${++names}`, "Somebody", byCommand);

  /** Oldest first. */
  async function rowsOf(owner: TenantId, subject?: string) {
    const all = ofTenant(sql.db, owner).selectFrom("history").selectAll().where("subject_kind", "<>", "workspace");
    let query = all.orderBy("at").orderBy("version");
    if (subject !== undefined) query = query.where("subject_id", "=", subject);
    return (await query.execute()).map(({ before_change, after_change, ...row }) => ({
      ...row,
      before: before_change && JSON.parse(before_change),
      after: after_change && JSON.parse(after_change),
    }));
  }

  describe("the history of links", () => {
    beforeAll(async () => {
      tenant = await newTenant();
    });

    test("has a row for an edit, with only the fields that changed, and who changed them", async () => {
      const link = await links.create(tenant, { url, title: "Before", tags: ["a"] }, byCommand);
      clock.advance(1);
      await links.patch(tenant, link.id, { title: "After", tags: ["a"], url: "https://example.org/" }, byKey);
      expect(await rowsOf(tenant.id, link.id)).toMatchObject([
        {
          ...{ at: clock.now(), action: "link.update", version: 2, tenant_id: tenant.id },
          ...{ actor_kind: "key", actor_id: byKey.id, actor_name: "a key" },
          ...{ subject_kind: "link", subject_id: link.id, subject_name: link.code },
        },
      ]);
      const [row] = await rowsOf(tenant.id, link.id);
      expect(row?.before).toEqual({ url, title: "Before" });
      expect(row?.after).toEqual({ url: "https://example.org/", title: "After" });
    });

    test("has no row for an edit that changed nothing, conflicted, or was refused", async () => {
      const link = await links.create(tenant, { url, title: "Same" }, byCommand);
      await links.patch(tenant, link.id, { title: "Same" }, byKey);
      await expect(links.patch(tenant, link.id, { title: "Other" }, byKey, 1)).rejects.toThrow();
      await expect(links.patch(tenant, link.id, { url: "ftp://example.com/" }, byKey)).rejects.toThrow();
      await expect(links.patch(tenant, link.id, { file: newId("file", clock) }, byKey)).rejects.toThrow();
      expect(await rowsOf(tenant.id, link.id)).toEqual([]);
    });

    test("never contains a password, only that it was set or removed", async () => {
      const link = await links.create(tenant, { url }, byCommand);
      for (const password of ["a first password", "a second one", null, null]) {
        clock.advance(1);
        await links.patch(tenant, link.id, { password }, byKey);
      }
      const rows = await rowsOf(tenant.id, link.id);
      expect(rows.map(({ before, after }) => [before, after])).toEqual([
        [{ password: null }, { password: "set" }],
        [{ password: "set" }, { password: "set" }],
        [{ password: "set" }, { password: "removed" }],
      ]);
      expect(JSON.stringify(rows)).not.toMatch(/first|second|argon/);
    });

    test("says what was deleted", async () => {
      const link = await links.create(tenant, { url, code: "deleted", title: "Gone" }, byCommand);
      await links.remove(tenant.id, link.id, byKey);
      expect(await rowsOf(tenant.id, link.id)).toMatchObject([
        { action: "link.delete", version: 2, before: { code: "deleted", url, title: "Gone" }, after: null },
      ]);
    });

    test("has the creation on the link itself, and no row for it", async () => {
      const owner = await newTenant();
      const byOperator = await links.create(owner, { url }, byCommand);
      const byCaller = await links.create(owner, { url }, byKey);
      expect(await rowsOf(owner.id)).toEqual([]);
      const made = await ofTenant(sql.db, owner.id)
        .selectFrom("links")
        .select(["id", "made_by_kind", "made_by"])
        .orderBy("made_by_kind")
        .execute();
      expect(made).toEqual([
        { id: byOperator.id, made_by_kind: "command", made_by: null },
        { id: byCaller.id, made_by_kind: "key", made_by: byKey.id },
      ]);
    });

    test.each([false, true])("has one row for a request for many links (atomic: %p)", async (atomic) => {
      const owner = await newTenant();
      const inputs = Array.from({ length: 250 }, (_, i) => ({ url, code: `bulk-${owner.slug}-${i}` }));
      await links.createMany(owner, inputs, byKey, atomic);
      expect(await rowsOf(owner.id)).toMatchObject([
        { action: "link.bulk", actor_kind: "key", subject_kind: "request", before: null, after: { created: 250 } },
      ]);
    });

    test("has one row for a request that ran again, and none for one that created nothing", async () => {
      const owner = await newTenant();
      const inputs = Array.from({ length: 3 }, () => ({ url, id: newId("link", clock) }));
      await links.createMany(owner, inputs.slice(0, 2), byKey);
      await links.createMany(owner, inputs, byKey);
      await links.createMany(owner, inputs, byKey);
      expect(await rowsOf(owner.id)).toMatchObject([{ after: { created: 3 } }]);
    });

    test("says that a link was purged by a job", async () => {
      const link = await links.create(tenant, { url, expiresAt: clock.now() + 1 }, byCommand);
      clock.advance(10);
      expect(await store.purge(clock.now(), 10, clock.now())).toBe(1);
      expect(await rowsOf(tenant.id, link.id)).toMatchObject([
        { action: "link.purge", actor_kind: "job", actor_name: "clean", version: 2 },
      ]);
    });
  });
});
