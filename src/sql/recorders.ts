import type { RecorderTable } from "./schema.ts";
import { type Params, statement } from "./statement.ts";
import type { Db } from "./tenant-db.ts";

/**
 * How far each recorder has written its numbered batches. Raised in the transaction of the batch: a batch that is sent
 * again, because its answer was lost, changes nothing.
 *
 * `undefined` if this batch, or a later one, was already recorded.
 */
export const setSequence = statement((db: Db, { id, sequence, seen_at }: Params<RecorderTable>) =>
  db
    .insertInto("recorders")
    .values({ id, sequence, seen_at })
    .onConflict((conflict) =>
      conflict.column("id").doUpdateSet({ sequence, seen_at }).where("recorders.sequence", "<", sequence),
    )
    .returning("sequence"),
);
