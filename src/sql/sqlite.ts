import { Database, type SQLQueryBindings, type Statement } from "bun:sqlite";
import { chmodSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  sql as raw,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { systemClock } from "../base/clock.ts";
import { SqliteNow } from "./run-now.ts";
import type { Sql } from "./sql.ts";
import type { SharedSchema } from "./tenant-db.ts";
import { createTurns, type Turns } from "./turns.ts";
import { logMostPages } from "./write-ahead-log.ts";

/**
 * The embedded database. bun:sqlite is synchronous: a statement blocks the thread until it is done, which for a point
 * read is microseconds. The serving thread must never *wait*, so SQLite's own busy timeout is off, and a statement that
 * meets another writer is retried from the event loop.
 *
 * Two connections: one for reads and single statements, which need no queue because each ends before the next begins;
 * one for transactions, which queue. In WAL mode the first never waits for the second.
 */
export type Durability = "full" | "normal";

/**
 * SQLite has no queue of writers. A thread that writes much pauses for some milliseconds between its transactions, and who tries less often than
 * that misses the pause: with 5 ms, visitors waited for a lease through several of them. A failed try takes 5 µs.
 */
const busyRetryMs = 1;
const busyMostMs = 5_000; // as long as a transaction may take on PostgreSQL
const openRetryMs = 5;
const openTries = 100;

/** Work that was interrupted because the process stops. Its open transaction is rolled back. */
export class Interrupted extends Error {
  readonly code = "interrupted";
}

export interface SqliteOptions {
  /** Asked before each statement. Once true, no statement runs except one that ends a transaction. */
  readonly isStopping?: () => boolean;
  /** Leaves the write-ahead log to other threads: see `write-ahead-log.ts`. */
  readonly leavesLog?: boolean;
  /**
   * For statements and transactions. What a connection commits empties the page cache of all others: lookups between the transactions of
   * hits read most pages again, which was a third of their time. A statement may run inside of a transaction, so it must not write, nor
   * read what transactions write.
   */
  readonly oneConnection?: boolean;
  /** For a thread that does long work: other work of the thread has its turn between statements (`turns.ts`), but not within a transaction. */
  readonly givesWay?: boolean;
}

export function openSqlite(path: string, durability: Durability = "full", options: SqliteOptions = {}): Sql {
  const { isStopping = () => false, leavesLog = false, oneConnection = false, givesWay = false } = options;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  Database.MAX_QUERY_CACHE_SIZE = 500; // prepared statements, by their text; the default is 20
  const forStatements = connect(path, durability, leavesLog);
  const forTransactions = oneConnection ? forStatements : connect(path, durability, leavesLog);
  const turns = givesWay ? createTurns() : undefined;
  const { db: statements } = kysely(forStatements, false, isStopping, turns);
  const { db: transactions, now } = kysely(forTransactions, true, isStopping, turns);
  return {
    dialect: "sqlite",
    db: statements,
    transaction: (work) =>
      transactions.transaction().execute(async (trx) => {
        try {
          return await work(trx);
        } finally {
          now.ended(trx);
        }
      }),
    async script(_, text) {
      forTransactions.run(text); // that of the transaction; a prepared statement would be the first of them only
    },
    now: raw<number>`cast(unixepoch('subsec') * 1000 as integer)`,
    forUpdate: (query) => query,
    forShare: (query) => query,
    skipLocked: (query) => query,
    lowerAscii: (column) => raw<string>`lower(${raw.ref(column)})`,
    eachText: (column) => raw<{ value: string }>`json_each(${raw.ref(column)})`.as<"each">(raw`each`),
    eachPlace: (json) =>
      raw<{
        domain: string;
        code: string;
      }>`(select value ->> 0 as domain, value ->> 1 as code from json_each(${json}))`.as<"asked">(raw`asked`),
    async ping() {
      await statements.executeQuery(CompiledQuery.raw("select 1"));
    },
    async close() {
      await transactions.destroy();
      await statements.destroy();
      // Kysely does not close connections that were never used.
      for (const connection of [forStatements, forTransactions]) connection.close();
    },
  };
}

function connect(path: string, durability: Durability, leavesLog: boolean): Database {
  const database = new Database(path, { create: true, strict: true });
  chmodSync(path, 0o600); // SQLite gives its side files the same mode
  database.run("pragma busy_timeout = 0");
  // The first connection to a new file switches it to WAL; until then a second one may briefly find it locked.
  retryNow(() => database.run("pragma journal_mode = wal"));
  database.run(`pragma synchronous = ${durability}`);
  if (leavesLog) database.run(`pragma wal_autocheckpoint = ${logMostPages}`);
  database.run("pragma foreign_keys = on");
  database.run("pragma cache_size = -8000");
  // Deleted rows, such as the salts of visitors, are overwritten with zeros. Where rows were moved, only `on` finds all copies:
  // `fast` leaves those in free pages.
  database.run("pragma secure_delete = on");
  // A statement with many rows that may fail keeps a copy of each page that it changes, and writes them to a file from 64 KB on,
  // which took three times as long as the rows. In memory where statements are short: hits, leases and clicks, and imports by a
  // command (`undo-in-memory.ts`). Reports and migrations sort too much for that.
  if (durability === "normal") database.run("pragma temp_store = memory");
  return database;
}

function kysely(database: Database, takeTurns: boolean, isStopping: () => boolean, turns: Turns | undefined) {
  const connection = new SqliteConnection(database, isStopping, turns);
  const now = new SqliteNow((text, parameters) => connection.runNow(text, parameters as SQLQueryBindings[]));
  const db = new Kysely<SharedSchema>({
    dialect: {
      createDriver: () => new SqliteDriver(database, connection, takeTurns),
      createAdapter: () => now,
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  return { db, now };
}

/** Made once: Kysely freezes what it makes of a text, which takes longer than beginning a transaction. */
const begin = CompiledQuery.raw("begin immediate");
const ending = { commit: CompiledQuery.raw("commit"), rollback: CompiledQuery.raw("rollback") } as const;

class SqliteDriver implements Driver {
  readonly #connection: SqliteConnection;
  readonly #database: Database;
  readonly #takeTurns: boolean;
  #lastTurn: Promise<void> = Promise.resolve();
  #endTurn: () => void = () => {};

  constructor(database: Database, connection: SqliteConnection, takeTurns: boolean) {
    this.#database = database;
    this.#connection = connection;
    this.#takeTurns = takeTurns;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    if (!this.#takeTurns) return this.#connection;
    const before = this.#lastTurn;
    const mine = Promise.withResolvers<void>();
    this.#lastTurn = mine.promise;
    await before;
    this.#endTurn = mine.resolve;
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    if (this.#takeTurns) this.#endTurn();
  }

  async beginTransaction(): Promise<void> {
    // `immediate` takes the write lock now: a transaction that reads first and then fails to get the lock cannot
    // continue.
    await this.#connection.executeQuery(begin);
  }

  async commitTransaction(): Promise<void> {
    await this.#connection.end("commit");
  }

  async rollbackTransaction(): Promise<void> {
    if (this.#database.inTransaction) await this.#connection.end("rollback");
  }

  async destroy(): Promise<void> {
    this.#database.close();
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #database: Database;
  readonly #isStopping: () => boolean;
  readonly #turns: Turns | undefined;
  readonly #returning = new WeakMap<Statement, boolean>();

  constructor(database: Database, isStopping: () => boolean, turns: Turns | undefined) {
    this.#database = database;
    this.#isStopping = isStopping;
    this.#turns = turns;
  }

  executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.#patiently<Row>(query, this.#isStopping);
  }

  /** Also when the process is stopping. */
  async end(statement: "commit" | "rollback"): Promise<void> {
    await this.#patiently(ending[statement], () => false);
  }

  async #patiently<Row>(query: CompiledQuery, isStopping: () => boolean): Promise<QueryResult<Row>> {
    let end: number | undefined;
    if (this.#isOthersTurn()) await this.#turns?.give();
    for (;;) {
      if (isStopping()) throw new Interrupted("the process is stopping");
      try {
        return this.#run<Row>(query.sql, query.parameters as SQLQueryBindings[]);
      } catch (error) {
        if (!isBusy(error)) throw error;
        end ??= systemClock.elapsed() + busyMostMs;
        if (systemClock.elapsed() >= end) throw error;
        await new Promise((resolve) => setTimeout(resolve, busyRetryMs));
      }
    }
  }

  /** Others would wait for the lock, too. */
  #isOthersTurn(): boolean {
    return this.#turns?.isDue() === true && !this.#database.inTransaction;
  }

  /** Undefined if another connection has the lock, or others have their turn first. */
  runNow(text: string, parameters: SQLQueryBindings[]): QueryResult<unknown> | undefined {
    if (this.#isOthersTurn()) return undefined;
    if (this.#isStopping()) throw new Interrupted("the process is stopping");
    try {
      return this.#run(text, parameters);
    } catch (error) {
      if (isBusy(error)) return undefined;
      throw error;
    }
  }

  #run<Row>(sql: string, parameters: SQLQueryBindings[]): QueryResult<Row> {
    const statement = this.#database.query(sql);
    // As one list: each of a thousand values would be copied twice.
    const values = parameters as unknown as SQLQueryBindings;
    if (this.#returnsRows(statement)) return { rows: statement.all(values) as Row[] };
    const { changes } = statement.run(values);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  /** Asking the statement every time takes a quarter as long as a point read. */
  #returnsRows(statement: Statement): boolean {
    const known = this.#returning.get(statement);
    if (known !== undefined) return known;
    const returns = statement.columnNames.length > 0;
    this.#returning.set(statement, returns);
    return returns;
  }

  // biome-ignore lint/correctness/useYield: Kysely requires the method, and it always throws.
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error("SQLite results are not streamed: read them in pages");
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY");
}

function retryNow(work: () => void): void {
  for (let tries = 1; ; tries++) {
    try {
      work();
      return;
    } catch (error) {
      if (!isBusy(error) || tries === openTries) throw error;
      Bun.sleepSync(openRetryMs);
    }
  }
}
