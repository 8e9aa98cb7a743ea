/**
 * Decides who goes next where only a limited number can run at once. Pure: `shares.ts` adds time and promises.
 *
 * - **Total.** At most `atOnce` items run.
 * - **Share.** A holder may start another item only while it runs fewer items than there are free places. So a single
 *   holder gets half of the places, two get a third each, and a newcomer always finds a free place: a running item
 *   cannot be stopped, and an upload may run for an hour.
 * - **Turns.** A free place goes to the holder that has waited longest for a turn, not to the oldest item. A holder
 *   with nothing running is served before any other holder is served twice.
 * - **Queue.** At most `waitingMost` items wait. When the queue is full, the longest line loses its last item, so a
 *   flood pushes out itself.
 *
 * The share follows Choudhury and Hahne's dynamic thresholds; the queue follows McKenney's stochastic fair queueing. A
 * fixed share per holder was rejected: too large when many come, too small for one alone.
 */
export interface FairQueue<Item> {
  /** Starts the item, queues it, or refuses it or another one. */
  add(holder: string, item: Item): void;
  /** A running item of the holder has ended. */
  end(holder: string): void;
  /** Removes a waiting item. False if it was not waiting. */
  withdraw(holder: string, item: Item): boolean;
  readonly running: number;
  readonly waiting: number;
  /** Holders with running or waiting items. Others are forgotten. */
  readonly holders: number;
}

export interface FairQueueSettings<Item> {
  readonly atOnce: number;
  readonly waitingMost: number;
  readonly start: (item: Item) => void;
  readonly refuse: (item: Item) => void;
}

interface Line<Item> {
  running: number;
  readonly waiting: Item[];
}

export function createFairQueue<Item>(settings: FairQueueSettings<Item>): FairQueue<Item> {
  const { atOnce, waitingMost, start, refuse } = settings;
  const lines = new Map<string, Line<Item>>();
  /** Lines with waiting items; the first in the map is served next. */
  const turns = new Map<string, Line<Item>>();
  let running = 0;
  let waiting = 0;

  function serve(): void {
    for (let found = next(); found !== undefined; found = next()) {
      const [holder, line, item] = found;
      waiting--;
      running++;
      line.running++;
      turns.delete(holder);
      if (line.waiting.length > 0) turns.set(holder, line);
      start(item);
    }
  }

  function next(): [holder: string, line: Line<Item>, item: Item] | undefined {
    const free = atOnce - running;
    if (free <= 0) return undefined;
    for (const [holder, line] of turns) {
      if (line.running >= free) continue;
      const item = line.waiting.shift();
      if (item !== undefined) return [holder, line, item];
    }
    return undefined;
  }

  /** Drops the holder's own last item, unless another line is longer. */
  function pushOut(holder: string, own: Line<Item>): void {
    let [loser, longest] = [holder, own];
    for (const [other, line] of turns) {
      if (line.waiting.length > longest.waiting.length) [loser, longest] = [other, line];
    }
    const item = longest.waiting.pop();
    if (item === undefined) return;
    waiting--;
    tidy(loser, longest);
    refuse(item);
  }

  function tidy(holder: string, line: Line<Item>): void {
    if (line.waiting.length > 0) return;
    turns.delete(holder);
    if (line.running === 0) lines.delete(holder);
  }

  return {
    add(holder, item) {
      const line = lines.get(holder) ?? { running: 0, waiting: [] };
      lines.set(holder, line);
      line.waiting.push(item);
      if (!turns.has(holder)) turns.set(holder, line);
      waiting++;
      serve();
      if (waiting > waitingMost) pushOut(holder, line);
    },
    end(holder) {
      const line = lines.get(holder);
      if (line === undefined || line.running === 0) throw new Error("something ended that did not run");
      running--;
      line.running--;
      tidy(holder, line);
      serve();
    },
    withdraw(holder, item) {
      const line = lines.get(holder);
      const at = line?.waiting.indexOf(item) ?? -1;
      if (line === undefined || at === -1) return false;
      line.waiting.splice(at, 1);
      waiting--;
      tidy(holder, line);
      return true;
    },
    get running() {
      return running;
    },
    get waiting() {
      return waiting;
    },
    get holders() {
      return lines.size;
    },
  };
}
