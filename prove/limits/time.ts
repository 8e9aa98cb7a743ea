/**
 * Simulated time. During a run every timer of the process, `Date.now` and `Math.random` are ours: the code under test
 * sets its timers as always, and they fire in the order of their times, with nothing in between. After each event all
 * promises that can settle do, so one event ends before the next.
 *
 * An event belongs to an owner, an instance. Whatever is scheduled during one of its events also belongs to it: it is
 * dropped when the owner crashes, and waits while the owner is paused.
 */
import type { Dice } from "./dice.ts";

export interface Owner {
  alive: boolean;
  /** In true time; none of its events run before. */
  pausedUntil: number;
  /** What its machine takes for the time. */
  wall(): number;
}

export interface VirtualTime {
  /** True time, in milliseconds since 1970. */
  readonly now: number;
  readonly events: number;
  /** What `run` promises is waited for before the next event, so it must not wait for time. */
  after(ms: number, run: () => unknown, owner?: Owner): void;
  /** Runs events until this time. */
  until(time: number): Promise<void>;
  /** Gives the process its timers back. */
  end(): void;
}

interface Event {
  at: number;
  readonly order: number;
  readonly owner: Owner | undefined;
  readonly run: () => unknown;
  cancelled: boolean;
  /** As for a real timer: it does not keep the process alive. */
  unref(): void;
}

const unref = () => {};

const realImmediate = setImmediate;
/** Everything that can continue without time passing has continued by now: promises settle before the next task. */
const settled = () => new Promise<void>((resolve) => realImmediate(resolve));

export function startVirtualTime(startsAt: number, dice: Dice): VirtualTime {
  const queue = createQueue();
  let now = startsAt;
  let order = 0;
  let events = 0;
  let current: Owner | undefined;

  function schedule(ms: number, run: () => unknown, owner: Owner | undefined): Event {
    const event = { at: now + Math.max(0, ms), order: ++order, owner, run, cancelled: false, unref };
    queue.push(event);
    return event;
  }

  function repeat(ms: number, run: () => unknown, owner: Owner | undefined): Event {
    const handle = { at: 0, order: 0, owner, run, cancelled: false, unref };
    const again = () => {
      if (handle.cancelled) return;
      run();
      schedule(ms, again, owner);
    };
    schedule(ms, again, owner);
    return handle;
  }

  const cancel = (event: unknown) => {
    if (typeof event === "object" && event !== null) (event as Event).cancelled = true;
  };
  const restore = replaceGlobals({
    setTimeout: (run: () => void, ms = 0) => schedule(ms, run, current),
    setInterval: (run: () => void, ms = 0) => repeat(ms, run, current),
    setImmediate: (run: () => void) => schedule(0, run, current),
    clearTimeout: cancel,
    clearInterval: cancel,
    clearImmediate: cancel,
    dateNow: () => current?.wall() ?? now,
    random: dice.next,
  });

  async function step(event: Event): Promise<void> {
    if (event.cancelled || event.owner?.alive === false) return;
    if (event.owner !== undefined && event.owner.pausedUntil > now) {
      event.at = event.owner.pausedUntil; // behind those that came before it, as its order says
      queue.push(event);
      return;
    }
    events++;
    current = event.owner;
    await event.run();
    await settled();
    current = undefined;
  }

  return {
    get now() {
      return now;
    },
    get events() {
      return events;
    },
    after(ms, run, owner) {
      schedule(ms, run, owner);
    },
    async until(time) {
      for (let next = queue.peek(); next !== undefined && next.at <= time; next = queue.peek()) {
        queue.pop();
        now = Math.max(now, next.at);
        await step(next);
      }
      now = Math.max(now, time);
    },
    end: restore,
  };
}

interface Replacements {
  readonly setTimeout: (run: () => void, ms?: number) => unknown;
  readonly setInterval: (run: () => void, ms?: number) => unknown;
  readonly setImmediate: (run: () => void) => unknown;
  readonly clearTimeout: (handle: unknown) => void;
  readonly clearInterval: (handle: unknown) => void;
  readonly clearImmediate: (handle: unknown) => void;
  readonly dateNow: () => number;
  readonly random: () => number;
}

function replaceGlobals({ dateNow, random, ...timers }: Replacements): () => void {
  const before = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate };
  const [now, chance] = [Date.now, Math.random];
  Object.assign(globalThis, timers);
  Date.now = dateNow;
  Math.random = random;
  return () => {
    Object.assign(globalThis, before);
    Date.now = now;
    Math.random = chance;
  };
}

/** A binary heap: the earliest first, and of the same time the one that was set first. */
function createQueue() {
  const heap: Event[] = [];
  const isBefore = (a: Event, b: Event) => a.at < b.at || (a.at === b.at && a.order < b.order);

  function sink(event: Event): void {
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      const [left, right] = [heap[child], heap[child + 1]];
      if (left === undefined) break;
      if (right !== undefined && isBefore(right, left)) child++;
      const least = heap[child];
      if (least === undefined || !isBefore(least, event)) break;
      heap[at] = least;
      at = child;
    }
    heap[at] = event;
  }

  return {
    peek: (): Event | undefined => heap[0],
    push(event: Event): void {
      let at = heap.length;
      while (at > 0) {
        const parent = (at - 1) >> 1;
        const above = heap[parent];
        if (above === undefined || !isBefore(event, above)) break;
        heap[at] = above;
        at = parent;
      }
      heap[at] = event;
    },
    pop(): void {
      const last = heap.pop();
      if (last !== undefined && heap.length > 0) sink(last);
    },
  };
}
