import { setImmediate as othersTurn } from "node:timers/promises";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";

/**
 * Reads the change feed for as long as the process lives, and tells the caches. It polls every 500 ms, and at once when
 * woken. An error is logged when it starts and when it ends; meanwhile the caches notice by themselves that they have
 * not been told anything.
 */
export interface Followed<Position> {
  readonly end: () => Promise<Position>;
  /** Changes after `cursor`; `settled` is how far a follower may advance for good. */
  readonly after: (cursor: Position, limit: number) => Promise<FollowedPage<Position>>;
}

export interface FollowedPage<Position> {
  readonly changes: readonly Told[];
  readonly next: Position;
  readonly settled: Position | undefined;
  /** How many of the changes are settled. */
  readonly settledCount: number;
}

export interface Announced {
  readonly domain: string;
  readonly code: string;
  readonly version: number;
}

export interface Told extends Announced {
  /** Commit time, by the writer's clock. */
  readonly at: number;
}

/** One read of the feed to its end. */
export interface Round<Position> {
  readonly began: number;
  readonly ended: number;
  /** Up to here, no change can be missing any more. */
  readonly position: Position;
  /** Changes read beyond that; they will be read again. */
  readonly unsettled: readonly Announced[];
}

export interface Follower {
  /** Something has changed: do not wait for the next poll. */
  wake(): void;
  stop(): Promise<void>;
}

export interface FollowSettings<Position> {
  readonly feed: Followed<Position>;
  readonly announce: (change: Told) => void;
  /** Everything committed before this moment (`clock.elapsed()`) has been announced. */
  readonly followed: (elapsed: number) => void;
  /** For others that must keep up with the feed. Does not throw. */
  readonly correct?: (round: Round<Position>) => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

const pollMs = 500;

const batch = 1_000;

/**
 * How many changes are announced before visitors get a turn: about 3 µs each, so a millisecond. An import announces
 * thousands between two polls, and reading SQLite never yields the thread by itself: announced in one go, 5,000 changes
 * delayed every visitor by 13 to 50 ms, twice a second. Pages are larger than this, because on PostgreSQL each is a
 * round trip.
 */
const toldAtOnce = 250;

export async function follow<Position extends object>(settings: FollowSettings<Position>): Promise<Follower> {
  const { feed, announce, followed, correct, clock, log } = settings;
  const started = clock.elapsed();
  let position: Position = await feed.end();
  let failing = false;
  let running: Promise<void> | undefined;
  let again = false;
  followed(started);

  async function toTheEnd(began: number): Promise<Round<Position>> {
    const unsettled: Announced[] = [];
    // A row behind an unsettled one may settle after we passed it, so only the settled prefix counts.
    let settledSoFar = true;
    for (let cursor = position; ; ) {
      const page = await feed.after(cursor, batch);
      for (let told = 0; told < page.changes.length; told += toldAtOnce) {
        if (told > 0) await othersTurn();
        page.changes.slice(told, told + toldAtOnce).forEach(announce);
      }
      cursor = page.next;
      unsettled.push(...page.changes.slice(settledSoFar ? page.settledCount : 0));
      if (settledSoFar) position = page.settled ?? position;
      settledSoFar &&= same(page.settled, page.next);
      if (page.changes.length < batch) return { began, ended: clock.elapsed(), position, unsettled };
      await othersTurn();
    }
  }

  async function read(): Promise<void> {
    try {
      const round = await toTheEnd(clock.elapsed());
      followed(round.began);
      if (failing) log.info("following the change feed again");
      failing = false;
      await correct?.(round);
    } catch (error) {
      if (!failing) log.warn({ error }, "cannot follow the change feed; trusting links in memory for 1 s only");
      failing = true;
    }
  }

  /** One read at a time: a slow read must not pile up. A wake-up during a read is remembered. */
  function wake(): void {
    if (running !== undefined) {
      again = true;
      return;
    }
    running = read().finally(() => {
      running = undefined;
      if (again) {
        again = false;
        wake();
      }
    });
  }

  const timer = setInterval(() => {
    if (running === undefined) wake();
  }, pollMs);

  return {
    wake,
    async stop() {
      clearInterval(timer);
      again = false;
      await running;
    },
  };
}

const same = (a: object | undefined, b: object): boolean => JSON.stringify(a) === JSON.stringify(b);
