/**
 * Time is passed in, so that tests can move it and never sleep. This is the only file that reads the machine's clock.
 */
export interface Clock {
  /** Milliseconds since 1970, UTC. May jump when the machine's clock is set: never use it to measure a duration. */
  now(): number;
  /** Milliseconds that never decrease, for durations and deadlines. */
  elapsed(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
};

export interface ManualClock extends Clock {
  advance(ms: number): void;
  set(now: number): void;
}

export function manualClock(start: number): ManualClock {
  let now = start;
  let elapsed = 0;
  return {
    now: () => now,
    elapsed: () => elapsed,
    advance(ms) {
      now += ms;
      elapsed += ms;
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
