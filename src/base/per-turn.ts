/**
 * Calls of the same turn of the event loop share one piece of work, up to a number of them: what costs most is the
 * statement or command, not what it is about. `work` returns the results in the order of its items; an error among them
 * is that of one item, and what fails for all is thrown.
 */
export interface PerTurnOptions<Item> {
  /** Only items with the same value share: those of one node must not wait for another one, nor fail with it. */
  readonly groupOf?: (item: Item) => unknown;
  readonly nextTurn?: (start: () => void) => void;
}

export function gatherPerTurn<Item, Result>(
  most: number,
  work: (items: readonly Item[]) => Promise<readonly (Result | Error)[]>,
  { groupOf, nextTurn = setImmediate }: PerTurnOptions<Item> = {},
): (item: Item) => Promise<Result> {
  interface Waiting {
    readonly item: Item;
    readonly answered: PromiseWithResolvers<Result>;
  }
  let waiting: Waiting[] = [];

  function start(): void {
    const all = waiting;
    waiting = [];
    const groups = groupOf === undefined ? [all] : Map.groupBy(all, ({ item }) => groupOf(item)).values();
    for (const some of groups) {
      for (let at = 0; at < some.length; at += most) void answer(some.slice(at, at + most));
    }
  }

  async function answer(some: readonly Waiting[]): Promise<void> {
    let results: readonly (Result | Error)[] = [];
    let failure: unknown;
    try {
      results = await work(some.map(({ item }) => item));
    } catch (error) {
      failure = error;
    }
    for (const [place, { answered }] of some.entries()) {
      const result = results[place];
      if (result === undefined) answered.reject(failure ?? new Error("fewer results than items"));
      else if (result instanceof Error) answered.reject(result);
      else answered.resolve(result);
    }
  }

  return (item) => {
    const answered = Promise.withResolvers<Result>();
    if (waiting.push({ item, answered }) === 1) nextTurn(start);
    return answered.promise;
  };
}
