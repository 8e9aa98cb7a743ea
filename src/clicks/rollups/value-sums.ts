/**
 * Sums of clicks and visitors by the key of a value, without an object for each value. They are lists in the order in which the
 * values came, and a hash table has their places: so all of them are gone through without looking at empty places, and a table that
 * grows is small. The two halves of a key are apart, because whole numbers of 32 bits are compared without becoming objects or fractions.
 */
export class ValueSums {
  /** The place in the lists, counted from 1. */
  #index = new Int32Array(leastPlaces);
  #low = new Int32Array(leastPlaces / 2);
  #high = new Int32Array(leastPlaces / 2);
  #clicks = new Float64Array(leastPlaces / 2);
  #visitors = new Float64Array(leastPlaces / 2);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return 4 * this.#index.length + 24 * this.#low.length;
  }

  /** Zero if it is not there. */
  get(key: number): { readonly clicks: number; readonly visitors: number } {
    const place = this.#placeOf(key);
    if (place < 0) return nothing;
    return { clicks: this.#clicks[place] as number, visitors: this.#visitors[place] as number };
  }

  clicksOf(key: number): number {
    const place = this.#placeOf(key);
    return place < 0 ? 0 : (this.#clicks[place] as number);
  }

  /** Below 0 if it is not there. */
  #placeOf(key: number): number {
    const [low, high] = [lowOf(key), highOf(key)];
    const mask = this.#index.length - 1;
    for (let at = low & mask; ; at = (at + 1) & mask) {
      const place = (this.#index[at] as number) - 1;
      if (place < 0 || (this.#low[place] === low && this.#high[place] === high)) return place;
    }
  }

  add(key: number, clicks: number, visitors: number): void {
    this.#reserve(1);
    const [low, high] = [lowOf(key), highOf(key)];
    const index = this.#index;
    const mask = index.length - 1;
    for (let at = low & mask; ; at = (at + 1) & mask) {
      const place = (index[at] as number) - 1;
      if (place < 0) {
        index[at] = this.#append(low, high, clicks, visitors);
        return;
      }
      if (this.#low[place] === low && this.#high[place] === high) {
        this.#clicks[place] = (this.#clicks[place] as number) + clicks;
        this.#visitors[place] = (this.#visitors[place] as number) + visitors;
        return;
      }
    }
  }

  #append(low: number, high: number, clicks: number, visitors: number): number {
    const place = this.#size++;
    this.#low[place] = low;
    this.#high[place] = high;
    this.#clicks[place] = clicks;
    this.#visitors[place] = visitors;
    return this.#size;
  }

  /**
   * Adds values as a roll-up has them (`packed-values.ts`), so many from one place to another. The same as `add` for each, in a third of
   * the time: most of the time of a report is spent here.
   */
  addPacked(bytes: Uint8Array, from: number, to: number, count: number): void {
    this.#reserve(count);
    const index = this.#index;
    const mask = index.length - 1;
    const [allLow, allHigh, allClicks, allVisitors] = [this.#low, this.#high, this.#clicks, this.#visitors];
    let size = this.#size;
    for (let place = from; place < to; ) {
      const low =
        (bytes[place] as number) |
        ((bytes[place + 1] as number) << 8) |
        ((bytes[place + 2] as number) << 16) |
        ((bytes[place + 3] as number) << 24);
      const high =
        (bytes[place + 4] as number) | ((bytes[place + 5] as number) << 8) | ((bytes[place + 6] as number) << 16);
      place += keyBytes;
      let clicks = bytes[place++] as number;
      if (clicks > 127) {
        clicks &= 127;
        for (let unit = 128; ; unit *= 128) {
          const byte = bytes[place++] as number;
          clicks += (byte & 127) * unit;
          if (byte < 128) break;
        }
      }
      let visitors = bytes[place++] as number;
      if (visitors > 127) {
        visitors &= 127;
        for (let unit = 128; ; unit *= 128) {
          const byte = bytes[place++] as number;
          visitors += (byte & 127) * unit;
          if (byte < 128) break;
        }
      }
      let at = low & mask;
      for (;;) {
        const known = (index[at] as number) - 1;
        if (known < 0) {
          if (size === allLow.length) throw new RangeError("a roll-up has more values than it says");
          allLow[size] = low;
          allHigh[size] = high;
          allClicks[size] = clicks;
          allVisitors[size] = visitors;
          index[at] = ++size;
          break;
        }
        if (allLow[known] === low && allHigh[known] === high) {
          allClicks[known] = (allClicks[known] as number) + clicks;
          allVisitors[known] = (allVisitors[known] as number) + visitors;
          break;
        }
        at = (at + 1) & mask;
      }
    }
    this.#size = size;
  }

  /**
   * Adds one click for each marked row: the key is in its column, so many numbers after that of the row before. As `add`, in a third of the
   * time.
   */
  addColumn(numbers: ArrayLike<number>, column: number, width: number, rows: MarkedRows): void {
    const { marks, visitors } = rows;
    this.#reserve(1);
    let [index, allLow, allHigh, allClicks, allVisitors] = this.#lists();
    let mask = index.length - 1;
    for (let row = 0, from = column; row < marks.length; row++, from += width) {
      if (marks[row] === 0) continue;
      const key = numbers[from] as number;
      const low = key | 0;
      const high = low === key && low >= 0 ? 0 : highOf(key);
      for (let at = low & mask; ; at = (at + 1) & mask) {
        const place = (index[at] as number) - 1;
        if (place < 0) {
          index[at] = this.#append(low, high, 1, visitors[row] as number);
          if (this.#size < allLow.length) break;
          this.#grow(this.#size + 1);
          [index, allLow, allHigh, allClicks, allVisitors] = this.#lists();
          mask = index.length - 1;
          break;
        }
        if (allLow[place] === low && allHigh[place] === high) {
          allClicks[place] = (allClicks[place] as number) + 1;
          allVisitors[place] = (allVisitors[place] as number) + (visitors[row] as number);
          break;
        }
      }
    }
  }

  #lists(): [Int32Array, Int32Array, Int32Array, Float64Array, Float64Array] {
    return [this.#index, this.#low, this.#high, this.#clicks, this.#visitors];
  }

  #reserve(more: number): void {
    const needed = this.#size + more;
    if (needed > this.#low.length) this.#grow(needed);
  }

  /** At once to where all of these fit: the first roll-up of a report may have 300 values. */
  #grow(needed: number): void {
    let places = growth * this.#index.length;
    while (places < 2 * needed) places *= growth;
    const mask = places - 1;
    const index = new Int32Array(places);
    this.#low = longer(this.#low, new Int32Array(places / 2));
    this.#high = longer(this.#high, new Int32Array(places / 2));
    this.#clicks = longer(this.#clicks, new Float64Array(places / 2));
    this.#visitors = longer(this.#visitors, new Float64Array(places / 2));
    for (let place = 0; place < this.#size; place++) {
      let at = (this.#low[place] as number) & mask;
      while (index[at] !== 0) at = (at + 1) & mask;
      index[at] = place + 1;
    }
    this.#index = index;
  }

  each(take: (key: number, clicks: number, visitors: number) => void): void {
    for (let place = 0; place < this.#size; place++) {
      const key = (this.#high[place] as number) * 2 ** 32 + ((this.#low[place] as number) >>> 0);
      take(key, this.#clicks[place] as number, this.#visitors[place] as number);
    }
  }
}

/** Which rows count, and how many visitors each of them is. */
export interface MarkedRows {
  readonly marks: Uint8Array;
  readonly visitors: Uint8Array;
}

/** Of a key in a roll-up. */
export const keyBytes = 7;

const lowOf = (key: number): number => key | 0;
const highOf = (key: number): number => Math.floor(key / 2 ** 32);

function longer<List extends Int32Array | Float64Array>(from: List, to: List): List {
  to.set(from);
  return to;
}

const nothing = { clicks: 0, visitors: 0 };
const leastPlaces = 64;
const growth = 4;
