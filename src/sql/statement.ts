import {
  type CompiledQuery,
  createQueryId,
  type DeleteResult,
  type Expression,
  type InsertResult,
  type OperationNode,
  OperationNodeTransformer,
  type PrimitiveValueListNode,
  type QueryResult,
  type RootOperationNode,
  type Simplify,
  type UpdateResult,
  ValueListNode,
  ValueNode,
  type ValuesNode,
} from "kysely";
import type { TenantId } from "../base/ids.ts";
import { runNow } from "./run-now.ts";
import { nameStatement } from "./statement-names.ts";
import { type Db, ofTenant, type TenantDb, unwrap } from "./tenant-db.ts";

/**
 * A query that is compiled once and run many times.
 *
 *     const titleOf = statement((own: TenantDb, { domain, code }: Params<Place>) =>
 *       own.selectFrom("links").select("title").where("domain", "=", domain).where("code", "=", code),
 *     );
 *     const row = await titleOf.first(ofTenant(db, tenant), { domain, code });
 *
 * Building the text of a query takes longer than most of our queries take to run. The function above runs once for each
 * database. It gets placeholders instead of values, so the text cannot depend on a value, and `all`, `first`, `one` and
 * `run` bind the values. PostgreSQL keeps the statement under a name (`statement-names.ts`), bun:sqlite under its text.
 *
 * - **Tenants.** The handle of a tenant binds its tenant, as it does for a query that is built on the spot. A statement
 *   that was written for `TenantDb` runs on nothing else.
 * - **Lists** are compiled once for each length. A list of values is for `in (…)`: it is padded to a power of two with its
 *   last value. A list of rows is for an insert: `rowBatches` splits a long one, so that there are few lengths.
 * - **Constants**, such as the state in a condition, become part of the text, so that a partial index matches. They are
 *   read once, so times and ids belong in the parameters.
 * - **Columns** are named. On PostgreSQL a prepared `select *` fails once a migration has added a column.
 *
 * A query with optional parts, such as the filters of a list, is built on the spot.
 */
export function statement<Handle extends Db | TenantDb, Values extends Bindable<Values> = NoValues, Output = never>(
  build: (handle: Handle, params: Params<Values>) => Query<Output>,
): Statement<Handle, Values, RowOf<Output>> {
  type Row = RowOf<Output>;
  const ofDatabase = new WeakMap<object, Map<string, Compiled<Row>>>();

  function compiledFor(handle: Handle, db: Db, values: Values): Compiled<Row> {
    const { adapter } = db.getExecutor(); // the same object in all transactions of a database
    let ofShape = ofDatabase.get(adapter);
    if (ofShape === undefined) {
      ofShape = new Map();
      ofDatabase.set(adapter, ofShape);
    }
    const shape = shapeOf(values);
    let compiled = ofShape.get(shape);
    if (compiled === undefined) {
      const isShared = (handle as unknown) === db;
      const standIn = isShared ? handle : (ofTenant(db, tenantPlaceholder as unknown as TenantId) as Handle);
      compiled = compile<Row>(db, build(standIn, placeholdersFor(values)));
      ofShape.set(shape, compiled);
    }
    return compiled;
  }

  function execute(handle: Handle, values = {} as Values): QueryResult<Row> | Promise<QueryResult<Row>> {
    const { db, tenant } = unwrap(handle);
    const { query, placeholders } = compiledFor(handle, db, values);
    const parameters = placeholders.map((placeholder) => placeholder.valueIn(values, tenant));
    return runNow<Row>(db, query.sql, parameters) ?? db.executeQuery({ ...query, parameters });
  }

  async function rowsOf(handle: Handle, values: Values | undefined): Promise<Row[]> {
    const result = execute(handle, values);
    return (result instanceof Promise ? await result : result).rows;
  }

  return {
    all: (handle, ...[values]) => rowsOf(handle, values),
    first: async (handle, ...[values]) => {
      const result = execute(handle, values);
      return (result instanceof Promise ? await result : result).rows[0];
    },
    async one(handle, ...[values]) {
      const [row] = await rowsOf(handle, values);
      if (row === undefined) throw new Error("the statement returned no row");
      return row;
    },
    async run(handle, ...[values]) {
      const { numAffectedRows, rows } = await execute(handle, values);
      return numAffectedRows === undefined ? rows.length : Number(numAffectedRows);
    },
  };
}

