import { Problem } from "../../base/errors.ts";
import type { TenantId } from "../../base/ids.ts";
import type { Actor } from "../../history/history.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant, type Trx } from "../../sql/tenant-db.ts";
import type { Role } from "../roles.ts";

/**
 * As it is now, not as it was when the call was authenticated. A key with the scope `admin` does what an admin may. It is
 * locked: whoever revokes it waits, and then finds what it made.
 */
export async function roleOf(sql: Sql, trx: Trx, tenant: TenantId, by: Actor): Promise<Role> {
  if (by.kind === "key") {
    const key = ofTenant(trx, tenant).selectFrom("api_keys").select("revoked_at").where("id", "=", by.id);
    if ((await sql.forShare(key).executeTakeFirst())?.revoked_at === null) return "admin";
    throw new Problem("forbidden", "This API key was revoked.");
  }
  if (by.kind !== "person") return "owner";
  const own = ofTenant(trx, tenant).selectFrom("members").select("role").where("person_id", "=", by.id);
  const row = await own.executeTakeFirst();
  if (row === undefined) throw new Problem("forbidden", "You are no longer a member of this workspace.");
  return row.role;
}
