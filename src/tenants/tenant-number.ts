import type { TenantId } from "../base/ids.ts";
import type { TenantNumber } from "../sql/schema.ts";
import { type Params, statement } from "../sql/statement.ts";
import type { Db, Trx } from "../sql/tenant-db.ts";
import type { RaiseKeys } from "../sql/versions.ts";

/** The tenant's name in the tables of clicks, in cached links and in the change feed. It never changes. */
export const tenantNumberOf = async (db: Db, id: TenantId): Promise<TenantNumber> =>
  (await selectNumber.one(db, { id })).number;

/**
 * What a transaction raises that changes anything of a tenant that is kept in memory (`known-tenants.ts`): what its links
 * answer or what its API calls may do.
 */
export const raisedTenant = async (trx: Trx, id: TenantId): Promise<RaiseKeys> => ({
  kind: "tenant",
  keys: [String(await tenantNumberOf(trx, id))],
});

const selectNumber = statement((db: Db, { id }: Params<{ id: TenantId }>) =>
  db.selectFrom("tenants").select("number").where("id", "=", id),
);
