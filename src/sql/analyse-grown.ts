import { sql as raw } from "kysely";
import type { Sql } from "./sql.ts";

/**
 * PostgreSQL plans a statement when a connection runs it for the first times, and keeps the plan until the table is analysed. For a table that was
 * nearly empty then, the plan reads all of it: a lookup in a new database took longer with each link that was imported, in the import and
 * on every server. PostgreSQL analyses tables once a minute; an import fills them in seconds.
 */
export interface GrownTables {
  /** To be called after each batch, with the number of rows that were added so far. */
  added(rows: number): Promise<void>;
}

/** The first rows that matter, and how much larger a table is the next time. */
const firstRows = 1_000;
const growth = 8;

export function createGrownTables(sql: Sql, tables: readonly string[]): GrownTables {
  let next = sql.dialect === "postgres" ? firstRows : Number.POSITIVE_INFINITY;
  return {
    async added(rows) {
      if (rows < next) return;
      while (next <= rows) next *= growth;
      // In a table that is large already, they change nothing. It is known as -1 if it was never analysed.
      const { rows: known } = await raw<{ rows: number }>`select max(reltuples)::float8 as rows from pg_class
        where oid = ${tables[0]}::regclass`.execute(sql.db);
      if ((known[0]?.rows ?? 0) >= rows) return;
      await raw`analyze ${raw.join(tables.map((table) => raw.table(table)))}`.execute(sql.db);
    },
  };
}
