import type { Clock } from "../base/clock.ts";
import type { Throttle } from "./throttle.ts";

/**
 * Keeps an import from slowing redirects down. After each batch it looks at how long redirects wait now. If that is more
 * than twice as long as without the import, it pauses, each time for twice as long as before; otherwise for half as
 * long. An import on a quiet machine runs at full speed, and on a busy one it gives way.
 *
 * How long they wait is measured by whoever starts the import: a server knows how late its event loop is, a command how
 * long a lookup takes.
 */
export interface RedirectWait {
  /** While the import rests. */
  idleMs(): Promise<number>;
  /** Since the last call. */
  nowMs(): Promise<number>;
}

/** Shorter waits are the noise of timers, and nothing that a visitor notices. */
const unnoticedMs = 1;
const idleTimes = 2;
const firstPauseMs = 5;
const pauseMostMs = 250;
/** The machine changes while an import runs. A rest of 20 ms after every 50 batches was a tenth of the time of an import on SQLite. */
const idleEveryMs = 2_000;
/** At least so many batches lie between two rests, even if each of them takes a second. */
const batchesBetween = 10;

export function createPace(
  redirects: RedirectWait,
  clock: Pick<Clock, "elapsed">,
  sleep: (ms: number) => Promise<unknown>,
): Throttle {
  let allowedMs = 0;
  let pauseMs = 0;
  let restedAtMs: number | undefined;
  let batches = 0;
  return async () => {
    const isDue = restedAtMs === undefined || clock.elapsed() - restedAtMs >= idleEveryMs;
    if (isDue && batches % batchesBetween === 0) {
      allowedMs = Math.max(unnoticedMs, idleTimes * (await redirects.idleMs()));
      restedAtMs = clock.elapsed();
      batches = 1;
      return;
    }
    batches++;
    const isSlow = (await redirects.nowMs()) > allowedMs;
    pauseMs = isSlow ? Math.min(pauseMostMs, Math.max(firstPauseMs, 2 * pauseMs)) : pauseMs / 2;
    if (pauseMs >= 1) await sleep(pauseMs);
    else pauseMs = 0;
  };
}
