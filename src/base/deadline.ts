import { type Clock, systemClock } from "./clock.ts";

export class Late extends Error {
  override readonly name = "Late";
}

/**
 * The result of the work, or an error once `ms` have passed. The work is not cancelled: give it a timeout too. A short
 * deadline does not count the time in which this thread was too busy to notice the result.
 */
export function withDeadline<Result>(
  work: Promise<Result>,
  ms: number,
  what: string,
  clock: Pick<Clock, "afterWait"> = systemClock,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stop = clock.afterWait(ms, () => reject(new Late(`${what} did not answer within ${ms} ms`)));
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
