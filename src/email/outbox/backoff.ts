/**
 * When an email that the provider did not take is tried again: after 30 s, then twice as long each time up to an hour,
 * each up to half as long again by chance, so that what failed together does not come back together. After eight
 * attempts or a day nobody waits for it any more.
 */
export interface FailedAttempt {
  readonly attempt: number;
  readonly ageMs: number;
  /** What the provider asked for, if it did. */
  readonly retryAfterMs: number | null;
}

const firstMs = 30_000;
const longestMs = 3_600_000;
export const attemptsMost = 8;
export const waitMostMs = 86_400_000;

/** Nothing: no more. `chance` is from 0 to 1. */
export function nextTry({ attempt, ageMs, retryAfterMs }: FailedAttempt, chance: number): number | undefined {
  if (attempt >= attemptsMost) return undefined;
  const usual = Math.min(longestMs, firstMs * 2 ** (attempt - 1)) * (1 + chance / 2);
  const ms = Math.round(Math.max(usual, Math.min(retryAfterMs ?? 0, longestMs)));
  return ageMs + ms > waitMostMs ? undefined : ms;
}

/**
 * When an email that its limits have no room for asks again. Not before the time they name; when they name none there
 * will not be room before somebody changes the plan, so it asks now and then.
 */
export function nextAsk(ageMs: number, retryAfterMs: number | null): number | undefined {
  if (ageMs > waitMostMs) return undefined;
  return Math.max(leastAskMs, retryAfterMs ?? longestMs);
}

const leastAskMs = 1_000;
