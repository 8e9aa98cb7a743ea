import type { LinkNumber } from "./schema.ts";
import type { Sql } from "./sql.ts";
import { type Params, statement } from "./statement.ts";
import type { Db, Trx } from "./tenant-db.ts";

/**
 * The numbers of many new links at once: the first of them. On SQLite a link that is inserted without one gets it from a
 * trigger, which writes its row a second time; that took an eighth of the time of an insert. Undefined on PostgreSQL, where
 * a sequence numbers them.
 */
export async function takeLinkNumbers({ dialect }: Sql, trx: Trx, count: number): Promise<LinkNumber | undefined> {
  if (dialect === "postgres") return undefined;
  const { next } = await advance.one(trx, { count });
  return (next - count + 1) as LinkNumber;
}

const advance = statement((db: Db, { count }: Params<{ count: number }>) =>
  db
    .updateTable("counters")
    .set((row) => ({ next: row("next", "+", count) }))
    .where("name", "=", "links")
    .returning("next"),
);
