import { type AliasedRawBuilder, type Expression, type RawBuilder, sql as raw } from "kysely";
import type { Db, Trx } from "./tenant-db.ts";

export type Dialect = "sqlite" | "postgres";

/**
 * The interface between the subjects and the two databases. A subject writes its SQL once with Kysely, against `db` for
 * a single statement and inside `transaction` for several; differences between the dialects are handled in this folder.
 */
export interface Sql {
  readonly dialect: Dialect;
  /** Reads, and writes of one statement. Rows of tenants are reached through `tenant-db.ts`. */
  readonly db: Db;
  /** All or nothing. On SQLite they run one after the other. */
  transaction<Result>(work: (trx: Trx) => Promise<Result>): Promise<Result>;
  /** Runs a text of several statements in the transaction. */
  script(trx: Trx, text: string): Promise<void>;
  /** The database's time in milliseconds, for use within a statement: the clocks of servers differ. */
  readonly now: RawBuilder<number>;
  /** Locks rows that a transaction reads in order to write them. SQLite has one writer anyway. */
  forUpdate<Query extends { forNoKeyUpdate(): Query }>(query: Query): Query;
  /** The same, but skips rows that others have locked: many can each take some without waiting. */
  skipLocked<Query extends { forUpdate(): Query; skipLocked(): Query }>(query: Query): Query;
  /** Keeps rows unchanged until the transaction ends; others may share the lock. */
  forShare<Query extends { forShare(): Query }>(query: Query): Query;
  /** A column with A to Z as a to z, and nothing else changed: what both databases can do. */
  lowerAscii(column: string): RawBuilder<string>;
  /** The elements of a JSON list of texts, to be joined to its row as a table `each` with a column `value`. */
  eachText(column: string): AliasedRawBuilder<{ value: string }, "each">;
  /**
   * The places of a list, `[["", "abc"], ["go.example.com", "abc"]]` as JSON, as a table `asked`. One text for lists of
   * any length.
   */
  eachPlace(json: Expression<string>): AliasedRawBuilder<{ domain: string; code: string }, "asked">;
  /** Throws when the database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Its own clock, by which several servers agree. */
export async function databaseTime({ db, now }: Pick<Sql, "db" | "now">): Promise<number> {
  const { rows } = await raw<{ now: number }>`select ${now} as now`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("the database does not tell its time");
  return row.now;
}

/** PostgreSQL ends a statement, or a pause within a transaction, that lasts longer: it is stuck and blocks others. */
export const statementMs = 5_000;

/** Whether an error means that the database is unavailable or too busy: the same request may succeed later. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && typeof error.code === "string") return awayCodes.test(error.code);
  return /^Connection terminated|is not queryable$|^timeout exceeded when trying to connect|^Query read timeout/.test(
    error.message,
  );
}

// Codes of the network, PostgreSQL (connection, resources, shutdown; a statement or a pause that lasted too long) and SQLite.
const awayCodes = /^(?:E(?!RR_)[A-Z_]+|08\w{3}|25P03|53\w{3}|57P0\d|57014|SQLITE_BUSY\w*|SQLITE_FULL|SQLITE_IOERR\w*)$/;

/** Whether PostgreSQL ended a transaction because of another one: alone, the same request would succeed. */
export const isConflict = (error: unknown): boolean =>
  error instanceof Error && "code" in error && ["40001", "40P01", "55P03"].includes(String(error.code));

/** Whether the request had text that PostgreSQL cannot store or compare: a NUL. SQLite takes it, and finds nothing. */
export const hasUnstorableText = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "22021";

/** Another row already has this unique value. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error && "code" in error)) return false;
  return (
    error.code === "23505" || error.code === "SQLITE_CONSTRAINT_UNIQUE" || error.code === "SQLITE_CONSTRAINT_PRIMARYKEY"
  );
}
