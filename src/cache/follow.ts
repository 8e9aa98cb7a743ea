import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";

/**
 * Reads the change feed for as long as the process lives, and tells the caches. It looks every 500 ms; an error is
 * logged when it begins and when it ends, and meanwhile the caches notice by themselves that nobody has told them
 * anything.
 */
export interface Followed<Position> {
  readonly end: () => Promise<Position>;
  /** What is there behind `cursor`; `settled` is as far as a follower may move on for good. */
  readonly after: (
    cursor: Position,
    limit: number,
  ) => Promise<{ changes: readonly Announced[]; next: Position; settled: Position | undefined }>;
}

export interface Announced {
  readonly domain: string;
  readonly code: string;
  readonly version: number;
}

export interface Follower {
  stop(): Promise<void>;
}

const pollMs = 500;
const batch = 1_000;

export async function follow<Position extends object>(
  feed: Followed<Position>,
  announce: (change: Announced) => void,
  /** Everything committed before this moment has been announced. */
  followed: (elapsed: number) => void,
  clock: Clock,
  log: Logger,
): Promise<Follower> {
  const started = clock.elapsed();
  let position: Position = await feed.end();
  let failing = false;
  let busy = false;
  let running: Promise<void> = Promise.resolve();
  followed(started);

  async function read(): Promise<void> {
    try {
      const began = clock.elapsed();
      // What settles behind an unsettled row may do so after we passed it: only what is settled from the start on counts.
      let settledSoFar = true;
      for (let cursor = position; ; ) {
        const page = await feed.after(cursor, batch);
        page.changes.forEach(announce);
        cursor = page.next;
        if (settledSoFar) position = page.settled ?? position;
        settledSoFar &&= same(page.settled, page.next);
        if (page.changes.length < batch) break;
      }
      followed(began);
      if (failing) log.info("following changes again");
      failing = false;
    } catch (error) {
      if (!failing) log.warn({ error }, "cannot follow changes; links in memory are trusted for 1 s only");
      failing = true;
    }
  }

  const timer = setInterval(() => {
    // A slow read must not pile up behind itself.
    if (busy) return;
    busy = true;
    running = read().finally(() => {
      busy = false;
    });
  }, pollMs);

  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

const same = (a: object | undefined, b: object): boolean => JSON.stringify(a) === JSON.stringify(b);
