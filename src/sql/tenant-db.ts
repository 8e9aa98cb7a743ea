import type {
  ColumnType,
  DeleteQueryBuilder,
  DeleteResult,
  InsertObject,
  InsertQueryBuilder,
  InsertResult,
  Kysely,
  OnConflictBuilder,
  SelectQueryBuilder,
  Transaction,
  UpdateQueryBuilder,
  UpdateResult,
} from "kysely";
import type { TenantId } from "../base/ids.ts";
import type { Schema } from "./schema.ts";

/**
 * Isolation between tenants, by types.
 *
 * `sql.db` and the transactions of `sql.transaction` know only the shared tables: those without a `tenant_id`. The rows of
 * a tenant are reached in two ways:
 *
 * - `ofTenant(db, tenant)`: every select, update and delete has the condition `tenant_id = tenant` from the start, and
 *   every inserted row gets its `tenant_id` here. A query cannot forget the condition, because it never writes it.
 * - `acrossTenants(db)`: all tables, no condition. For work that belongs to no tenant, such as a redirect or a sweep.
 *   `test/tenant-db.test.ts` has the list of all uses, with a reason for each.
 *
 * Both only wrap the given database or transaction, so a transaction may use several handles. A query of one tenant
 * table cannot name another one; to join two, join a query of the same handle:
 * `own.selectFrom("links").innerJoin(own.selectFrom("files").selectAll().as("f"), "f.id", "links.file_id")`.
 */
export function ofTenant(db: Db, tenant: Owner): TenantDb {
  return new TenantDb(acrossTenants(db), tenant);
}

/** Without a tenant: every use needs a line in `test/tenant-db.test.ts`. */
export function acrossTenants(db: Db): Kysely<Schema> {
  return db as unknown as Kysely<Schema>;
}

/** The tables that belong to a tenant. The version of a code is shared: its row says who had the code last. */
export type OwnedTable = Exclude<
  { [Table in keyof Schema]: "tenant_id" extends keyof Schema[Table] ? Table : never }[keyof Schema],
  "link_versions"
>;

export type SharedSchema = Omit<Schema, OwnedTable>;
export type Db = Kysely<SharedSchema>;
export type Trx = Transaction<SharedSchema>;

/** The empty one owns what holds for all tenants: see `SuppressionTable`. */
type Owner = TenantId | "";

/** As the handle's queries see them: `tenant_id` can be read, and neither inserted nor changed. */
type Owned = {
  [Table in OwnedTable]: Omit<Schema[Table], "tenant_id"> & { tenant_id: ColumnType<TenantId, never, never> };
};
type With<Table extends OwnedTable> = SharedSchema & Pick<Owned, Table>;
type Nothing = Record<never, never>;

/** For `statement.ts` alone: what a statement runs on, and whose it is. */
export function unwrap(handle: Db | TenantDb): { readonly db: Db; readonly tenant: TenantId | undefined } {
  return handle instanceof TenantDb ? TenantDb.unwrap(handle) : { db: handle, tenant: undefined };
}

export class TenantDb {
  static unwrap = (own: TenantDb) => ({ db: own.#db as unknown as Db, tenant: own.#tenant });

  readonly #db: Kysely<Schema>;
  readonly #tenant: TenantId;

  constructor(db: Kysely<Schema>, tenant: Owner) {
    this.#db = db;
    this.#tenant = tenant as TenantId;
  }

  selectFrom<Table extends OwnedTable>(table: Table): SelectQueryBuilder<With<Table>, Table, Nothing>;
  selectFrom<Table extends OwnedTable, Alias extends string>(
    table: `${Table} as ${Alias}`,
  ): SelectQueryBuilder<SharedSchema & Record<Alias, Owned[Table]>, Alias, Nothing>;
  selectFrom(table: string): unknown {
    const alias = table.slice(table.lastIndexOf(" ") + 1) as "links";
    return this.#db.selectFrom(table as "links").where(`${alias}.tenant_id`, "=", this.#tenant);
  }

  insertInto<Table extends OwnedTable>(table: Table): TenantInsert<Table> {
    const query = this.#db.insertInto(table as "links");
    const own = (row: object) => ({ ...row, tenant_id: this.#tenant }) as InsertObject<Schema, "links">;
    const values = (rows: object | readonly object[]) => query.values(Array.isArray(rows) ? rows.map(own) : own(rows));
    return { values } as unknown as TenantInsert<Table>;
  }

  updateTable<Table extends OwnedTable>(table: Table): UpdateQueryBuilder<With<Table>, Table, Table, UpdateResult> {
    const query = this.#db.updateTable(table as "links").where("tenant_id", "=", this.#tenant);
    return query as unknown as UpdateQueryBuilder<With<Table>, Table, Table, UpdateResult>;
  }

  deleteFrom<Table extends OwnedTable>(table: Table): DeleteQueryBuilder<With<Table>, Table, DeleteResult> {
    const query = this.#db.deleteFrom(table as "links").where("tenant_id", "=", this.#tenant);
    return query as unknown as DeleteQueryBuilder<With<Table>, Table, DeleteResult>;
  }
}

/** A row to insert through a handle, which adds the tenant. */
export type OwnRow<Table extends OwnedTable> = InsertObject<With<Table>, Table>;

interface TenantInsert<Table extends OwnedTable> {
  values(rows: OwnRow<Table> | readonly OwnRow<Table>[]): TenantInsertQuery<With<Table>, Table>;
}

interface TenantInsertQuery<DB, Table extends keyof DB>
  extends Omit<InsertQueryBuilder<DB, Table, InsertResult>, "onConflict" | "values" | "columns" | "expression"> {
  onConflict(
    act: (
      conflict: TenantConflict<DB, Table>,
    ) => ReturnType<Parameters<InsertQueryBuilder<DB, Table, InsertResult>["onConflict"]>[0]>,
  ): InsertQueryBuilder<DB, Table, InsertResult>;
}

/** Another tenant's row may be in the way of an insert, and be left alone. To be updated it must be the tenant's own. */
interface TenantConflict<DB, Table extends keyof DB> {
  column(column: "tenant_id"): OnConflictBuilder<DB, Table>;
  column(column: keyof DB[Table] & string): Pick<OnConflictBuilder<DB, Table>, "doNothing">;
  columns(columns: readonly ["tenant_id", ...(keyof DB[Table] & string)[]]): OnConflictBuilder<DB, Table>;
}
