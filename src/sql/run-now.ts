import { type QueryResult, SqliteAdapter } from "kysely";
import type { Db } from "./tenant-db.ts";

/**
 * Where the database is in this process, a statement is done as soon as it is called. On its way through Kysely it takes six promises
 * and, in a transaction, an executor of its own: 2 to 4 µs, which is as much as many statements take. `statement.ts` and `bulk.ts` ask
 * for its result at once.
 */
export class SqliteNow extends SqliteAdapter {
  readonly #run: RunNow;
  /** A statement of a transaction that has ended goes through Kysely, which refuses it. */
  readonly #ended = new WeakSet<object>();

  constructor(run: RunNow) {
    super();
    this.#run = run;
  }

  /** SQLite rolls back DDL like anything else; Kysely assumes by default that it does not. */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }

  ended(transaction: object): void {
    this.#ended.add(transaction);
  }

  run(db: object, text: string, parameters: readonly unknown[]): QueryResult<unknown> | undefined {
    return this.#ended.has(db) ? undefined : this.#run(text, parameters);
  }
}

/** Undefined if the statement has to wait: another connection has locked the database, or other work of the thread has its turn. */
export type RunNow = (text: string, parameters: readonly unknown[]) => QueryResult<unknown> | undefined;

/** Undefined if it cannot be run at once. */
export function runNow<Row>(db: Db, text: string, parameters: readonly unknown[]): QueryResult<Row> | undefined {
  const { adapter, plugins } = db.getExecutor();
  if (!(adapter instanceof SqliteNow) || plugins.length > 0) return undefined;
  return adapter.run(db, text, parameters) as QueryResult<Row> | undefined;
}
