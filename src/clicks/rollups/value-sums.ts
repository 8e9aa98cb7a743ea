/** Sums of clicks and visitors by the key of a value: an open hash table in typed arrays, without an object for each value. */
export class ValueSums {
  #keys: Float64Array;
  #clicks: Float64Array;
  #visitors: Float64Array;
  #mask: number;
  #size = 0;

  constructor(places = leastPlaces) {
    this.#mask = places - 1;
    this.#keys = new Float64Array(places);
    this.#clicks = new Float64Array(places);
    this.#visitors = new Float64Array(places);
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return 3 * this.#keys.byteLength;
  }

  /** Zero if it is not there. */
  get(key: number): { readonly clicks: number; readonly visitors: number } {
    for (let place = (key % 2 ** 32) & this.#mask; ; place = (place + 1) & this.#mask) {
      const found = this.#keys[place];
      if (found === key) return { clicks: this.#clicks[place] ?? 0, visitors: this.#visitors[place] ?? 0 };
      if (found === 0) return nothing;
    }
  }

  /** `low`: the lower 32 bits of the key. */
  add(key: number, low: number, clicks: number, visitors: number): void {
    const keys = this.#keys;
    const mask = this.#mask;
    let place = low & mask;
    for (;;) {
      const found = keys[place];
      if (found === key) break;
      if (found === 0) {
        keys[place] = key;
        if (++this.#size * 2 > mask) {
          this.#grow();
          this.#put(key, low, clicks, visitors);
          return;
        }
        break;
      }
      place = (place + 1) & mask;
    }
    this.#clicks[place] = (this.#clicks[place] as number) + clicks;
    this.#visitors[place] = (this.#visitors[place] as number) + visitors;
  }

  /** Adds to a key that is there. */
  #put(key: number, low: number, clicks: number, visitors: number): void {
    let place = low & this.#mask;
    while (this.#keys[place] !== key) place = (place + 1) & this.#mask;
    this.#clicks[place] = (this.#clicks[place] as number) + clicks;
    this.#visitors[place] = (this.#visitors[place] as number) + visitors;
  }

  #grow(): void {
    const [keys, clicks, visitors] = [this.#keys, this.#clicks, this.#visitors];
    const places = growth * keys.length;
    this.#mask = places - 1;
    this.#keys = new Float64Array(places);
    this.#clicks = new Float64Array(places);
    this.#visitors = new Float64Array(places);
    for (let from = 0; from < keys.length; from++) {
      const key = keys[from] as number;
      if (key === 0) continue;
      let place = (key % 2 ** 32) & this.#mask;
      while (this.#keys[place] !== 0) place = (place + 1) & this.#mask;
      this.#keys[place] = key;
      this.#clicks[place] = clicks[from] as number;
      this.#visitors[place] = visitors[from] as number;
    }
  }

  each(take: (key: number, clicks: number, visitors: number) => void): void {
    for (let place = 0; place < this.#keys.length; place++) {
      const key = this.#keys[place] as number;
      if (key !== 0) take(key, this.#clicks[place] as number, this.#visitors[place] as number);
    }
  }
}

const nothing = { clicks: 0, visitors: 0 };
const leastPlaces = 64;
const growth = 4;
