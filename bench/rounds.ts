/** Rounds in which everything that is compared is measured once, each beginning with another one. */
import { median, round } from "./show.ts";

export const rotated = <T>(all: readonly T[], by: number): T[] => all.map((_, i) => all[(i + by) % all.length] as T);

export interface Compared {
  /** The median over the rounds, each compared within itself. */
  readonly figure: number;
  readonly spread: string;
}

/** Two lists of one figure per round. */
export function compare(ours: readonly number[], theirs: readonly number[]): Compared {
  const ratios = ours.map((figure, i) => figure / (theirs[i] ?? Number.NaN));
  const least = Math.min(...ours) / Math.min(...theirs);
  return { figure: median(ratios), spread: `${spreadOf(ratios)}, least ${round(least)}` };
}

export const spreadOf = (figures: readonly number[]): string =>
  `rounds ${round(Math.min(...figures))} to ${round(Math.max(...figures))}`;
