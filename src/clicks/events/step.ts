import type { Trx } from "../../sql/tenant-db.ts";

/**
 * One transaction of the writer. What a part of it learns about the database is remembered only when the transaction has
 * been committed: until then it may be undone.
 */
export interface Step {
  readonly trx: Trx;
  /** The database's time when the transaction began. */
  readonly now: number;
  afterCommit(remember: () => void): void;
  /** Also if it turns out only later, because the answer was lost, that the transaction was committed. */
  onceStored(count: () => void): void;
}
