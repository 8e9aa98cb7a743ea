/**
 * Calls of the same turn of the event loop share one piece of work, up to a number of them: what costs most is the
 * statement or command, not what it is about. `work` returns the results in the order of its items; an error among them
 * is that of one item, and what fails for all is thrown.
 */
export function gatherPerTurn<Item, Result>(
  most: number,
  work: (items: readonly Item[]) => Promise<readonly (Result | Error)[]>,
  nextTurn: (start: () => void) => void = setImmediate,
): (item: Item) => Promise<Result> {
  interface Waiting {
    readonly item: Item;
    readonly answered: PromiseWithResolvers<Result>;
  }
  let waiting: Waiting[] = [];

  function start(): void {
    const all = waiting;
    waiting = [];
    for (let at = 0; at < all.length; at += most) void answer(all.slice(at, at + most));
  }

  async function answer(some: readonly Waiting[]): Promise<void> {
    let results: readonly (Result | Error)[] = [];
    let failure: unknown = new Error("fewer results than items");
    try {
      results = await work(some.map(({ item }) => item));
    } catch (error) {
      failure = error;
    }
    for (const [place, { answered }] of some.entries()) {
      const result = results[place];
      if (result === undefined) answered.reject(failure);
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
