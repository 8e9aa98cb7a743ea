import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../base/clock.ts";
import type { RedirectWait } from "../import-export/pace.ts";

/**
 * How late the event loop of the serving thread is. A redirect waits for as long as a timer is late, whether the thread
 * itself is busy or the machine has no core for it. It is measured only while something asks for it, in memory that both
 * threads share: the longest since the other thread has looked, in microseconds.
 */
export interface Lateness {
  readonly shared: Int32Array;
  /** Measures while the work runs. */
  during<Result>(work: () => Promise<Result>): Promise<Result>;
}

const sampleMs = 5;
const restMs = 50;

export function createLateness(clock: Pick<Clock, "elapsed" | "after">): Lateness {
  const shared = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

  function measure(): () => void {
    let stop = () => {};
    const next = () => {
      const dueMs = clock.elapsed() + sampleMs;
      stop = clock.after(sampleMs, () => {
        const late = Math.round((clock.elapsed() - dueMs) * 1_000);
        if (late > Atomics.load(shared, 0)) Atomics.store(shared, 0, late);
        next();
      });
    };
    next();
    return () => stop();
  }

  return {
    shared,
    async during(work) {
      const stop = measure();
      try {
        return await work();
      } finally {
        stop();
      }
    },
  };
}

/** On the other thread. */
export function waitBy(shared: Int32Array): RedirectWait {
  const nowMs = async () => Atomics.exchange(shared, 0, 0) / 1_000;
  return {
    async idleMs() {
      await nowMs();
      await sleep(restMs);
      return nowMs();
    },
    nowMs,
  };
}

/** Where no import runs. */
export const unmeasured: RedirectWait = { idleMs: async () => 0, nowMs: async () => 0 };
