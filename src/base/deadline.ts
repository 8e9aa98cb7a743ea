import { attention, systemClock } from "./clock.ts";

export class Late extends Error {
  override readonly name = "Late";
}

/** Longer ones do not need to be exact, and are not looked at every few milliseconds. */
const shortMostMs = 1_000;

/**
 * The result of the work, or an error once `ms` have passed. The work is not cancelled: give it a timeout too. A short
 * deadline does not count the time in which this thread was too busy to notice the result.
 */
export function withDeadline<Result>(work: Promise<Result>, ms: number, what: string): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stop = afterWait(ms, () => reject(new Late(`${what} did not answer within ${ms} ms`)));
    work.then(
      (result) => {
        stop();
        resolve(result);
      },
      (error: unknown) => {
        stop();
        reject(error);
      },
    );
  });
}

/** Calls `late` once a wait of this length is over, unless the returned function is called before. */
export const afterWait = (ms: number, late: () => void): (() => void) =>
  (ms > shortMostMs ? systemClock : attention).after(ms, late);
