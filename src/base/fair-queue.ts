/**
 * Who goes next at something that only so many can use at once. Pure: it knows neither time nor promises, which
 * `shares.ts` adds.
 *
 * - **Total.** At most `atOnce` items run.
 * - **Share.** A holder may run one more only while it runs fewer than there are free places. So a holder that is alone
 *   gets half of them, two get a third each, and a newcomer finds a free one: what runs cannot be taken back, and an
 *   upload may run for an hour.
 * - **Turns.** A place that becomes free goes to the holder that has waited longest for a turn, not to the oldest item.
 *   A holder that runs nothing is served before any other holder is served twice.
 * - **Queue.** At most `waitingMost` items wait. When it is full, the longest line loses its last item: a flood pushes
 *   out itself.
 *
 * The share follows Choudhury and Hahne's dynamic thresholds, the queue McKenney's stochastic fair queueing. A fixed
 * share per holder was left: it is too large when many come, and too small for one that is alone.
 */
export interface FairQueue<Item> {
  /** Starts it, lets it wait, or refuses it or another. */
  add(holder: string, item: Item): void;
  /** One of the holder's items that ran has ended. */
  end(holder: string): void;
  /** Takes out one that waits. False if it does not wait. */
  withdraw(holder: string, item: Item): boolean;
  readonly running: number;
  readonly waiting: number;
  /** That run something or wait. Nothing is kept of others. */
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
  /** Lines with items that wait; the first in the map is the next to be served. */
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

  /** Its own, unless another line is longer. */
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
