import type { TenantId } from "../../base/ids.ts";
import type { Ring } from "../../base/seal.ts";
import type { Sql } from "../../sql/sql.ts";
import { acrossTenants, ofTenant } from "../../sql/tenant-db.ts";
import { sendgridContext } from "./settings.ts";

export interface Resealed {
  readonly resealed: number;
  /** They were sealed with the first key already. */
  readonly current: number;
  /** They cannot be opened with any key of the ring. */
  readonly lost: readonly TenantId[];
}

const rowsAtOnce = 100;

/**
 * Every sealed secret under the first key of the ring. Each row by itself: whoever is stopped in the middle goes on where
 * it was. A row that somebody saves meanwhile stays as they saved it, and is looked at again.
 */
export async function resealAll(sql: Sql, ring: Ring): Promise<Resealed> {
  let [resealed, current] = [0, 0];
  const lost: TenantId[] = [];
  for (let after = ""; ; ) {
    const rows = await acrossTenants(sql.db)
      .selectFrom("email_settings")
      .select("tenant_id")
      .where("sendgrid_key", "is not", null)
      .where("tenant_id", ">", after as TenantId)
      .orderBy("tenant_id")
      .limit(rowsAtOnce)
      .execute();
    for (const { tenant_id: tenant } of rows) {
      const outcome = await resealOne(sql, ring, tenant);
      if (outcome === "resealed") resealed++;
      if (outcome === "current") current++;
      if (outcome === "lost") lost.push(tenant);
    }
    const last = rows.at(-1)?.tenant_id;
    if (last === undefined || rows.length < rowsAtOnce) return { resealed, current, lost };
    after = last;
  }
}

async function resealOne(sql: Sql, ring: Ring, tenant: TenantId): Promise<"resealed" | "current" | "lost" | "gone"> {
  const own = ofTenant(sql.db, tenant);
  for (;;) {
    const row = await own.selectFrom("email_settings").select("sendgrid_key").executeTakeFirst();
    const sealed = row?.sendgrid_key ?? null;
    if (sealed === null) return "gone";
    if (ring.isCurrent(sealed)) return "current";
    const opened = ring.open(sealed, sendgridContext(tenant));
    if (opened.kind !== "opened") return "lost";
    const { numUpdatedRows } = await own
      .updateTable("email_settings")
      .set({ sendgrid_key: ring.seal(opened.secret, sendgridContext(tenant)) })
      .where("sendgrid_key", "=", sealed)
      .executeTakeFirst();
    if (numUpdatedRows > 0n) return "resealed";
  }
}
