import type { Logger } from "../base/log.ts";
import type { Announced, Followed, Round } from "./follow.ts";

/**
 * Keeps the shared tier no older than the change feed, so that it may be believed.
 *
 * Each server of the tier remembers how far along the feed it was corrected. After every reading of the feed, an
 * instance looks where the server stands; puts a fence for every change behind that place; and moves the place on, after
 * the fences and never before. So whoever comes first does the work, the others find it done, and a server that comes
 * back with older data comes back with its older place: it is corrected from there, and not believed before.
 *
 * When it stands where the feed does not reach back to, or nowhere at all, it begins a new epoch: other names for all
 * keys, and so empty. Whoever was given leave to write before that may still bring what it read from SQL then; so the
 * epoch begins at a place in the feed from before that leave, and is corrected from there like any other.
 */
export interface Stand {
  /** Text that sorts as positions do; empty when the server remembers nothing. */
  readonly position: string;
  /** How long ago anybody moved or confirmed it. */
  readonly idleMs: number;
}

export interface Correctable {
  servers(): readonly string[];
  stand(server: string): Promise<Stand>;
  /** Another epoch, from this position on; or where somebody else, who was faster, has begun it. */
  begin(server: string, position: string): Promise<Stand>;
  /** Throws unless all are in place. */
  fence(server: string, changes: readonly Announced[]): Promise<void>;
  /** Throws when it stands before `from` by now, nowhere, or in another epoch: then the fences went elsewhere. */
  moveOn(server: string, from: string, position: string): Promise<void>;
  /** From now on it may be believed, until it is heard of no more. `began` is when the feed was read. */
  believe(server: string, began: number): void;
}

export interface Feed<Position> extends Followed<Position> {
  readonly toText: (position: Position) => string;
  readonly fromText: (text: string) => Position;
}

export type Correct<Position> = (round: Round<Position>) => Promise<void>;

/** Changes are kept for a day; a place that nobody has confirmed for this long may be behind the first of them. */
const idleMostMs = 20 * 3_600_000;
const page = 1_000;
/** Longer than leave to write is good for, by any clock. */
const leaveMs = 3_000;

export function createCorrect<Position extends object>(
  tier: Correctable,
  feed: Feed<Position>,
  log: Logger,
): Correct<Position> {
  let failing = false;
  /** Two readings, the first of them from before all leave that may still be in use: nothing yet in the first seconds. */
  let before: Round<Position> | undefined;
  let next: Round<Position> | undefined;

  function remember(round: Round<Position>): void {
    next ??= round;
    if (round.began - next.ended < leaveMs) return;
    before = next;
    next = round;
  }

  async function replay(server: string, from: string): Promise<void> {
    for (let cursor = feed.fromText(from); ; ) {
      const read = await feed.after(cursor, page);
      await tier.fence(server, read.changes);
      cursor = read.next;
      if (read.changes.length < page) return;
    }
  }

  async function correct(server: string, round: Round<Position>): Promise<void> {
    const position = feed.toText(round.position);
    let stand = await tier.stand(server);
    if (stand.position === "" || stand.idleMs > idleMostMs) {
      if (before === undefined) return;
      stand = await tier.begin(server, feed.toText(before.position));
    }
    if (stand.position < position) await replay(server, stand.position);
    await tier.fence(server, round.unsettled);
    await tier.moveOn(server, stand.position, position);
    tier.believe(server, round.began);
  }

  return async (round) => {
    remember(round);
    const results = await Promise.allSettled(tier.servers().map((server) => correct(server, round)));
    const failure = results.find((result) => result.status === "rejected");
    if (failure !== undefined && !failing) {
      log.warn({ error: failure.reason }, "cannot correct the shared cache; not using it meanwhile");
    }
    if (failure === undefined && failing) log.info("correcting the shared cache works again");
    failing = failure !== undefined;
  };
}
