/**
 * Time in which this thread could have noticed an answer, for short waits.
 *
 * A crowd of visitors keeps the thread busy. It finds their deadlines due while the answers that came meanwhile are unread, or
 * wait behind those of others: a fast store would be called late, and all of them would be refused. So waits are looked
 * at every 5 ms. A look that comes late counts as 10 ms, because between two looks everything that has arrived is read;
 * and time in which the thread worked, or waited for a core, does not count. A wait ends after ten times its length, whatever happens.
 */
export interface Attention {
  /** Milliseconds that have passed while something waited: only the difference between two moments of a wait means anything. */
  passed(): number;
  /** Calls `work` once, after so many of these milliseconds, unless the returned function is called before. */
  after(ms: number, work: () => void): () => void;
}

export interface AttentionClock {
  elapsed(): number;
  /** Milliseconds in which this thread ran or waited for a core. */
  worked(): number;
  after(ms: number, work: () => void): () => void;
}

const lookMs = 5;
const countedMostMs = 2 * lookMs;
/** A wait ends after so many times its length. */
export const longestTimes = 10;

interface Wait {
  readonly due: number;
  /** By `clock.elapsed()`. */
  readonly atLatest: number;
  readonly work: () => void;
}

export function createAttention(clock: AttentionClock): Attention {
  const waits = new Set<Wait>();
  let passed = 0;
  /** The last look, or what was read instead when the first wait of several began. */
  let last: { readonly at: number; readonly worked: number } | undefined;
  /** Set while a look is due. */
  let noLook: (() => void) | undefined;

  const lookIn = (ms: number): void => {
    noLook = clock.after(ms, look);
  };

  function look(): void {
    noLook = undefined;
    const [at, worked] = [clock.elapsed(), clock.worked()];
    const since = at - (last?.at ?? at);
    const idle = since - (worked - (last?.worked ?? worked));
    passed += Math.min(Math.max(0, idle), countedMostMs);
    last = { at, worked };
    for (const wait of waits) {
      if (wait.due > passed && wait.atLatest > at) continue;
      waits.delete(wait);
      wait.work();
    }
    if (waits.size > 0 && noLook === undefined) lookIn(lookMs);
  }

  return {
    passed: () => passed,
    after(ms, work) {
      const now = clock.elapsed();
      // Once per look, however many waits begin and end in between.
      if (noLook === undefined && (last === undefined || now - last.at >= lookMs))
        last = { at: now, worked: clock.worked() };
      const sinceMs = now - (last?.at ?? now);
      // The next look counts from the one before, which was not part of this wait.
      const wait = { due: passed + Math.min(sinceMs, countedMostMs) + ms, atLatest: now + longestTimes * ms, work };
      if (noLook === undefined) lookIn(lookMs - sinceMs);
      waits.add(wait);
      return () => {
        // An idle thread would wake up once more for each question to Redis.
        if (!waits.delete(wait) || waits.size > 0) return;
        noLook?.();
        noLook = undefined;
      };
    },
  };
}
