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

/** A map with at most so many entries; the oldest leave first. */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: Key, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#most) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      break;
    }
  }

  delete(key: Key): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  get size(): number {
    return this.#entries.size;
  }
}
