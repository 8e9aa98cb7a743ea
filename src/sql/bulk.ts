import { CompiledQuery, type Kysely } from "kysely";
import { CopiedRows } from "./copied-rows.ts";
import { runNow } from "./run-now.ts";
import type { Schema } from "./schema.ts";
import type { Dialect } from "./sql.ts";
import { nameStatement } from "./statement-names.ts";
import type { Db, OwnedTable } from "./tenant-db.ts";

/**
 * Inserts and finds thousands of rows at once: clicks, and links that are imported. Rows are given as one flat list of
 * values, in the order of the columns.
 *
 * PostgreSQL gets one array for each column: 10,000 events are one statement with 24 parameters, whose text never
 * changes. With a parameter for each value, the driver and the parser take longer than the insert. SQLite gets rows of
 * placeholders, in few lengths, so that few texts are prepared.
 */
export interface BulkInsert<Handle, Row> {
  /** The rows of `returning`. `texts`: the list that `tail` was given. `value`: that of `also`. */
  run(db: Handle, values: readonly BulkValue[], texts?: readonly string[], value?: BulkValue): Promise<Row[]>;
}

export type BulkValue = string | number | null;
export type BulkType = "smallint" | "integer" | "bigint" | "text";

export interface BulkSettings<Table extends keyof Schema> {
  readonly into: Table;
  /**
   * These come before `columns`, and mostly have the same value in all rows, such as the tenant. Then it is bound once:
   * SQLite took a tenth less time for a link, and PostgreSQL reads no array of it.
   */
  readonly same?: Partial<Record<keyof Schema[Table] & string, BulkType>>;
  readonly columns: Partial<Record<keyof Schema[Table] & string, BulkType>>;
  /** What follows the rows: `on conflict …`, `returning …`. A function gets the end of `x …`: is x one of `texts`? */
  readonly tail?: string | ((isOneOfTexts: string) => string);
  /** Another write, of the rows in `returned`, which has these columns. One statement for both on PostgreSQL; SQLite cannot do that. */
  readonly also?: { readonly returned: string; readonly write: (value: string) => string };
}

/** Adds rows of which none may exist. If one does, the transaction is undone. */
export interface BulkAppend<Handle> {
  /**
   * `same`: the values of the columns that all rows share. `values`: those of the others, row by row. Returns what writes them. The text
   * that PostgreSQL gets is made here, so that it can be made while PostgreSQL writes other rows.
   */
  prepared(same: readonly BulkValue[], values: readonly BulkValue[]): (db: Handle) => Promise<void>;
}

/**
 * Prepares what is written next, while a statement runs. That one has ended when this returns or throws: what it
 * would still send after the transaction was undone, PostgreSQL would keep.
 */
export async function prepareDuring<Prepared>(running: Promise<unknown>, prepare: () => Prepared): Promise<Prepared> {
  try {
    return prepare();
  } finally {
    await running;
  }
}

/** Finds rows by thousands of keys at once. */
export interface BulkFind<Handle, Row> {
  /** The keys that have a row, in no order. */
  all(db: Handle, keys: readonly BulkValue[]): Promise<Row[]>;
}

export interface BulkFindSettings<Table extends keyof Schema> {
  readonly from: Table;
  /** An index must begin with these. */
  readonly key: Partial<Record<keyof Schema[Table] & string, BulkType>>;
  readonly select: readonly (keyof Schema[Table] & string)[];
}

/** A table of tenants is reached by a handle of `acrossTenants`. */
type BulkHandle<Table> = Table extends OwnedTable ? Kysely<Schema> : Db;

/** Made when first used, once for each database. */
export function ofDialect<Made>(make: (dialect: Dialect) => Made): Readonly<Record<Dialect, () => Made>> {
  const made = new Map<Dialect, Made>();
  const get = (dialect: Dialect) => () => {
    const one = made.get(dialect) ?? make(dialect);
    made.set(dialect, one);
    return one;
  };
  return { sqlite: get("sqlite"), postgres: get("postgres") };
}

const sqliteParametersMost = 16_384; // SQLite allows 32,766
const shortMost = 16;

