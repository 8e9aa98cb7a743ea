/**
 * A map of bounded weight: what was set first leaves first. An entry weighs 1, unless `weigh` says otherwise; its weight must not change
 * while it is in the map.
 *
 * The hand continues where it stopped. A new iterator would begin with the places of entries that have left, which a Map keeps for
 * a while: with 10,000 entries, finding the oldest took 5 µs, and takes 0.3 like this.
 */
export class BoundedMap<Key, Value extends NonNullable<unknown>> {
  readonly #entries = new Map<Key, Value>();
  readonly #most: number;
  readonly #weigh: (value: Value) => number;
  #weight = 0;
  #hand = this.#entries.keys();

  constructor(most: number, weigh: (value: Value) => number = () => 1) {
    this.#most = most;
    this.#weigh = weigh;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    this.#entries.set(key, value);
    this.#weight += this.#weigh(value);
    while (this.#weight > this.#most && this.#entries.size > 0) this.#forgetOldest();
  }

  /** Returns what is no longer there. */
  delete(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#weight -= this.#weigh(value);
    return value;
  }

  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
    this.#hand = this.#entries.keys();
  }

  entries(): MapIterator<[Key, Value]> {
    return this.#entries.entries();
  }

  get size(): number {
    return this.#entries.size;
  }

  #forgetOldest(): void {
    const { done, value } = this.#hand.next();
    // An iterator that has come to its end stays there, whatever is added later.
    if (done === true) this.#hand = this.#entries.keys();
    else this.delete(value);
  }
}
