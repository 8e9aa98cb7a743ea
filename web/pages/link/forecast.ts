import type { Link } from "../../api/generated.ts";

export interface Forecast {
  readonly monthStart: number;
  readonly monthEnd: number;
  readonly perDay: number;
  /** At the end of the month, at this pace. */
  readonly expected: number;
  /** When the limit is reached, if it is before the end of the month. */
  readonly fullAt: number | undefined;
}

const dayMs = 86_400_000;
/** A pace of less than this says nothing. */
const leastMs = dayMs / 4;

/** Hits at the pace of this month so far. Months of quotas are those of UTC. */
export function forecastOf(
  { hitsUsed, hitsLimit, createdAt }: Pick<Link, "hitsUsed" | "hitsLimit" | "createdAt">,
  now: number,
): Forecast {
  const today = new Date(now);
  const monthStart = Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), 1);
  const monthEnd = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 1);
  const since = Math.max(monthStart, Date.parse(createdAt));
  const perMs = hitsUsed / Math.max(leastMs, now - since);
  const expected = Math.round(hitsUsed + perMs * (monthEnd - now));
  const perDay = Math.round(perMs * dayMs);
  const isEnough = hitsLimit === null || hitsUsed >= hitsLimit || expected <= hitsLimit;
  return {
    ...{ monthStart, monthEnd, perDay, expected },
    fullAt: isEnough ? undefined : now + (hitsLimit - hitsUsed) / perMs,
  };
}