export function bulkInsert<Table extends keyof Schema, Row = never>(
  dialect: Dialect,
  { into, same = {}, columns, tail = "", also }: BulkSettings<Table>,
): BulkInsert<BulkHandle<Table>, Row> {
  const names = [...Object.keys(same), ...Object.keys(columns)];
  const types = [...Object.values(same), ...Object.values(columns)] as BulkType[];
  const width = names.length;
  const sameWidth = Object.keys(same).length;
  const head = `insert into "${into}" (${names.map((name) => `"${name}"`).join(", ")})`;
  const hasTexts = typeof tail === "function";
  const ending = (isOneOfTexts: string) => (hasTexts ? tail(isOneOfTexts) : tail);

  if (dialect === "postgres") {
    const queryFor = (once: number) => {
      const values = types.slice(0, once).map((type, place) => `$${place + 1}::${type}, `);
      const arrays = types.slice(once).map((type, place) => `$${once + place + 1}::${type}[]`);
      const rows = `select ${values.join("")}t.* from unnest(${arrays.join(", ")}) as t`;
      // "where true": otherwise "on conflict" could be read as the condition of a join.
      const insert = `${head} ${rows} where true ${ending(`= any($${width + 1}::text[])`)}`;
      if (also === undefined) return namedQuery(insert);
      const { returned, write } = also;
      const second = write(`$${width + (hasTexts ? 2 : 1)}`);
      return namedQuery(`with returned as (${insert}), second as (${second}) select ${returned} from returned`);
    };
    const [query, onceQuery] = [queryFor(0), queryFor(sameWidth)];
    return {
      async run(db, values, texts = [], value = null) {
        if (values.length === 0) return [];
        const once = isSame(values, width, sameWidth) ? sameWidth : 0;
        const parameters: unknown[] = types.map((_, column) =>
          column < once ? values[column] : arrayOf(values, column, width),
        );
        if (hasTexts) parameters.push(texts);
        if (also !== undefined) parameters.push(value);
        return await execute<Row>(db, once > 0 ? onceQuery : query, parameters);
      },
    };
  }

  const among = ending("in (select value from json_each(?))");
  const textFor = (rows: string) => `${head} values ${rows} ${among}`;
  // A "?" without a number has the one after the highest before it.
  const once = names.map((_, place) => (place < sameWidth ? `?${place + 1}` : "?"));
  const [queryOf, onceQueryOf] = [
    queriesOf(
      names.map(() => "?"),
      textFor,
    ),
    queriesOf(once, textFor),
  ];
  return {
    run(db, values, texts = []) {
      const more = hasTexts ? [JSON.stringify(texts)] : [];
      return inRows(values, width, (rows, slice) => {
        const isOnce = isSame(slice, width, sameWidth);
        const bound = isOnce ? withoutRepeats(slice, width, sameWidth) : slice;
        for (const one of more) bound.push(one);
        return execute<Row>(db, (isOnce ? onceQueryOf : queryOf)(rows), bound);
      });
    },
  };
}

/**
 * The fastest way of writing that each database has. COPY adds rows to a table page by page, and took a third less of PostgreSQL's
 * time than arrays. On SQLite `or rollback` keeps no copies of pages, except where a foreign key wants some. Longer statements
 * are no faster, and 64 rows took a twentieth more time.
 */
const appendedMost = 128;

export function bulkAppend<Table extends keyof Schema>(
  dialect: Dialect,
  { into, same = {}, columns }: Pick<BulkSettings<Table>, "into" | "same" | "columns">,
): BulkAppend<BulkHandle<Table>> {
  const names = [...Object.keys(same), ...Object.keys(columns)];
  const width = Object.keys(columns).length;
  const list = names.map((name) => `"${name}"`).join(", ");

  if (dialect === "postgres") {
    const text = `copy "${into}" (${list}) from stdin`;
    return {
      prepared(shared, values) {
        const rows = new CopiedRows(copiedRows(shared, values, width));
        return async (db) => void (await execute(db, copyQuery(text), [rows]));
      },
    };
  }

  const places = names.map((_, place) => (place < names.length - width ? `?${place + 1}` : "?"));
  const queryOf = queriesOf(places, (rows) => `insert or rollback into "${into}" (${list}) values ${rows}`);
  return {
    prepared: (shared, values) => async (db) => {
      await inRows(values, width, (rows, slice) => execute(db, queryOf(rows), shared.concat(slice)), appendedMost);
    },
  };
}

const copyQueries = new Map<string, CompiledQuery>();

function copyQuery(text: string): CompiledQuery {
  const query = copyQueries.get(text) ?? CompiledQuery.raw(text);
  copyQueries.set(text, query);
  return query;
}

/** PostgreSQL's text of rows: a line for each, and a tab between two values. */
function copiedRows(shared: readonly BulkValue[], values: readonly BulkValue[], width: number): string {
  const head = shared.map((value) => `${copied(value)}\t`).join("");
  let text = "";
  for (let place = 0; place < values.length; ) {
    text += head;
    for (let column = 1; column < width; column++) text += `${copied(values[place++] ?? null)}\t`;
    text += `${copied(values[place++] ?? null)}\n`;
  }
  return text;
}

const copied = (value: BulkValue): string | number =>
  typeof value !== "string" ? (value ?? "\\N") : uncopied.test(value) ? value.replaceAll(uncopiedAll, copiedAs) : value;

