/** The state of a limit, for people. Pure: the figures come from the stores. */
export interface LimitUsage {
  readonly used: number;
  readonly held: number;
  /** Null: no limit. */
  readonly max: number | null;
}

export interface Period {
  readonly startsAt: number;
  readonly endsAt: number;
}

/** The used share, from 0 to 1; a limit of 0 is fully used. */
export function shareOf({ used, held, max }: LimitUsage): number {
  if (max === null) return 0;
  return max === 0 ? 1 : Math.min(1, (used + held) / max);
}

/**
 * When the limit will be used up at the rate since the period began: now if it already is, null if not before the
 * period ends. Without a period (a sliding window, or a total) there is no rate.
 */
export function spentAt(standing: LimitUsage, period: Period | undefined, now: number): number | null {
  const { used, max } = standing;
  if (max === null) return null;
  if (shareOf(standing) === 1) return now;
  if (period === undefined || used === 0) return null;
  const at = Math.round(period.startsAt + ((now - period.startsAt) * max) / used);
  return at < period.endsAt ? at : null;
}