export interface Statement<Handle, Values, Row> {
  all(handle: Handle, ...values: Given<Values>): Promise<Row[]>;
  first(handle: Handle, ...values: Given<Values>): Promise<Row | undefined>;
  /** Throws if there is none. */
  one(handle: Handle, ...values: Given<Values>): Promise<Row>;
  /** Returns how many rows were written. */
  run(handle: Handle, ...values: Given<Values>): Promise<number>;
}

/** What a builder gets for these values. */
export type Params<Values> = {
  readonly [Name in keyof Values]: Values[Name] extends readonly (infer One)[]
    ? readonly ([One] extends [Value] ? Expression<One> : { readonly [Column in keyof One]: Expression<One[Column]> })[]
    : Expression<Values[Name]>;
};

/** Flags are 0 and 1. A value that may be missing would change the text, so none is optional. */
type Value = string | number | null;
type Bindable<Values> = {
  readonly [Name in keyof Values]-?: Values[Name] extends readonly (infer One)[]
    ? readonly ([One] extends [Value] ? One : { readonly [Column in keyof One]-?: Value })[]
    : Value;
};
type NoValues = Record<never, never>;
type Given<Values> = keyof Values extends never ? [] : [values: Values];

/** What Kysely's builders and raw texts have in common. */
interface Query<Output> {
  compile(...executor: never[]): CompiledQuery<Output>;
  toOperationNode(): OperationNode;
}

type RowOf<Output> = [Output] extends [InsertResult | UpdateResult | DeleteResult] ? never : Simplify<Output>;

interface Compiled<Row> {
  readonly query: CompiledQuery<Row>;
  readonly placeholders: readonly Placeholder[];
}

function compile<Row>(db: Db, built: Query<unknown>): Compiled<Row> {
  const node = constants.transformNode(built.toOperationNode()) as RootOperationNode;
  requireNamedColumns(node);
  requireRows(node);
  const query = db.getExecutor().compileQuery(node, createQueryId()) as CompiledQuery<Row>;
  nameStatement(query.sql);
  return { query, placeholders: query.parameters as readonly Placeholder[] };
}

/**
 * A placeholder for a value that is bound when the statement runs: a single value, one of a list of values, or one of a
 * list of rows.
 */
class Placeholder implements Expression<never> {
  constructor(
    readonly name: string,
    readonly place?: number,
    readonly column?: string,
  ) {}

  get expressionType(): undefined {
    return undefined;
  }

  toOperationNode(): ValueNode {
    return ValueNode.create(this);
  }

  valueIn(values: object, tenant: string | undefined): unknown {
    const value = this === tenantPlaceholder ? tenant : this.#find((values as Record<string, unknown>)[this.name]);
    if (value === undefined) throw new Error(`the statement has no value for ${this.column ?? this.name}`);
    return value;
  }

  #find(given: unknown): unknown {
    if (this.place === undefined) return given;
    const list = given as readonly unknown[];
    const one = list[Math.min(this.place, list.length - 1)];
    return this.column === undefined ? one : (one as Record<string, unknown>)[this.column];
  }
}

const tenantPlaceholder = new Placeholder("tenant");

