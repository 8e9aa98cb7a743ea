import { setImmediate as othersTurn } from "node:timers/promises";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { repeat } from "../base/repeat.ts";
import type { Change, Feed, RecordedChange } from "./feed.ts";

/**
 * Reads the change feed for as long as the process lives, and tells the caches. It polls every 500 ms, and at once when
 * woken. An error is logged when it starts and when it ends; meanwhile the caches notice by themselves that they have
 * not been told anything.
 */
export interface Follower {
  /** Something has changed: do not wait for the next poll. */
  wake(): void;
  stop(): Promise<void>;
}

export interface FollowSettings<Position> {
  readonly feed: Pick<Feed<Position>, "end" | "after">;
  readonly announce: (change: RecordedChange) => void;
  /** Everything committed before this moment (`clock.elapsed()`) has been announced. */
  readonly followed: (elapsed: number) => void;
  /**
   * For others that must keep up with the feed. It runs beside the reading, one round at a time, so that what takes long there delays no
   * news; of the rounds that end meanwhile, it gets the last. Does not throw.
   */
  readonly correct?: (round: Round<Position>, signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** One read of the feed to its end. */
export interface Round<Position> {
  readonly began: number;
  readonly ended: number;
  /** Up to here, no change can be missing any more. */
  readonly position: Position;
  /** Changes read beyond that; they will be read again. */
  readonly notFinal: readonly Change[];
}

const pollMs = 500;
const deadlineMs = 60_000;
const stopMs = 5_000;

/**
 * Changes are read in short pages, because visitors wait while a page is read: a thousand rows took 2 to 4 ms on either
 * database. Where the round trip takes longer than that, pages are long: a follower that falls behind an import by more than a
 * second would send all visitors to the database.
 */
const [shortPage, longPage] = [250, 1_000] as const;
const farMs = 5;

/**
 * How many changes are announced before visitors get a turn: about 3 µs each, so a third of a millisecond. They also get one before each
 * change of many new links. Reading SQLite never yields the thread by itself: announced in one go, 5,000 links of an
 * import delayed every visitor by 13 to 50 ms, twice a second.
 */
const toldAtOnce = 100;

export async function follow<Position extends object>(settings: FollowSettings<Position>): Promise<Follower> {
  const { feed, announce, followed, correct, clock, log } = settings;
  const started = clock.elapsed();
  let position: Position = await feed.end();
  followed(started);

  async function toTheEnd(began: number): Promise<Round<Position>> {
    const notFinal: Change[] = [];
    // A row behind one that is not final may become final after we passed it, so only the final prefix counts.
    let finalSoFar = true;
    let rows: number = shortPage;
    for (let cursor = position; ; ) {
      const asked = clock.elapsed();
      const page = await feed.after(cursor, rows);
      const isLast = page.changes.length < rows;
      if (clock.elapsed() - asked > farMs) rows = longPage;
      for (const [place, change] of page.changes.entries()) {
        if (place > 0 && (place % toldAtOnce === 0 || change.kind === "links")) await othersTurn();
        announce(change);
      }
      cursor = page.next;
      notFinal.push(...page.changes.slice(finalSoFar ? page.finalCount : 0));
      if (finalSoFar) position = page.finalUntil ?? position;
      finalSoFar &&= same(page.finalUntil, page.next);
      if (isLast) return { began, ended: clock.elapsed(), position, notFinal: notFinal };
      await othersTurn();
    }
  }

  const ending = new AbortController();
  const correcting = latestOf(async (round: Round<Position>) => correct?.(round, ending.signal));

  /** One read at a time: a slow read must not pile up. A wake-up during a read is remembered. */
  const reading = repeat({
    name: "following the change feed",
    everyMs: pollMs,
    deadlineMs,
    stopMs,
    async work() {
      const round = await toTheEnd(clock.elapsed());
      followed(round.began);
      correcting.take(round);
    },
    texts: {
      fails: "cannot follow the change feed; trusting links in memory for 1 s only",
      worksAgain: "following the change feed again",
    },
    clock,
    log,
  });
  return {
    wake: reading.soon,
    async stop() {
      await reading.stop();
      ending.abort(new Error("the server is stopping"));
      const bound = Promise.withResolvers<void>();
      const unbound = clock.after(stopMs, bound.resolve);
      await Promise.race([correcting.ended(), bound.promise]);
      unbound();
    },
  };
}

/** Works on one item at a time. Of those that come meanwhile, only the last is kept. */
function latestOf<Item extends object>(work: (item: Item) => Promise<void>) {
  let next: Item | undefined;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    for (let item = next; item !== undefined; item = next) {
      next = undefined;
      await work(item);
    }
    running = undefined;
  }

  return {
    take(item: Item): void {
      next = item;
      running ??= run();
    },
    /** Of the item that is being worked on. The next one is dropped. */
    async ended(): Promise<void> {
      next = undefined;
      await running;
    },
  };
}

const same = (a: object | undefined, b: object): boolean => JSON.stringify(a) === JSON.stringify(b);
