import type { Clock } from "../base/clock.ts";
import { Late } from "../base/deadline.ts";
import { beginWait, type Patience, type Store } from "../base/patience.ts";

/**
 * A lease on its way to a lane. It has more time than visitors have: one that comes too late for them serves the next
 * visitor. So it tells which store it waits for, and each visitor waits as long as their patience with that store
 * lasts.
 *
 * If there is another lender, a visitor without patience moves the work there instead of giving up.
 */
export interface Refill {
  /** Resolves when it has ended, successfully or not. */
  readonly over: Promise<void>;
  /** Rejects when no lease can be had, or with `Late` when this visitor has no time left. */
  wait(patience: Patience): Promise<void>;
}

/** A visitor has no time left for this lender, and there is another. */
export class Skipped extends Late {}

/** How the work reports, and is controlled. */
export interface RefillProgress {
  /** A visitor has waited from the start. */
  readonly urgent: boolean;
  /** Reports the store that is waited for now. */
  on(store: Store): void;
  /** The answer of `work`, or `Skipped` as soon as a visitor has no time left for it and there is another lender. */
  orSkip<Result>(work: Promise<Result>): Promise<Result>;
}

export function startRefill(clock: Clock, urgent: boolean, work: (progress: RefillProgress) => Promise<void>): Refill {
  let store: Store = "sql";
  let isOver = false;
  let skip: (() => void) | undefined;
  /** Who waits for the next thing to happen. */
  let waiting: (() => void)[] = [];

  function wake(): void {
    const all = waiting;
    waiting = [];
    for (const one of all) one();
  }

  /** Whether something happened before `ms` had passed: it is over, or waits for the other store. */
  const happens = (ms: number): Promise<boolean> =>
    new Promise((resolve) => {
      const stop = clock.afterWait(ms, () => resolve(false));
      waiting.push(() => {
        stop();
        resolve(true);
      });
    });

  const progress: RefillProgress = {
    urgent,
    on(next) {
      if (next === store) return;
      store = next;
      wake();
    },
    orSkip(work) {
      const skipped = Promise.withResolvers<never>();
      skip = () => skipped.reject(new Skipped("a visitor could not wait any longer"));
      return Promise.race([work, skipped.promise]).finally(() => {
        skip = undefined;
      });
    },
  };
  const done = work(progress).finally(() => {
    isOver = true;
    wake();
  });
  const over = done.catch(() => {}); // waiters get the error themselves

  return {
    over,
    async wait(patience) {
      while (!isOver) {
        const waitedFor = store;
        const waitMs = patience[waitedFor];
        const waited = beginWait(waitMs, clock);
        const inTime = await happens(waitMs);
        patience[waitedFor] = Math.max(0, waitMs - waited());
        if (inTime) continue;
        // The other lender is SQL: a visitor with no time for SQL has none for that either.
        if (skip === undefined || waitedFor === "sql") throw new Late("the lease did not come in time");
        const moved = new Promise<void>((resolve) => waiting.push(resolve));
        skip();
        await moved;
      }
      await done;
    },
  };
}
