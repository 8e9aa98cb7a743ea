import { formatChange, formatNumber } from "../../format.ts";

/** From here on "28 times as many" says more than "+2,700.0%". */
const timesFrom = 10;

/** "+23.4%", or "×28"; undefined if there was nothing before. */
export function changeText(now: number, before: number): string | undefined {
  if (before === 0) return now === 0 ? formatChange(0) : undefined;
  const times = now / before;
  return times >= timesFrom ? `×${formatNumber(Math.round(times))}` : formatChange(times - 1);
}
