/** Pseudo-random numbers: the same seed, the same sequence. */
export interface Dice {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  /** True with this probability. */
  happens(share: number): boolean;
  pick<One>(all: readonly One[]): One;
  /** A separate generator for a part, so that one more number here does not change everything there. */
  split(): Dice;
}

/** SplitMix32: small, fast, and every seed gives another sequence. */
export function createDice(seed: number): Dice {
  let state = seed | 0;
  function bits(): number {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  }
  const next = () => bits() / 2 ** 32;
  return {
    next,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    happens: (share) => next() < share,
    pick(all) {
      const one = all[Math.floor(next() * all.length)];
      if (one === undefined) throw new Error("nothing to pick from");
      return one;
    },
    split: () => createDice(bits()),
  };
}
