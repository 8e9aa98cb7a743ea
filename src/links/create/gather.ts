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
 *
 * Those who wait in one group take turns, and each has its own share of the queue: one tenant with a thousand requests
 * neither delays another by more than a run, nor takes its place.
 */
export type Gather<Request, Result> = (request: Request) => Promise<Result>;

export interface GatherSettings<Request, Result> {
  /** Requests with the same key share a run. */
  readonly keyOf: (request: Request) => string;
  /** Whose it is. */
  readonly holderOf: (request: Request) => string;
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

/** By who waits, whose turn is next first. Nobody in it waits for nothing. */
type Queue<Request, Result> = Map<string, Waiting<Request, Result>[]>;

const waitingMost = 5_000;
const waitingOfHolderMost = 1_000;

export function createGather<Request, Result>(settings: GatherSettings<Request, Result>): Gather<Request, Result> {
  const { keyOf, holderOf, sizeOf, run, most, turn, failsForAll } = settings;
  /** A group is in this map while it runs. */
  const queues = new Map<string, Queue<Request, Result>>();
  let waiting = 0;

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

  async function work(key: string, queue: Queue<Request, Result>): Promise<void> {
    while (queue.size > 0) {
      if (turn !== undefined) await turn();
      await runAll(takeTurns(queue));
    }
    queues.delete(key);
  }

  /** Those of the next run: at least one. */
  function takeTurns(queue: Queue<Request, Result>): Waiting<Request, Result>[] {
    const taken: Waiting<Request, Result>[] = [];
    let size = 0;
    // Whoever still waits is put behind the others, where the loop comes to it again.
    for (const [holder, list] of queue) {
      const [first] = list;
      if (first === undefined) throw new Error("a queue of nobody");
      size += sizeOf(first.request);
      if (taken.length > 0 && size > most) break;
      taken.push(first);
      list.shift();
      queue.delete(holder);
      if (list.length > 0) queue.set(holder, list);
    }
    waiting -= taken.length;
    return taken;
  }

  return (request) => {
    const answered = Promise.withResolvers<Result>();
    const [key, holder] = [keyOf(request), holderOf(request)];
    const queue = queues.get(key);
    const own = queue?.get(holder);
    if (waiting >= waitingMost || (own !== undefined && own.length >= waitingOfHolderMost)) {
      answered.reject(new Problem("busy", "Too many writes are waiting. Try again shortly.", { retryAfterSeconds: 1 }));
      return answered.promise;
    }
    waiting++;
    if (own !== undefined) own.push({ request, answered });
    else queue?.set(holder, [{ request, answered }]);
    if (queue === undefined) {
      const started: Queue<Request, Result> = new Map([[holder, [{ request, answered }]]]);
      queues.set(key, started);
      void work(key, started);
    }
    return answered.promise;
  };
}
