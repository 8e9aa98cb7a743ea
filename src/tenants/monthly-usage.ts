import type { TenantId } from "../base/ids.ts";
import type { MonthlyUse } from "../sql/schema.ts";
import { type Params, statement } from "../sql/statement.ts";
import { type Db, ofTenant, type TenantDb, type Trx } from "../sql/tenant-db.ts";

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
export async function spendOfMonth(trx: Trx, { tenant, name, month }: MonthlyRow, amount: number): Promise<number> {
  const { used } = await addUse.one(ofTenant(trx, tenant), { name, month, amount });
  return used - amount;
}

export async function usedInMonth(db: Db, { tenant, name, month }: MonthlyRow): Promise<number> {
  const found = await selectUse.first(ofTenant(db, tenant), { name, month });
  return found?.used ?? 0;
}

type Month = Omit<MonthlyRow, "tenant">;

const addUse = statement((own: TenantDb, { name, month, amount }: Params<Month & { amount: number }>) =>
  own
    .insertInto("tenant_usage")
    .values({ name, month, used: amount })
    .onConflict((conflict) =>
      conflict.columns(["tenant_id", "name", "month"]).doUpdateSet((expression) => ({
        used: expression("tenant_usage.used", "+", amount),
      })),
    )
    .returning("used"),
);

const selectUse = statement((own: TenantDb, { name, month }: Params<Month>) =>
  own.selectFrom("tenant_usage").select("used").where("name", "=", name).where("month", "=", month),
);
