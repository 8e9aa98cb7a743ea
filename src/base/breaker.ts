import { BrokenCircuitError, CircuitState, circuitBreaker, DelegateBackoff, handleAll, type IBreaker } from "cockatiel";
import type { Clock } from "./clock.ts";
import type { Metrics } from "./metrics.ts";

/**
 * A circuit breaker: keeps callers from waiting for a dependency that does not answer. It opens after more than
 * `failures` failures within the window, if they are also at least `share` of the calls; calls then fail at once. After
 * a second, doubling each time up to the longest pause, one trial call goes through while the others still fail; if it
 * succeeds, the breaker closes. The pause is partly random, so that many instances do not return at the same moment.
 */
export interface Breaker {
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  readonly open: boolean;
}

/** When the breaker opens, and for how long. */
export interface BreakerRule {
  /** It opens after more failures than this. */
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
    // The library measures its pause by the wall clock: a clock set back would keep the breaker open. We measure the
    // pause here, and the library's pause is always zero.
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
      // The library would make all other calls wait for the trial call.
      if (policy.state === CircuitState.HalfOpen) throw new BrokenCircuitError();
      if (policy.state === CircuitState.Open && clock.elapsed() < triesAt) throw new BrokenCircuitError();
      return await policy.execute(work);
    },
    get open() {
      return open;
    },
  };
}

/** One breaker per node of a store, so that a dead node does not block the others. */
export interface Breakers {
  of(node: string): Breaker;
}

export interface BreakersSettings extends Omit<BreakerSettings, "onChange"> {
  /** Label of the metric, which is 1 while any of these breakers is open. */
  readonly of: string;
  /** The current nodes. The breaker of a node that left is dropped. */
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
    // While the nodes are unknown, the previous ones may still exist.
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

/** Calls and failures within the window, per second. */
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
