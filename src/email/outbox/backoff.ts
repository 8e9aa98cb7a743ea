/**
 * When an email that the provider did not accept is retried: after 30 s, doubling up to an hour, each with up to 50 %
 * of jitter, so that emails that failed together do not return together. It fails after eight attempts or a day.
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

/** `undefined`: no more retries. `chance` is from 0 to 1. */
export function nextTry({ attempt, ageMs, retryAfterMs }: FailedAttempt, chance: number): number | undefined {
  if (attempt >= attemptsMost) return undefined;
  const usual = Math.min(longestMs, firstMs * 2 ** (attempt - 1)) * (1 + chance / 2);
  const ms = Math.round(Math.max(usual, Math.min(retryAfterMs ?? 0, longestMs)));
  return ageMs + ms > waitMostMs ? undefined : ms;
}

/**
 * When an email without room in its limits asks again. Not before the time they name; if they name none, there will be
 * no room until the plan changes, so it asks periodically.
 */
export function nextAsk(ageMs: number, retryAfterMs: number | null): number | undefined {
  if (ageMs > waitMostMs) return undefined;
  return Math.max(leastAskMs, retryAfterMs ?? longestMs);
}

const leastAskMs = 1_000;
