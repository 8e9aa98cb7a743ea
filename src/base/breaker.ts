import { BrokenCircuitError, CircuitState, circuitBreaker, DelegateBackoff, handleAll, type IBreaker } from "cockatiel";
import type { Clock } from "./clock.ts";
import type { Metrics } from "./metrics.ts";

/**
 * Keeps callers from waiting for what does not answer. More than five failures in ten seconds, if they are so large a
 * share of the calls, open it: calls then fail at once. After a second, and twice as long each further time up to half a
 * minute, one call may try, while the others still fail at once; its success closes it. The pause is partly chance, so
 * that many instances do not return in the same moment.
 */
export interface Breaker {
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  readonly open: boolean;
}

const about = {
  name: "quicklink_breaker_open",
  help: "1 while it is left alone because it fails too often: Redis for lookups (cache), Redis for limits, SQL for lookups.",
  labels: ["of"],
  merged: "max",
} as const;

const secondsBack = 10;
const failuresMost = 5;
const pauseFirstMs = 1_000;
const pauseMostMs = 30_000;

export interface BreakerSettings {
  /** What it stands before, in the metric. */
  readonly of: string;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Of the calls, from 0 to 1. */
  readonly share: number;
  readonly onChange: (open: boolean) => void;
}

export function createBreaker({ of, metrics, clock, share, onChange }: BreakerSettings): Breaker {
  let triesAt = 0;
  const policy = circuitBreaker(handleAll, {
    breaker: failureShare(clock, share),
    // The library measures its pause by the wall clock, and one that is set back would keep it open as long. Ours is
    // measured here, and its own is always over.
    halfOpenAfter: new DelegateBackoff(({ attempt }: { attempt: number }) => {
      triesAt = clock.elapsed() + pauseMs(attempt);
      return Number.NEGATIVE_INFINITY;
    }),
  });
  let open = false;
  const tell = (now: boolean) => {
    if (now === open) return;
    open = now;
    onChange(open);
  };
  metrics.series("gauge", about, () => [[{ of }, Number(open)]]);
  policy.onBreak(() => tell(true));
  policy.onReset(() => tell(false));
  return {
    async run(work) {
      // The library would let all others wait for the one that tries.
      if (policy.state === CircuitState.HalfOpen) throw new BrokenCircuitError();
      if (policy.state === CircuitState.Open && clock.elapsed() < triesAt) throw new BrokenCircuitError();
      return await policy.execute(work);
    },
    get open() {
      return open;
    },
  };
}

function pauseMs(attempt: number): number {
  const longest = Math.min(pauseMostMs, pauseFirstMs * 2 ** Math.min(Math.max(0, attempt - 1), 10));
  return longest * (0.8 + Math.random() * 0.4);
}

/** Answers and failures of the last ten seconds, by the second. */
function failureShare(clock: Clock, share: number): IBreaker {
  let seconds: { at: number; answered: number; failed: number }[] = [];

  function current() {
    const at = Math.floor(clock.elapsed() / 1_000);
    seconds = seconds.filter((one) => one.at > at - secondsBack);
    const last = seconds.at(-1);
    if (last?.at === at) return last;
    const fresh = { at, answered: 0, failed: 0 };
    seconds.push(fresh);
    return fresh;
  }

  return {
    state: undefined,
    success(state) {
      if (state === CircuitState.HalfOpen) seconds = [];
      else current().answered++;
    },
    failure(state) {
      if (state !== CircuitState.Closed) return true;
      current().failed++;
      const failed = seconds.reduce((sum, one) => sum + one.failed, 0);
      const all = seconds.reduce((sum, one) => sum + one.failed + one.answered, 0);
      return failed > failuresMost && failed >= all * share;
    },
  };
}
