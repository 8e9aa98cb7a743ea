import type { Clock } from "./clock.ts";

/**
 * Timers that may go off early, and do so together with another one.
 *
 * Waking a thread that has slept costs more than most of what it then does: its code and data have left the caches of the
 * core, and memory that it frees wakes another thread, which returns it. A process that does nothing else woke up sixteen times a second
 * for eight timers and their answers. So whenever one of these timers goes off, all others of the same clock do that may.
 *
 * None is late for it. If they may be early by less than the shortest interval, those whose intervals are multiples of it soon go off with
 * it, each as often as before.
 */
export function sharedAfter(
  clock: Pick<Clock, "after" | "elapsed">,
  ms: number,
  earlyMs: number,
  work: () => void,
): () => void {
  const waiting = timers.get(clock) ?? new Set<Timer>();
  timers.set(clock, waiting);
  const goOff = () => {
    const now = clock.elapsed();
    for (const timer of [...waiting]) {
      // What one of them does may stop another one.
      if (timer.earliest <= now && waiting.has(timer)) timer.goOff();
    }
  };
  const disarm = clock.after(ms, () => {
    own.goOff();
    goOff();
  });
  const stop = () => {
    waiting.delete(own);
    disarm();
  };
  const own: Timer = {
    earliest: clock.elapsed() + ms - earlyMs,
    goOff() {
      stop();
      work();
    },
  };
  waiting.add(own);
  return stop;
}

interface Timer {
  /** By `clock.elapsed()`. */
  readonly earliest: number;
  goOff(): void;
}

const timers = new WeakMap<object, Set<Timer>>();
