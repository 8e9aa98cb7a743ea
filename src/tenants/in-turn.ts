import type { Transaction } from "kysely";
import type { TenantId } from "../base/ids.ts";
import type { Schema } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";

/** Transactions of one tenant that begin with this run one after the other: what one counts, no other changes. */
export async function inTurn(sql: Sql, trx: Transaction<Schema>, tenant: TenantId): Promise<void> {
  await sql.locked(trx.selectFrom("tenants").select("id").where("id", "=", tenant)).execute();
}
