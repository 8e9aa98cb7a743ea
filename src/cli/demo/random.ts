/** Numbers that look random and are the same for the same seed (mulberry32). */
export interface Dice {
  /** From 0 to 1. */
  next(): number;
  /** A whole number below `most`. */
  below(most: number): number;
  pick<Item>(items: readonly Weighted<Item>[]): Item;
  /** How often something happens that is expected so often. */
  poisson(mean: number): number;
}

export type Weighted<Item> = readonly [item: Item, weight: number];

export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    below: (most) => Math.floor(next() * most),
    pick(items) {
      const total = items.reduce((sum, [, weight]) => sum + weight, 0);
      let left = next() * total;
      for (const [item, weight] of items) {
        left -= weight;
        if (left < 0) return item;
      }
      const last = items.at(-1);
      if (last === undefined) throw new Error("nothing to pick from");
      return last[0];
    },
    poisson(mean) {
      // For large means the bell curve is as good, and takes one step.
      if (mean > 50) {
        const bell = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
        return Math.max(0, Math.round(mean + bell * Math.sqrt(mean)));
      }
      const limit = Math.exp(-mean);
      let [count, product] = [0, next()];
      while (product > limit) {
        count++;
        product *= next();
      }
      return count;
    },
  };
}
