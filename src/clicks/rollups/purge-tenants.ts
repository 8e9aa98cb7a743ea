import { sql as raw } from "kysely";
import type { TenantNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { acrossTenants, type Db } from "../../sql/tenant-db.ts";
import { daysInUtc, deleteDay } from "./purge-events.ts";

/**
 * Deletes what deleted tenants left behind: rows that have their number, and so do not go with the row of the tenant.
 * Roll-ups have a walk of their own (`purge-rollups.ts`), and visitors go with their day.
 *
 * Nothing is added meanwhile. The writer adds the totals of links in the transaction of their clicks, and these refer to
 * the tenant: once it is deleted, the transaction fails. Every event lies in a day of its tenant; days are
 * deleted last, so that a run that is interrupted continues with the next one.
 */
export async function purgeGoneTenants(sql: Sql, signal?: AbortSignal): Promise<number> {
  let deleted = 0;
  for (const table of ["click_days", "click_values"] as const) {
    for await (const tenant of goneTenants(sql.db, table)) {
      const days = await sql.db
        .selectFrom("click_days")
        .select(["start", "until"])
        .where("tenant", "=", tenant)
        .execute();
      for (const day of daysInUtc(days)) {
        signal?.throwIfAborted();
        deleted += await deleteDay(sql, tenant, day);
      }
      await deleteValues(sql.db, tenant, signal);
      await sql.db.deleteFrom("click_days").where("tenant", "=", tenant).execute();
    }
  }
  return deleted;
}

const pageTenants = 200;
const valuesAtOnce = 500;

/** Jumps from one tenant to the next, and reads none of the rows between. */
async function* goneTenants(db: Db, table: "click_days" | "click_values"): AsyncGenerator<TenantNumber> {
  const rows = raw.table(table);
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    // Tenants have negative numbers; 0 has the values that all share.
    const { rows: found } = await raw<{ tenant: TenantNumber | null }>`
      with recursive found (tenant) as (
        select min(tenant) from ${rows} where tenant > ${after} and tenant < 0
        union all
        select (select min(tenant) from ${rows} where tenant > found.tenant and tenant < 0) from found
        where found.tenant is not null
      )
      select tenant from found limit ${pageTenants}`.execute(db);
    const page = found.flatMap(({ tenant }) => tenant ?? []);
    const last = page.at(-1);
    if (last === undefined) return;
    const live = await acrossTenants(db).selectFrom("tenants").select("number").where("number", "in", page).execute();
    const known = new Set(live.map(({ number }) => number));
    yield* page.filter((tenant) => !known.has(tenant));
    if (page.length < pageTenants) return;
    after = last;
  }
}

async function deleteValues(db: Db, tenant: TenantNumber, signal?: AbortSignal): Promise<void> {
  for (;;) {
    signal?.throwIfAborted();
    const some = await db
      .selectFrom("click_values")
      .select("id")
      .where("tenant", "=", tenant)
      .limit(valuesAtOnce)
      .execute();
    if (some.length === 0) return;
    const ids = some.map(({ id }) => id);
    await db.deleteFrom("click_values").where("id", "in", ids).execute();
  }
}
