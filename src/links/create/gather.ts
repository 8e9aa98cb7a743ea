import { Problem } from "../../base/errors.ts";

/**
 * Gathers writes that arrive while another one of their group is running, and runs them together afterwards. A commit
 * costs more than the rows in it; and on PostgreSQL writes that count on the same row would wait for each other there
 * instead, each holding a connection: one after the other they created less than half as many links per second.
 *
 * On PostgreSQL the first write starts at once, and others gather during its round trips. On SQLite a transaction blocks
 * this thread from its first statement to its commit, so nothing can arrive meanwhile: requests wait in their sockets.
 * There a run starts with the next turn of the event loop, when all of these have been read.
 *
 * A write that fails is repeated for each of its requests alone, unless the database itself is unavailable: a request
 * that cannot be written fails alone.
 */
export type Gather<Request, Result> = (request: Request) => Promise<Result>;

export interface GatherSettings<Request, Result> {
  /** Requests with the same key share a run. */
  readonly keyOf: (request: Request) => string;
  readonly sizeOf: (request: Request) => number;
  /** One result for each, in their order. */
  readonly run: (requests: readonly Request[]) => Promise<readonly Result[]>;
  /** The size of one run, unless a single request has more. */
  readonly most: number;
  /** Awaited before each run. */
  readonly turn?: () => Promise<unknown>;
  /** Whether a failed run says nothing about the single requests in it. */
  readonly failsForAll: (error: unknown) => boolean;
}

interface Waiting<Request, Result> {
  readonly request: Request;
  readonly answered: PromiseWithResolvers<Result>;
}

const waitingMost = 1_000;

export function createGather<Request, Result>(settings: GatherSettings<Request, Result>): Gather<Request, Result> {
  const { keyOf, sizeOf, run, most, turn, failsForAll } = settings;
  /** A group is in this map while it runs. */
  const queues = new Map<string, Waiting<Request, Result>[]>();

  async function runAll(batch: readonly Waiting<Request, Result>[]): Promise<void> {
    try {
      const results = await run(batch.map(({ request }) => request));
      for (const [place, { answered }] of batch.entries()) answered.resolve(results[place] as Result);
    } catch (error) {
      if (batch.length === 1 || failsForAll(error)) {
        for (const { answered } of batch) answered.reject(error);
      } else {
        for (const one of batch) await runAll([one]);
      }
    }
  }

  async function work(key: string, queue: Waiting<Request, Result>[]): Promise<void> {
    while (queue.length > 0) {
      if (turn !== undefined) await turn();
      await runAll(queue.splice(0, fitting(queue)));
    }
    queues.delete(key);
  }

  /** How many from the front go into one run: at least one. */
  function fitting(queue: readonly Waiting<Request, Result>[]): number {
    let size = 0;
    const tooMany = queue.findIndex(({ request }) => {
      size += sizeOf(request);
      return size > most;
    });
    return tooMany === -1 ? queue.length : Math.max(1, tooMany);
  }

  return (request) => {
    const answered = Promise.withResolvers<Result>();
    const key = keyOf(request);
    const queue = queues.get(key);
    if (queue === undefined) {
      const started = [{ request, answered }];
      queues.set(key, started);
      void work(key, started);
    } else if (queue.length < waitingMost) {
      queue.push({ request, answered });
    } else {
      answered.reject(new Problem("busy", "Too many writes are waiting. Try again shortly.", { retryAfterSeconds: 1 }));
    }
    return answered.promise;
  };
}
