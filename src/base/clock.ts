import { type Attention, createAttention } from "./attention.ts";
import { threadBusyMs } from "./busy-time.ts";

/**
 * Time is passed in, so that tests can move it and never sleep. This is the only file that reads the machine's clock.
 */
export interface Clock {
  /** Milliseconds since 1970, UTC. May jump when the machine's clock is set: never use it to measure a duration. */
  now(): number;
  /** Milliseconds that never decrease, for durations and deadlines. */
  elapsed(): number;
  /**
   * By what a wait of so many milliseconds is judged: the same, and for a short one without the time in which this thread was
   * too busy to notice an answer (`attention.ts`).
   */
  attended(waitMs: number): number;
  /** Calls `work` once a wait is over, unless the returned function is called before. A short one is over by `attended`. */
  afterWait(ms: number, work: () => void): () => void;
  /** Calls `work` once, so many milliseconds from now, unless the returned function is called before. */
  after(ms: number, work: () => void): () => void;
}

const machineTime = {
  elapsed: () => performance.now(),
  after(ms: number, work: () => void) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

/** Of this thread. */
const attention: Attention = createAttention({ ...machineTime, worked: threadBusyMs });
/** Longer ones do not need to be exact, and are not looked at every few milliseconds. */
const shortMostMs = 1_000;

export const systemClock: Clock = {
  now: () => Date.now(),
  ...machineTime,
  attended: (waitMs) => (waitMs > shortMostMs ? machineTime.elapsed() : attention.passed()),
  afterWait: (ms, work) => (ms > shortMostMs ? machineTime : attention).after(ms, work),
};

export interface ManualClock extends Clock {
  /**
   * Calls timers that become due on the way, in order. Timers that these set count if they are set before the call
   * returns.
   */
  advance(ms: number): void;
  set(now: number): void;
}

export function manualClock(start: number): ManualClock {
  let now = start;
  let elapsed = 0;
  const timers = new Set<{ readonly at: number; readonly work: () => void }>();
  function pass(ms: number): void {
    now += ms;
    elapsed += ms;
  }
  return {
    now: () => now,
    elapsed: () => elapsed,
    attended: () => elapsed,
    afterWait: systemClock.afterWait,
    after(ms, work) {
      const timer = { at: elapsed + Math.max(0, ms), work };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance(ms) {
      const end = elapsed + ms;
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers.delete(next);
        pass(next.at - elapsed);
        next.work();
      }
      pass(end - elapsed);
    },
    set(time) {
      now = time;
    },
  };
}

/** `2026-11-16T01:02:03.000Z`, the only time format we output. */
export const toIso = (ms: number): string => new Date(ms).toISOString();

export const fromIso = (time: string | Date): number => new Date(time).getTime();

export const dayMs = 86_400_000;