const uncopied = /[\\\t\n\r]/;
const uncopiedAll = /[\\\t\n\r]/g;
const copiedNames: Readonly<Record<string, string>> = { "\t": "\\t", "\n": "\\n", "\r": "\\r" };
const copiedAs = (one: string): string => copiedNames[one] ?? "\\\\";

/** Whether the first columns have the same values in all rows. */
function isSame(values: readonly BulkValue[], width: number, columns: number): boolean {
  for (let row = width; row < values.length; row += width) {
    for (let column = 0; column < columns; column++) if (values[row + column] !== values[column]) return false;
  }
  return columns > 0;
}

/** The first columns of the first row, and the others of all. */
function withoutRepeats(values: readonly BulkValue[], width: number, columns: number): BulkValue[] {
  const kept = values.slice(0, width);
  for (let row = width; row < values.length; row += width) {
    for (let column = columns; column < width; column++) kept.push(values[row + column] ?? null);
  }
  return kept;
}

export function bulkFind<Table extends keyof Schema, Row>(
  dialect: Dialect,
  { from, key, select }: BulkFindSettings<Table>,
): BulkFind<BulkHandle<Table>, Row> {
  const names = Object.keys(key);
  const types = Object.values(key) as BulkType[];
  const columns = select.map((name) => `t."${name}"`).join(", ");
  // Keys are texts in byte order: with another collation the index would not be used.
  const collated = (type: BulkType | undefined) => (dialect === "postgres" && type === "text" ? ' collate "C"' : "");
  const same = names.map((name, place) => `t."${name}" = k.k${place}${collated(types[place])}`).join(" and ");
  const places = names.map((_, place) => `k${place}`).join(", ");

  if (dialect === "postgres") {
    const arrays = types.map((type, place) => `$${place + 1}::${type}[]`).join(", ");
    const query = namedQuery(`select ${columns} from unnest(${arrays}) as k(${places}) join ${from} t on ${same}`);
    return {
      async all(db, keys) {
        if (keys.length === 0) return [];
        const lists = types.map((_, column) => arrayOf(keys, column, types.length));
        return await execute<Row>(db, query, lists);
      },
    };
  }

  // "cross join" keeps the order: each key is looked up in the index.
  const queryOf = queriesOf(
    names.map(() => "?"),
    (rows) => `with k(${places}) as (values ${rows}) select ${columns} from k cross join ${from} t on ${same}`,
  );
  return { all: (db, keys) => inRows(keys, types.length, (rows, slice) => execute<Row>(db, queryOf(rows), slice)) };
}

/** Kysely freezes what it makes of a text, and parameters that it gets with it, which takes as long as binding them. */
async function execute<Row>(db: unknown, query: CompiledQuery, parameters: readonly unknown[]): Promise<Row[]> {
  const found = runNow<Row>(db as Db, query.sql, parameters);
  return (found ?? (await (db as Db).executeQuery<Row>({ ...query, parameters } as CompiledQuery<Row>))).rows;
}

function namedQuery(text: string): CompiledQuery {
  nameStatement(text);
  return CompiledQuery.raw(text);
}

/** A statement over rows of placeholders, by their number. */
function queriesOf(
  placeholders: readonly string[],
  textFor: (rows: string) => string,
): (rows: number) => CompiledQuery {
  const queries = new Map<number, CompiledQuery>();
  const row = `(${placeholders.join(", ")})`;
  return (rows) => {
    let query = queries.get(rows);
    if (query === undefined) {
      query = CompiledQuery.raw(textFor(Array.from({ length: rows }, () => row).join(", ")));
      queries.set(rows, query);
    }
    return query;
  };
}

/** Runs a statement over rows of placeholders, in few lengths. */
async function inRows<Row>(
  values: readonly BulkValue[],
  width: number,
  run: (rows: number, slice: BulkValue[]) => Promise<Row[]>,
  most = 2 ** Math.floor(Math.log2(sqliteParametersMost / width)),
): Promise<Row[]> {
  const found: Row[] = [];
  const all = values.length / width;
  for (let start = 0; start < all; ) {
    const left = Math.min(most, all - start);
    const rows = left <= shortMost ? left : 2 ** Math.floor(Math.log2(left));
    for (const one of await run(rows, values.slice(start * width, (start + rows) * width))) found.push(one);
    start += rows;
  }
  return found;
}

/** PostgreSQL's text of an array. The driver can write it too, and takes three times as long. */
function arrayOf(values: readonly BulkValue[], column: number, width: number): string {
  let text = "";
  for (let place = column; place < values.length; place += width) {
    const value = values[place] ?? null;
    text += `${text === "" ? "{" : ","}${typeof value === "string" ? `"${escaped(value)}"` : value}`;
  }
  return `${text}}`;
}

const special = /["\\]/;
const escaped = (value: string): string => (special.test(value) ? value.replaceAll(/["\\]/g, "\\$&") : value);
