/**
 * A map of bounded weight: what was set first leaves first. An entry weighs 1, unless `weigh` says otherwise; its weight must not change
 * while it is in the map.
 *
 * The hand is an iterator that continues where it stopped. A new one would begin with the places of entries that have left, which a Map
 * keeps for a while: with 10,000 entries, finding the oldest took 5 µs, and takes 0.3 like this. But an iterator that stands still keeps
 * every table that the Map has outgrown since. So the hand is let go when nothing had to leave for as many changes as there are entries.
 */
export class BoundedMap<Key, Value extends NonNullable<unknown>> {
  readonly #entries = new Map<Key, Value>();
  readonly #most: number;
  readonly #weigh: (value: Value) => number;
  #weight = 0;
  #hand: MapIterator<Key> | undefined;
  /** Changes since the hand moved. */
  #changes = 0;

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
    this.#countChange();
    while (this.#weight > this.#most && this.#forgetOldest());
  }

  /** Returns what is no longer there. */
  delete(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#weight -= this.#weigh(value);
    this.#countChange();
    return value;
  }

  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
    this.#hand = undefined;
  }

  entries(): MapIterator<[Key, Value]> {
    return this.#entries.entries();
  }

  get size(): number {
    return this.#entries.size;
  }

  #countChange(): void {
    if (this.#hand !== undefined && ++this.#changes > this.#entries.size) this.#hand = undefined;
  }

  /** False if there is none. */
  #forgetOldest(): boolean {
    this.#hand ??= this.#entries.keys();
    const { done, value: oldest } = this.#hand.next();
    this.#changes = 0;
    if (done === true) this.#hand = undefined;
    else this.delete(oldest);
    return done !== true;
  }
}
