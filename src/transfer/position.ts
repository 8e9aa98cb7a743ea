import type { Transaction } from "kysely";
import type { Clock } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import type { TenantId } from "../base/ids.ts";
import type { Schema } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";

/** How far an import has come, and what became of the rows so far. */
export interface Position {
  readonly records: number;
  readonly line: number;
  readonly made: number;
  readonly present: number;
  readonly refused: number;
}

export interface Positions {
  /** Where it stands: at the beginning, if nobody began it; `finishedAt` once it is through. */
  open(id: string, tenant: TenantId): Promise<Position & { readonly finishedAt: number | null }>;
  /** With the links of its rows. Nobody else may have moved it: then both would be making the same links. */
  move(trx: Transaction<Schema>, id: string, from: Position, to: Position): Promise<void>;
  finish(id: string): Promise<void>;
  forget(id: string): Promise<void>;
}

export const beginning: Position = { records: 0, line: 0, made: 0, present: 0, refused: 0 };

export function createPositions({ db }: Sql, clock: Clock): Positions {
  return {
    async open(id, tenant) {
      await db
        .insertInto("imports")
        .values({ id, tenant_id: tenant, ...beginning, started_at: clock.now(), finished_at: null })
        .onConflict((conflict) => conflict.column("id").doNothing())
        .execute();
      const row = await db.selectFrom("imports").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
      const { records, line, made, present, refused, finished_at: finishedAt } = row;
      return { records, line, made, present, refused, finishedAt };
    },
    async move(trx, id, from, to) {
      const { numUpdatedRows } = await trx
        .updateTable("imports")
        .set({ ...to })
        .where("id", "=", id)
        .where("records", "=", from.records)
        .executeTakeFirst();
      if (numUpdatedRows !== 1n) {
        throw new OperatorError("Another process imports this very file right now. Let it finish, or end it.");
      }
    },
    async finish(id) {
      await db.updateTable("imports").set({ finished_at: clock.now() }).where("id", "=", id).execute();
    },
    async forget(id) {
      await db.deleteFrom("imports").where("id", "=", id).execute();
    },
  };
}
