import type { RawBuilder } from "kysely";
import type { Db, Trx } from "./tenant-db.ts";

export type Dialect = "sqlite" | "postgres";

/**
 * The seam between the subjects and the two databases. A subject writes its SQL once, over Kysely, against `db` for a
 * single statement and inside `transaction` for several; what the dialects do differently lives in this folder.
 */
export interface Sql {
  readonly dialect: Dialect;
  /** Reads, and writes of one statement. Rows of tenants are reached through `tenant-db.ts`. */
  readonly db: Db;
  /** All or nothing. On SQLite they run one after the other. */
  transaction<Result>(work: (trx: Trx) => Promise<Result>): Promise<Result>;
  /** The database's own time in milliseconds, to be used within a statement: the clocks of servers differ. */
  readonly now: RawBuilder<number>;
  /** Rows that a transaction reads in order to write them: nobody else may meanwhile. SQLite has one writer anyway. */
  forUpdate<Query extends { forUpdate(): Query }>(query: Query): Query;
  /** The same, but without those that somebody else has: many can each take some, and none of them waits. */
  skipLocked<Query extends { forUpdate(): Query; skipLocked(): Query }>(query: Query): Query;
  /** Rows that must stay as they are until the transaction ends; others may read them for the same reason. */
  forShare<Query extends { forShare(): Query }>(query: Query): Query;
  /** The text of a column with A to Z as a to z, and nothing else changed: what both databases can do. */
  lowerAscii(column: string): RawBuilder<string>;
  /** Throws when the database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** A statement, or a pause between two of a transaction, that lasts longer is stuck and holds up others: PostgreSQL ends it. */
export const statementMs = 5_000;

/**
 * Whether an error means that the database is away, or too busy to answer: what the caller asked for may well be right,
 * and work later.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && typeof error.code === "string") return awayCodes.test(error.code);
  return /^Connection terminated|is not queryable$|^timeout exceeded when trying to connect|^Query read timeout/.test(
    error.message,
  );
}

// The network's, PostgreSQL's (connection, resources, shutdown, cancelled statement) and SQLite's.
const awayCodes = /^(?:E(?!RR_)[A-Z_]+|08\w{3}|53\w{3}|57P0\d|57014|SQLITE_BUSY\w*|SQLITE_FULL|SQLITE_IOERR\w*)$/;

/** Somebody else's row has this unique value already. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error && "code" in error)) return false;
  return (
    error.code === "23505" || error.code === "SQLITE_CONSTRAINT_UNIQUE" || error.code === "SQLITE_CONSTRAINT_PRIMARYKEY"
  );
}
