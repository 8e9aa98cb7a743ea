/** A vessel with water up to `bottom`, and room up to `top`. Whole numbers. */
export interface Vessel {
  readonly bottom: number;
  readonly top: number;
}

/**
 * Pours an amount into vessels so that all get the same level, except those that are full or had more before: the emptiest get
 * it first. What is left of the last unit goes to some of them, beginning with another one at each `turn`. Returns the levels.
 */
export function fillEvenly(vessels: readonly Vessel[], amount: number, turn: number): number[] {
  let [low, high] = [0, vessels.reduce((most, { top }) => Math.max(most, top), 0)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (poured(vessels, middle) <= amount) low = middle;
    else high = middle - 1;
  }
  const levels = vessels.map((vessel) => levelOf(vessel, low));
  let rest = amount - poured(vessels, low);
  for (let i = 0; i < vessels.length && rest > 0; i++) {
    const place = (i + turn) % vessels.length;
    const { bottom = 0, top = 0 } = vessels[place] ?? {};
    if (bottom > low || top <= low) continue;
    levels[place] = low + 1;
    rest--;
  }
  return levels;
}

const levelOf = ({ bottom, top }: Vessel, level: number): number => Math.max(bottom, Math.min(top, level));

function poured(vessels: readonly Vessel[], level: number): number {
  let sum = 0;
  for (const vessel of vessels) sum += levelOf(vessel, level) - vessel.bottom;
  return sum;
}
