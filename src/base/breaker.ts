import { BrokenCircuitError, CircuitState, circuitBreaker, DelegateBackoff, handleAll, type IBreaker } from "cockatiel";
import type { Clock } from "./clock.ts";
import type { Metrics } from "./metrics.ts";

/**
 * Keeps callers from waiting for what does not answer. More than so many failures within its window, if they are so
 * large a share of the calls, open it: calls then fail at once. After a second, and twice as long each further time up
 * to the longest pause, one call may try, while the others still fail at once; its success closes it. The pause is partly
 * chance, so that many instances do not return in the same moment.
 */
export interface Breaker {
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  readonly open: boolean;
}

/** When it opens, and for how long. */
export interface BreakerRule {
  /** More than so many open it. */
  readonly failures: number;
  readonly windowMs: number;
  /** Of the calls in the window, from 0 to 1. */
  readonly share: number;
  readonly pauseMostMs: number;
}

export interface BreakerSettings {
  readonly rule: BreakerRule;
  readonly clock: Clock;
  readonly onChange: (open: boolean) => void;
}

const pauseFirstMs = 1_000;

export function createBreaker({ rule, clock, onChange }: BreakerSettings): Breaker {
  let triesAt = 0;
  const policy = circuitBreaker(handleAll, {
    breaker: failureShare(clock, rule),
    // The library measures its pause by the wall clock, and one that is set back would keep it open as long. Ours is
    // measured here, and its own is always over.
    halfOpenAfter: new DelegateBackoff(({ attempt }: { attempt: number }) => {
      triesAt = clock.elapsed() + pauseMs(attempt, rule.pauseMostMs);
      return Number.NEGATIVE_INFINITY;
    }),
  });
  let open = false;
  const tell = (now: boolean) => {
    if (now === open) return;
    open = now;
    onChange(open);
  };
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

/** One for each node of a store, so that one that is dead closes none of the others. */
export interface Breakers {
  of(node: string): Breaker;
}

export interface BreakersSettings extends Omit<BreakerSettings, "onChange"> {
  /** What they stand before, in the metric: 1 while any of them is open. */
  readonly of: string;
  /** Those there are now. One that has left takes its breaker along. */
  readonly nodes: () => readonly string[];
  readonly metrics: Metrics;
  readonly onChange: (open: boolean, node: string) => void;
}

const about = {
  name: "quicklink_breaker_open",
  help: "1 while the circuit breaker is open because the dependency, or a node of it, fails too often or is too slow: Redis for lookups (cache), Redis for limits, Redis for visitors who wait for a limit (limits_visitors), SQL for lookups.",
  labels: ["of"],
  merged: "max",
} as const;

export function createBreakers({ of, nodes, metrics, onChange, ...settings }: BreakersSettings): Breakers {
  const breakers = new Map<string, Breaker>();

  function forgetGone(): void {
    const there = new Set(nodes());
    // While nobody knows who is there, those that were may still be.
    if (there.size > 0) for (const node of breakers.keys()) if (!there.has(node)) breakers.delete(node);
  }

  metrics.series("gauge", about, () => {
    forgetGone();
    return [[{ of }, Number([...breakers.values()].some(({ open }) => open))]];
  });
  return {
    of(node) {
      const found = breakers.get(node);
      if (found !== undefined) return found;
      forgetGone();
      const made = createBreaker({ ...settings, onChange: (open) => onChange(open, node) });
      breakers.set(node, made);
      return made;
    },
  };
}

function pauseMs(attempt: number, mostMs: number): number {
  const longest = Math.min(mostMs, pauseFirstMs * 2 ** Math.min(Math.max(0, attempt - 1), 10));
  return longest * (0.8 + Math.random() * 0.4);
}

/** Answers and failures of the window, by the second. */
function failureShare(clock: Clock, { failures: failuresMost, windowMs, share }: BreakerRule): IBreaker {
  let seconds: { at: number; answered: number; failed: number }[] = [];
  const secondsBack = windowMs / 1_000;

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
