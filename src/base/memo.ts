/**
 * Caches the results of a function that is called with the same few keys again and again. At most `most` are kept.
 * Strangers choose the keys, so `keeps` decides which are worth the space.
 *
 * There are two generations. New results, and old ones that are asked for, go to the younger; when that has half of all,
 * it becomes the older, and what is left in the older is forgotten. So a key that is asked for stays, and reading it is one
 * lookup in a map. With lru-cache, whose lists keep the exact order, the memos took a sixth of the time of a redirect.
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
  const { find, keeps } = settings;
  const half = Math.ceil(settings.most / 2);
  let younger = new Map<string, Value>();
  let older = new Map<string, Value>();

  function keep(key: string, value: Value): void {
    if (younger.size >= half) {
      older = younger;
      younger = new Map();
    }
    younger.set(key, value);
  }

  return {
    get(key) {
      const known = younger.get(key);
      if (known !== undefined) return known;
      const old = older.get(key);
      if (old !== undefined) {
        older.delete(key);
        keep(key, old);
        return old;
      }
      const value = find(key);
      if (keeps === undefined || keeps(key, value)) keep(key, value);
      return value;
    },
    clear() {
      younger.clear();
      older.clear();
    },
    get size() {
      return younger.size + older.size;
    },
  };
}