function placeholdersFor<Values>(values: Values): Params<Values> {
  const all = Object.entries(values as object).map(([name, value]: [string, unknown]) => {
    if (!Array.isArray(value)) return [name, new Placeholder(name)];
    const row: unknown = value[0];
    const one = (place: number) =>
      isRow(row)
        ? Object.fromEntries(Object.keys(row).map((column) => [column, new Placeholder(name, place, column)]))
        : new Placeholder(name, place);
    return [name, Array.from({ length: compiledLength(value) }, (_, place) => one(place))];
  });
  return Object.fromEntries(all) as Params<Values>;
}

/** The lengths of lists: all that the text depends on. */
function shapeOf(values: object): string {
  let shape = "";
  for (const name in values) {
    const value = (values as Record<string, unknown>)[name];
    if (Array.isArray(value)) shape += `${name} ${compiledLength(value)} `;
  }
  return shape;
}

function compiledLength(list: readonly unknown[]): number {
  if (list.length === 0) throw new Error("a statement was given an empty list");
  if (isRow(list[0]) && list.length <= shortMost) return list.length;
  const length = 2 ** Math.ceil(Math.log2(list.length));
  if (isRow(list[0]) && length !== list.length) throw new Error(`${list.length} rows need rowBatches`);
  return length;
}

const isRow = (one: unknown): one is object => typeof one === "object" && one !== null;

const shortMost = 16;

/**
 * The rows in their order, as few lists as possible of few lengths: up to 16 rows are one list, more are powers of two
 * and the rest. A far database costs a round trip for each: with powers of two alone, the hits of six links were
 * recorded so late that visitors 120 ms away from it were refused.
 */
export function rowBatches<One>(rows: readonly One[], most: number): One[][] {
  const lists: One[][] = [];
  for (let start = 0; start < rows.length; ) {
    const left = Math.min(most, rows.length - start);
    const length = left <= shortMost ? left : 2 ** Math.floor(Math.log2(left));
    lists.push(rows.slice(start, start + length));
    start += length;
  }
  return lists;
}

/** Writes every value that is not a placeholder into the text. */
class Constants extends OperationNodeTransformer {
  protected override transformValue(node: ValueNode): ValueNode {
    return node.value instanceof Placeholder ? node : constant(node.value);
  }

  protected override transformPrimitiveValueList(node: PrimitiveValueListNode): PrimitiveValueListNode {
    return ValueListNode.create(node.values.map(constant)) as unknown as PrimitiveValueListNode;
  }
}

const constants = new Constants();

/** A time or an id that came from outside the builder would be that of the first run for ever. */
function constant(value: unknown): ValueNode {
  if (typeof value === "number" && value >= oldestTime) throw new Error("a time is a parameter of a statement");
  if (typeof value === "string" && idPattern.test(value)) throw new Error("an id is a parameter of a statement");
  return ValueNode.createImmediate(value);
}

const oldestTime = Date.UTC(2000);
const idPattern = /^[a-z]{3}_[0-9a-z]{26}$/;

function requireNamedColumns(node: RootOperationNode): void {
  const selected =
    node.kind === "SelectQueryNode" ? node.selections : "returning" in node ? node.returning?.selections : undefined;
  for (const { selection } of selected ?? []) {
    const column = selection.kind === "ReferenceNode" ? selection.column : selection;
    if (column.kind === "SelectAllNode") throw new Error("a statement names its columns: see sql/statement.ts");
  }
}

/** A list of values may be padded: inserted, it would be too many rows. */
function requireRows(node: RootOperationNode): void {
  if (node.kind !== "InsertQueryNode" || node.values?.kind !== "ValuesNode") return;
  const values = (node.values as ValuesNode).values.flatMap((row) => [...row.values]);
  for (const value of values) {
    const placeholder = isValueNode(value) ? value.value : value;
    if (!(placeholder instanceof Placeholder) || placeholder.place === undefined) continue;
    if (placeholder.column === undefined) throw new Error(`insert ${placeholder.name} as a list of rows`);
  }
}

const isValueNode = (value: unknown): value is ValueNode =>
  typeof value === "object" && value !== null && "kind" in value && value.kind === "ValueNode";
