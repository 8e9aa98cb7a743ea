import { LRUCache } from "lru-cache";

/**
 * Remembers the answers of a function that is asked the same few things again and again. At most `most` are kept, and the
 * one that was asked for longest ago goes first. Strangers choose the keys, so `keeps` decides which are worth the room.
 *
 * To ask for what is kept allocates nothing: lru-cache writes into the options of a call, and makes some where none are
 * given.
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
