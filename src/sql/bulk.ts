import { CompiledQuery, type Kysely } from "kysely";
import type { Schema } from "./schema.ts";
import type { Dialect } from "./sql.ts";
import { nameStatement } from "./statement-names.ts";
import type { Db, OwnedTable } from "./tenant-db.ts";

/**
 * Inserts thousands of rows at once, for the one subject that has so many: clicks. Rows are given as one flat list of
 * values, in the order of the columns.
 *
 * PostgreSQL gets one array for each column: 10,000 events are one statement with 24 parameters, whose text never
 * changes. With a parameter for each value, the driver and the parser take longer than the insert. SQLite gets rows of
 * placeholders, in few lengths, so that few texts are prepared.
 */
export interface BulkInsert<Handle, Row> {
  /** The rows of `returning`. */
  run(db: Handle, values: readonly BulkValue[]): Promise<Row[]>;
}

export type BulkValue = string | number | null;
export type BulkType = "smallint" | "integer" | "bigint" | "text";

export interface BulkSettings<Table extends keyof Schema> {
  readonly into: Table;
  readonly columns: Partial<Record<keyof Schema[Table] & string, BulkType>>;
  /** What follows the rows: `on conflict …`, `returning …`. */
  readonly tail?: string;
}

/** A table of tenants is reached by a handle of `acrossTenants`. */
type BulkHandle<Table> = Table extends OwnedTable ? Kysely<Schema> : Db;

const sqliteParametersMost = 16_384; // SQLite allows 32,766
const shortMost = 16;

export function bulkInsert<Table extends keyof Schema, Row = never>(
  dialect: Dialect,
  { into, columns, tail = "" }: BulkSettings<Table>,
): BulkInsert<BulkHandle<Table>, Row> {
  const names = Object.keys(columns);
  const types = Object.values(columns) as BulkType[];
  const width = names.length;
  const head = `insert into ${into} (${names.map((name) => `"${name}"`).join(", ")})`;

  async function execute(db: BulkHandle<Table>, text: string, parameters: readonly unknown[]): Promise<Row[]> {
    return (await (db as Db).executeQuery<Row>(CompiledQuery.raw(text, [...parameters]))).rows;
  }

  if (dialect === "postgres") {
    const arrays = types.map((type, place) => `$${place + 1}::${type}[]`).join(", ");
    // "where true": otherwise "on conflict" could be read as the condition of a join.
    const text = `${head} select * from unnest(${arrays}) as t where true ${tail}`;
    nameStatement(text);
    return {
      async run(db, values) {
        if (values.length === 0) return [];
        const lists = types.map((type, column) => arrayOf(type, values, column, width));
        return await execute(db, text, lists);
      },
    };
  }

  const texts = new Map<number, string>();
  function textFor(rows: number): string {
    let text = texts.get(rows);
    if (text === undefined) {
      const row = `(${names.map(() => "?").join(", ")})`;
      text = `${head} values ${Array.from({ length: rows }, () => row).join(", ")} ${tail}`;
      texts.set(rows, text);
    }
    return text;
  }
  const most = 2 ** Math.floor(Math.log2(sqliteParametersMost / width));
  return {
    async run(db, values) {
      const found: Row[] = [];
      const all = values.length / width;
      for (let start = 0; start < all; ) {
        const left = Math.min(most, all - start);
        const rows = left <= shortMost ? left : 2 ** Math.floor(Math.log2(left));
        const slice = values.slice(start * width, (start + rows) * width);
        for (const row of await execute(db, textFor(rows), slice)) found.push(row);
        start += rows;
      }
      return found;
    },
  };
}

/** Numbers as PostgreSQL's text of an array, which is faster than what the driver does. Texts need its escaping. */
function arrayOf(type: BulkType, values: readonly BulkValue[], column: number, width: number): unknown {
  const list: BulkValue[] = [];
  for (let place = column; place < values.length; place += width) list.push(values[place] ?? null);
  return type === "text" ? list : `{${list.map((value) => value ?? "null").join(",")}}`;
}
