import { setImmediate as othersTurn } from "node:timers/promises";
import { systemClock } from "../base/clock.ts";

/**
 * Turns for other work of a thread. A statement on SQLite has ended when it is called, and what waits for it goes on at once: work that
 * is made of statements never comes back to the event loop by itself. A report that arrived while a busy day was condensed waited for
 * four seconds. So the driver lets others have their turn between statements, and no work can forget to.
 */
export interface Turns {
  isDue(): boolean;
  give(): Promise<void>;
}

/** Others wait for so long, or for one statement and what is made of its rows if that takes longer. */
const turnMs = 8;

export function createTurns(elapsed: () => number = systemClock.elapsed): Turns {
  let end = 0;
  return {
    isDue: () => elapsed() >= end,
    async give() {
      await othersTurn();
      end = elapsed() + turnMs;
    },
  };
}
