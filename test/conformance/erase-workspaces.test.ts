import { beforeAll, describe, expect, test } from "bun:test";
import { sql as raw } from "kysely";
import { dayMs } from "../../src/base/clock.ts";
import { newId, type TenantId } from "../../src/base/ids.ts";
import { createFileStore } from "../../src/files/store.ts";
import { createLinkStore } from "../../src/links/store.ts";
import { createTrashStore } from "../../src/links/trash/trash-store.ts";
import { eraseWorkspaces } from "../../src/people/workspaces/erase.ts";
import { createWorkspaces, type Workspaces } from "../../src/people/workspaces/workspaces.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { ofTenant } from "../../src/sql/tenant-db.ts";
import { createKeys } from "../../src/tenants/keys.ts";
import { onEachDatabase } from "./databases.ts";
import { by, clock, newMember, newWorkspace, touchOf } from "./people.ts";

onEachDatabase(({ open }) => {
  let sql: Sql;
  let workspaces: Workspaces;

  beforeAll(async () => {
    sql = await open();
    workspaces = createWorkspaces({ sql, clock, sessions: touchOf(sql), publish() {} });
  });

  const erase = () => eraseWorkspaces({ sql, clock, trash: createTrashStore(sql) });

  /** A row in every table that matters, with more links than one step takes. */
  async function filled(links = 450): Promise<TenantId> {
    const tenant = await newWorkspace(sql);
    const own = ofTenant(sql.db, tenant);
    await newMember(sql, tenant, "owner");
    await createKeys({ sql, clock }).create(tenant, { name: "k", scopes: ["admin"] }, { kind: "command" });
    for (let i = 0; i < links; i++) {
      const code = `${tenant.slice(-6)}-${i}`;
      await raw`insert into link_versions (domain, code, version, state, tenant_id) values ('', ${code}, 1, 'live', ${tenant})`.execute(
        sql.db,
      );
      await raw`insert into links (id, tenant_id, domain, code, url, permanent, status, tags, created_at, updated_at)
        values (${newId("link", clock)}, ${tenant}, '', ${code}, 'https://example.com/', 0, 'active', '[]', 1, 1)`.execute(
        sql.db,
      );
    }
    await own
      .insertInto("suppressions")
      .values({ address: "a@example.com", reason: "manual", created_at: 1 })
      .execute();
    return tenant;
  }

  const rowsOf = async (tenant: TenantId) => {
    const found: Record<string, number> = {};
    for (const { name, columns } of await sql.db.introspection.getTables()) {
      if (!columns.some((column) => column.name === "tenant_id") || name === "link_versions") continue;
      const { rows } = await raw<{
        n: number;
      }>`select count(*) as n from ${raw.table(name)} where tenant_id = ${tenant}`.execute(sql.db);
      if (Number(rows[0]?.n) > 0) found[name] = Number(rows[0]?.n);
    }
    return found;
  };

  describe("a workspace that was deleted 30 days ago", () => {
    test("is erased with everything that it had, and its codes stay taken", async () => {
      const [tenant, other] = [await filled(), await filled(3)];
      const before = await rowsOf(other);
      const right = { actor: by(await newMember(sql, tenant, "owner")), isOperator: false };
      await workspaces.remove(tenant, right);
      clock.advance(30 * dayMs - 1);
      expect(await erase()).toBe(0);
      clock.advance(1);
      expect(await erase()).toBe(1);
      expect(await rowsOf(tenant)).toEqual({});
      expect(await sql.db.selectFrom("tenants").select("id").where("id", "=", tenant).execute()).toEqual([]);
      const codes = sql.db.selectFrom("link_versions").select("state").distinct().where("tenant_id", "=", tenant);
      expect(await codes.execute()).toEqual([{ state: "deleted" }]);
      expect(await createLinkStore(sql).target("", `${tenant.slice(-6)}-0`)).toEqual({ version: 2, value: undefined });
      expect(await rowsOf(other)).toEqual(before);
      expect(await erase()).toBe(0);
      const gone = ofTenant(sql.db, "")
        .selectFrom("history")
        .select("subject_id")
        .where("action", "=", "workspace.erase");
      expect(await gone.execute()).toEqual([{ subject_id: tenant }]);
    });

    test("waits until its files are out of the storage", async () => {
      const tenant = await filled(1);
      const files = createFileStore(sql);
      const file = { id: newId("file", clock), tenantId: tenant };
      await files.insert({
        ...file,
        name: "a",
        sizeBytes: 1,
        type: "text/plain",
        sha256: null,
        createdAt: clock.now(),
      });
      await workspaces.remove(tenant, { actor: { kind: "command" }, isOperator: true });
      clock.advance(30 * dayMs);
      expect(await erase()).toBe(0);
      expect(await rowsOf(tenant)).toMatchObject({ links: 1, files: 1 });
      // What the sweep does once the object is gone.
      expect((await files.get(tenant, file.id))?.state).toBe("deleting");
      await files.erase(file);
      expect(await erase()).toBe(1);
      expect(await rowsOf(tenant)).toEqual({});
    });
  });
});
