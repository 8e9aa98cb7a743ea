import type { Clock } from "../../base/clock.ts";
import type { TenantId } from "../../base/ids.ts";
import { type Actor, recordHistory } from "../../history/history.ts";
import type { SuppressionTable } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { type MailKind, mailKinds } from "../outbox/outbox.ts";

/**
 * Addresses that get no more email: a list per tenant, and a global one of addresses that do not exist according to the
 * platform's mail server. Addresses are compared case-insensitively: after `Ann@` has unsubscribed, `ann@` must not get
 * email either.
 *
 * Additions come from recipients and mail servers: the row itself says when and why. Only removals are in the history.
 */
export interface Suppressions {
  /** Why this tenant may not send such an email to the address; `undefined` if it may. */
  find(tenant: TenantId, address: string, kind: MailKind): Promise<SuppressionReason | undefined>;
  /** The first reason stays, unless essential emails may pass it. `allTenants`: for all tenants. */
  add(tenant: TenantId | typeof allTenants, address: string, reason: SuppressionReason): Promise<void>;
  /** A tenant's list, by address; `after` is the last of the previous page. */
  list(tenant: TenantId, limit: number, after?: string): Promise<Suppression[]>;
  /** Returns whether it was there. */
  remove(tenant: TenantId | typeof allTenants, address: string, by: Actor): Promise<boolean>;
}

export interface Suppression {
  readonly address: string;
  readonly reason: SuppressionReason;
  readonly createdAt: number;
}

export type SuppressionReason = SuppressionTable["reason"];
export const allTenants = "" as const;

/** Of the reasons on both lists, the one for which such an email is not sent. */
export const suppressionFor = (kind: MailKind, listed: readonly SuppressionReason[]): SuppressionReason | undefined =>
  listed.find((reason) => !(mailKinds[kind].essential && reason === "unsubscribed"));

export function createSuppressions(sql: Sql, clock: Pick<Clock, "now">): Suppressions {
  const { db, now } = sql;
  return {
    async find(tenant, address, kind) {
      const listed = (owner: TenantId | typeof allTenants) =>
        ofTenant(db, owner).selectFrom("suppressions").select("reason").where("address", "=", address.toLowerCase());
      const rows = await listed(tenant).unionAll(listed(allTenants)).execute();
      return suppressionFor(
        kind,
        rows.map(({ reason }) => reason),
      );
    },

    async add(tenant, address, reason) {
      await ofTenant(db, tenant)
        .insertInto("suppressions")
        .values({ address: address.toLowerCase(), reason, created_at: now })
        .onConflict((conflict) =>
          conflict
            .columns(["tenant_id", "address"])
            .doUpdateSet({ reason, created_at: now })
            .where("suppressions.reason", "=", "unsubscribed"),
        )
        .execute();
    },

    async list(tenant, limit, after = "") {
      return await ofTenant(db, tenant)
        .selectFrom("suppressions")
        .select(["address", "reason", "created_at as createdAt"])
        .where("address", ">", after)
        .orderBy("address")
        .limit(limit)
        .execute();
    },

    remove: (tenant, address, by) =>
      sql.transaction(async (trx) => {
        const gone = await ofTenant(trx, tenant)
          .deleteFrom("suppressions")
          .where("address", "=", address.toLowerCase())
          .returning(["address", "reason"])
          .executeTakeFirst();
        if (gone === undefined) return false;
        const subject = { kind: "suppression", id: gone.address };
        const before = { address: gone.address, reason: gone.reason };
        await recordHistory(trx, clock, { tenant, actor: by, action: "suppression.remove", subject, before });
        return true;
      }),
  };
}
