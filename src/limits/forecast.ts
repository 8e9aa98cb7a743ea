/** Where a limit stands, in figures for people. Pure: what is used comes from the stores. */
export interface LimitUsage {
  readonly used: number;
  readonly held: number;
  /** Null: without limit. */
  readonly max: number | null;
}

export interface Period {
  readonly startsAt: number;
  readonly endsAt: number;
}

/** The part that is gone, from 0 to 1; of nothing all is gone. */
export function shareOf({ used, held, max }: LimitUsage): number {
  if (max === null) return 0;
  return max === 0 ? 1 : Math.min(1, (used + held) / max);
}

/**
 * When it will be used up if it goes on as it did since the period began: now if it is, null if that is not before the
 * period ends. Without a period (a window that slides, or never ends) there is no pace to go by.
 */
export function spentAt(standing: LimitUsage, period: Period | undefined, now: number): number | null {
  const { used, max } = standing;
  if (max === null) return null;
  if (shareOf(standing) === 1) return now;
  if (period === undefined || used === 0) return null;
  const at = Math.round(period.startsAt + ((now - period.startsAt) * max) / used);
  return at < period.endsAt ? at : null;
}
