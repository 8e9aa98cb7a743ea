import { Problem } from "../../base/errors.ts";

/**
 * Gathers writes of one group that arrive while another is running, and runs them together afterwards. A commit costs
 * more than the rows in it; and on PostgreSQL writes that count on the same row would wait for each other there
 * instead, each holding a connection: one after the other they created less than half as many links per second.
 *
 * The first write starts at once: nothing waits for company. A write that fails fails for all that were in it.
 */
export type Gather<Group, One, Result> = (group: Group, some: readonly One[]) => Promise<Result[]>;

export interface GatherSettings<Group, One, Result> {
  readonly keyOf: (group: Group) => string;
  /** Results in the order of the input. */
  readonly run: (group: Group, all: readonly One[]) => Promise<readonly Result[]>;
  /** In one run, unless a single caller brings more. */
  readonly most: number;
}

interface Waiting<One, Result> {
  readonly some: readonly One[];
  readonly answered: PromiseWithResolvers<Result[]>;
}

const waitingMost = 1_000;

export function createGather<Group, One, Result>(
  settings: GatherSettings<Group, One, Result>,
): Gather<Group, One, Result> {
  const { keyOf, run, most } = settings;
  /** A group is in this map while it runs. */
  const queues = new Map<string, Waiting<One, Result>[]>();

  async function work(group: Group, queue: Waiting<One, Result>[]): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0, fitting(queue, most));
      try {
        const results = await run(
          group,
          batch.flatMap(({ some }) => some),
        );
        let place = 0;
        for (const { some, answered } of batch) {
          answered.resolve(results.slice(place, place + some.length));
          place += some.length;
        }
      } catch (error) {
        for (const { answered } of batch) answered.reject(error);
      }
    }
    queues.delete(keyOf(group));
  }

  return (group, some) => {
    const answered = Promise.withResolvers<Result[]>();
    const queue = queues.get(keyOf(group));
    if (queue === undefined) {
      const started = [{ some, answered }];
      queues.set(keyOf(group), started);
      void work(group, started);
    } else if (queue.length < waitingMost) {
      queue.push({ some, answered });
    } else {
      answered.reject(new Problem("busy", "Too many writes are waiting. Try again shortly.", { retryAfterSeconds: 1 }));
    }
    return answered.promise;
  };
}

/** How many from the front go into one run: at least one. */
function fitting(queue: readonly { readonly some: readonly unknown[] }[], most: number): number {
  let size = 0;
  const tooMany = queue.findIndex(({ some }) => {
    size += some.length;
    return size > most;
  });
  return tooMany === -1 ? queue.length : Math.max(1, tooMany);
}
