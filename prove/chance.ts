/**
 * How far a figure is from what chance gives, in standard deviations. Beyond five, one honest run in a million and a
 * half would be refused; a code that follows its counter is off by hundreds.
 */
export const zMost = 5;

/** This many successes in this many trials, each with this probability. */
export const zOfShare = (successes: number, trials: number, chance: number): number =>
  (successes - trials * chance) / Math.sqrt(trials * chance * (1 - chance));

/** Counts of events that should be equally frequent: Pearson's chi-square, normalized by Wilson and Hilferty. */
export function zOfEvenness(counts: readonly number[]): number {
  const freedom = counts.length - 1;
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  const chiSquare = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  const spread = 2 / (9 * freedom);
  return ((chiSquare / freedom) ** (1 / 3) - (1 - spread)) / Math.sqrt(spread);
}

/** How often a number was followed by a greater one: in a shuffled row of n, (n - 1) / 2 times, variance (n + 1) / 12. */
export const zOfAscents = (ascents: number, numbers: number): number =>
  (ascents - (numbers - 1) / 2) / Math.sqrt((numbers + 1) / 12);

export const maxAbs = (figures: readonly number[]): number => Math.max(...figures.map(Math.abs));
