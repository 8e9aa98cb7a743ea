import type { TenantId } from "../../base/ids.ts";
import type { Ring } from "../../base/seal.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { sendgridContext, tenantsWith } from "./settings.ts";

export interface Resealed {
  readonly resealed: number;
  /** Already encrypted with the first key. */
  readonly current: number;
  /** Cannot be decrypted with any key of the ring. */
  readonly lost: readonly TenantId[];
}

/**
 * Encrypts every secret again with the first key of the ring. Row by row: an interrupted run continues where it
 * stopped. A row saved concurrently stays as saved, and is checked again.
 */
export async function resealAll(sql: Sql, ring: Ring): Promise<Resealed> {
  let [resealed, current] = [0, 0];
  const lost: TenantId[] = [];
  for await (const page of tenantsWith(sql, "sendgrid_key")) {
    for (const { tenant_id: tenant } of page) {
      const outcome = await resealOne(sql, ring, tenant);
      if (outcome === "resealed") resealed++;
      if (outcome === "current") current++;
      if (outcome === "lost") lost.push(tenant);
    }
  }
  return { resealed, current, lost };
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
