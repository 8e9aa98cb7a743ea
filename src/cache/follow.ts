import { setImmediate as othersTurn } from "node:timers/promises";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { repeat } from "../base/repeat.ts";

/**
 * Reads the change feed for as long as the process lives, and tells the caches. It looks every 500 ms, and at once when
 * it is woken; an error is logged when it begins and when it ends, and meanwhile the caches notice by themselves that
 * nobody has told them anything.
 */
export interface Followed<Position> {
  readonly end: () => Promise<Position>;
  /** What is there behind `cursor`; `settled` is as far as a follower may move on for good. */
  readonly after: (cursor: Position, limit: number) => Promise<FollowedPage<Position>>;
}

export interface FollowedPage<Position> {
  readonly changes: readonly Told[];
  readonly next: Position;
  readonly settled: Position | undefined;
  /** How many of the changes that is. */
  readonly settledCount: number;
}

export interface Announced {
  readonly domain: string;
  readonly code: string;
  readonly version: number;
}

export interface Told extends Announced {
  /** When it was made, by the clock of whoever made it. */
  readonly at: number;
}

/** One reading of the feed to its end. */
export interface Round<Position> {
  readonly began: number;
  readonly ended: number;
  /** Up to here nothing can be missing any more. */
  readonly position: Position;
  /** What was read beyond that: it will be read again. */
  readonly unsettled: readonly Announced[];
}

export interface Follower {
  /** Something has changed: do not wait for the next time. */
  wake(): void;
  stop(): Promise<void>;
}

export interface FollowSettings<Position> {
  readonly feed: Followed<Position>;
  readonly announce: (change: Told) => void;
  /** Everything committed before this moment (`clock.elapsed()`) has been announced. */
  readonly followed: (elapsed: number) => void;
  /** For what else has to keep up with the feed. Does not throw. */
  readonly correct?: (round: Round<Position>) => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

const pollMs = 500;
const deadlineMs = 60_000;
const stopMs = 5_000;

const batch = 1_000;

/**
 * How many changes are told before visitors have their turn: some 3 µs each, so a millisecond. An import announces
 * thousands between two looks, and reading SQLite never lets go of the thread by itself: told at a stretch, 5,000 of them
 * held up every visitor for 13 to 50 ms, twice a second. Read in larger pages than that, for on PostgreSQL each of them is
 * a round trip.
 */
const toldAtOnce = 250;

export async function follow<Position extends object>(settings: FollowSettings<Position>): Promise<Follower> {
  const { feed, announce, followed, correct, clock, log } = settings;
  const started = clock.elapsed();
  let position: Position = await feed.end();
  followed(started);

  async function toTheEnd(began: number): Promise<Round<Position>> {
    const unsettled: Announced[] = [];
    // What settles behind an unsettled row may do so after we passed it: only what is settled from the start on counts.
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

  /** One at a time: a slow reading must not pile up behind itself. Who is woken meanwhile is not forgotten. */
  const reading = repeat({
    name: "following changes",
    everyMs: pollMs,
    deadlineMs,
    stopMs,
    async work() {
      const round = await toTheEnd(clock.elapsed());
      followed(round.began);
      await correct?.(round);
    },
    texts: {
      fails: "cannot follow changes; links in memory are trusted for 1 s only",
      worksAgain: "following changes again",
    },
    clock,
    log,
  });
  return { wake: reading.soon, stop: reading.stop };
}

const same = (a: object | undefined, b: object): boolean => JSON.stringify(a) === JSON.stringify(b);
