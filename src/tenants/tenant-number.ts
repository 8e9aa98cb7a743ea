import type { TenantId } from "../base/ids.ts";
import type { TenantNumber } from "../sql/schema.ts";
import { type Params, statement } from "../sql/statement.ts";
import type { Db } from "../sql/tenant-db.ts";

/** The tenant's name in the tables of clicks. It never changes. */
export const tenantNumberOf = async (db: Db, id: TenantId): Promise<TenantNumber> =>
  (await selectNumber.one(db, { id })).number;

const selectNumber = statement((db: Db, { id }: Params<{ id: TenantId }>) =>
  db.selectFrom("tenants").select("number").where("id", "=", id),
);
