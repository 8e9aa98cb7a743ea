import type { TenantId } from "../base/ids.ts";
import type { MonthlyUse } from "../sql/schema.ts";
import { type Db, ofTenant, type Trx } from "../sql/tenant-db.ts";

/**
 * What a tenant has used this month, counted in the transaction that uses it: a crash undoes both or neither, so
 * nothing can drift.
 */
export interface MonthlyRow {
  readonly tenant: TenantId;
  readonly name: MonthlyUse;
  /** `2026-11` */
  readonly month: string;
}

/** Adds `amount`, and returns what was used before. The row stays locked until the transaction ends. */
export async function spendOfMonth(trx: Trx, row: MonthlyRow, amount: number): Promise<number> {
  const { used } = await ofTenant(trx, row.tenant)
    .insertInto("tenant_usage")
    .values({ name: row.name, month: row.month, used: amount })
    .onConflict((conflict) =>
      conflict.columns(["tenant_id", "name", "month"]).doUpdateSet((expression) => ({
        used: expression("tenant_usage.used", "+", amount),
      })),
    )
    .returning("used")
    .executeTakeFirstOrThrow();
  return used - amount;
}

export async function usedInMonth(db: Db, row: MonthlyRow): Promise<number> {
  const found = await ofTenant(db, row.tenant)
    .selectFrom("tenant_usage")
    .select("used")
    .where("name", "=", row.name)
    .where("month", "=", row.month)
    .executeTakeFirst();
  return found?.used ?? 0;
}
