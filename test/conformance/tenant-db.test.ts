import { beforeAll, describe, expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import type { TenantId } from "../../src/base/ids.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants, ofTenant } from "../../src/sql/tenant-db.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { onEachDatabase } from "./databases.ts";
import { requireUntouchedTwin, twin } from "./two-tenants.ts";

const domain = {
  state: "pending",
  token: "t",
  is_default: 0,
  root_blocked: 0,
  missing_blocked: 0,
  created_at: 1,
} as const;

onEachDatabase(({ open }) => {
  let sql: Sql;
  let ours: TenantId;
  let theirs: TenantId;

  beforeAll(async () => {
    sql = await open();
    const tenants = createTenants(sql, systemClock);
    ours = (await tenants.create("ours", "Ours", byCommand)).id;
    theirs = (await tenants.create("theirs", "Theirs", byCommand)).id;
    for (const tenant of [ours, theirs]) {
      await ofTenant(sql.db, tenant)
        .insertInto("domains")
        .values(["a.example.com", "b.example.com"].map((host) => ({ ...domain, host })))
        .execute();
    }
  });

  const hosts = async (tenant: TenantId) => {
    const rows = await ofTenant(sql.db, tenant)
      .selectFrom("domains")
      .select(["host", "token"])
      .orderBy("host")
      .execute();
    return rows.map(({ host, token }) => `${host} ${token}`);
  };

  describe("a tenant's handle", () => {
    test("reads the tenant's rows only, also by another name and in a subquery", async () => {
      const own = ofTenant(sql.db, ours);
      expect(await own.selectFrom("domains as d").selectAll().execute()).toHaveLength(2);
      const joined = own
        .selectFrom("domains as d")
        .innerJoin(own.selectFrom("domains as e").select("e.host").as("other"), (join) => join.onTrue());
      expect(await joined.select(["d.host", "other.host as with"]).execute()).toHaveLength(4);
    });

    test("changes and deletes the tenant's rows only", async () => {
      await ofTenant(sql.db, ours).updateTable("domains").set({ token: "changed" }).execute();
      expect(await hosts(ours)).toEqual(["a.example.com changed", "b.example.com changed"]);
      expect(await hosts(theirs)).toEqual(["a.example.com t", "b.example.com t"]);
      await sql.transaction(async (trx) => {
        await ofTenant(trx, ours).deleteFrom("domains").where("host", "=", "b.example.com").execute();
      });
      expect(await hosts(ours)).toEqual(["a.example.com changed"]);
      expect(await hosts(theirs)).toEqual(["a.example.com t", "b.example.com t"]);
    });

    test("writes rows as the tenant's, whatever they say themselves", async () => {
      const row = { ...domain, host: "c.example.com", tenant_id: theirs };
      await ofTenant(sql.db, ours).insertInto("domains").values(row).execute();
      expect(await hosts(ours)).toContain("c.example.com t");
      expect(await hosts(theirs)).not.toContain("c.example.com t");
    });

    test("updates on conflict its own row, and leaves another tenant's alone", async () => {
      const write = (tenant: TenantId, token: string) =>
        ofTenant(sql.db, tenant)
          .insertInto("domains")
          .values({ ...domain, host: "d.example.com", token })
          .onConflict((conflict) => conflict.columns(["tenant_id", "host"]).doUpdateSet({ token }))
          .execute();
      await write(theirs, "theirs");
      await write(ours, "first");
      await write(ours, "second");
      expect(await hosts(ours)).toContain("d.example.com second");
      expect(await hosts(theirs)).toContain("d.example.com theirs");
    });
  });

  describe("the twin", () => {
    test("has a copy of what a tenant inserts, and a change to it is noticed", async () => {
      expect(await hosts(twin)).toContain("a.example.com twin");
      await acrossTenants(sql.db)
        .updateTable("domains")
        .set({ token: "lost" })
        .where("host", "=", "a.example.com")
        .execute();
      await expect(requireUntouchedTwin(sql)).rejects.toThrow("another tenant's rows were changed: UPDATE domains");
      await acrossTenants(sql.db).deleteFrom("domains").execute();
      await expect(requireUntouchedTwin(sql)).rejects.toThrow("another tenant's rows were changed: DELETE domains");
      await requireUntouchedTwin(sql);
    });
  });
});
