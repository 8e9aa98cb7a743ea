import type { Clock } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import type { TenantId } from "../base/ids.ts";
import type { Sql } from "../sql/sql.ts";
import { type Params, statement } from "../sql/statement.ts";
import { ofTenant, type TenantDb, type Trx } from "../sql/tenant-db.ts";

/** The progress of an import, and the results so far. */
export interface ImportPosition {
  readonly records: number;
  readonly line: number;
  readonly made: number;
  readonly present: number;
  readonly refused: number;
}

export interface Positions {
  /** The stored position, or the beginning if there is none. `finishedAt` is set once the import is complete. */
  open(
    tenant: TenantId,
    id: string,
  ): Promise<ImportPosition & { readonly startedAt: number; readonly finishedAt: number | null }>;
  /**
   * Runs in the transaction that writes the links. Throws if another process has advanced it, because both would create
   * the same links.
   */
  move(trx: Trx, tenant: TenantId, id: string, from: ImportPosition, to: ImportPosition): Promise<void>;
  finish(tenant: TenantId, id: string): Promise<void>;
  forget(tenant: TenantId, id: string): Promise<void>;
}

export const beginning: ImportPosition = { records: 0, line: 0, made: 0, present: 0, refused: 0 };

export function createPositions({ db }: Sql, clock: Clock): Positions {
  return {
    async open(tenant, id) {
      const own = ofTenant(db, tenant);
      await own
        .insertInto("imports")
        .values({ id, ...beginning, started_at: clock.now(), finished_at: null })
        .onConflict((conflict) => conflict.column("id").doNothing())
        .execute();
      const row = await own.selectFrom("imports").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
      const { records, line, made, present, refused, started_at: startedAt, finished_at: finishedAt } = row;
      return { records, line, made, present, refused, startedAt, finishedAt };
    },
    async move(trx, tenant, id, from, to) {
      if ((await moveOn.run(ofTenant(trx, tenant), { id, ...to, before: from.records })) !== 1) {
        throw new OperatorError("Another process is importing this file. Wait for it to finish, or stop it.");
      }
    },
    async finish(tenant, id) {
      await ofTenant(db, tenant)
        .updateTable("imports")
        .set({ finished_at: clock.now() })
        .where("id", "=", id)
        .execute();
    },
    async forget(tenant, id) {
      await ofTenant(db, tenant).deleteFrom("imports").where("id", "=", id).execute();
    },
  };
}

interface Move extends ImportPosition {
  readonly id: string;
  readonly before: number;
}

const moveOn = statement((own: TenantDb, { id, before, ...to }: Params<Move>) =>
  own.updateTable("imports").set(to).where("id", "=", id).where("records", "=", before),
);
