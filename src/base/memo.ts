import { LRUCache } from "lru-cache";

/**
 * Caches the results of a function that is called with the same few keys again and again. At most `most` are kept; the
 * least recently used is evicted first. Strangers choose the keys, so `keeps` decides which are worth the space.
 *
 * Reading a cached result allocates nothing: lru-cache writes into the options of a call, and creates an object if none
 * is given.
 */
export interface Memo<Value> {
  get(key: string): Value;
  clear(): void;
  readonly size: number;
}

export interface MemoSettings<Value> {
  readonly most: number;
  readonly find: (key: string) => Value;
  /** Everything, if not given. */
  readonly keeps?: (key: string, value: Value) => boolean;
}

export function createMemo<Value extends NonNullable<unknown>>(settings: MemoSettings<Value>): Memo<Value> {
  const { most, find, keeps } = settings;
  const kept = new LRUCache<string, Value>({ max: most });
  const options = {};
  return {
    get(key) {
      const known = kept.get(key, options);
      if (known !== undefined) return known;
      const value = find(key);
      if (keeps === undefined || keeps(key, value)) kept.set(key, value);
      return value;
    },
    clear: () => kept.clear(),
    get size() {
      return kept.size;
    },
  };
}
