import type { Logger } from "../base/log.ts";
import type { Change, Feed } from "./feed.ts";
import type { Round } from "./follow.ts";

/**
 * Keeps the shared tier no older than the change feed, so that it can be trusted.
 *
 * Each server of the tier stores the feed position up to which it was corrected. After every read of the feed, an
 * instance reads that position, writes a fence for every change after it, and then advances the position, never before
 * the fences. The first instance does the work and the others find it done: an instance that finds nothing to fence has
 * its answer with the position, and confirms it only once in a while. A server that comes back with older data also comes
 * back with its older position, so it is corrected from there and not trusted before.
 *
 * If the position is missing, or older than the feed reaches back, the server starts a new epoch: all keys get other
 * names, so it is empty. A writer that got its ticket before that may still write what it read from SQL then. So the
 * epoch starts at a feed position from before any such ticket, and is corrected from there as usual.
 *
 * A position of another database's feed says nothing about ours, and the links beside it are not ours. While servers of that
 * database confirm it, the server is not used. Once they no longer do, it starts a new epoch: somebody has replaced the database.
 */
export interface CorrectedUpTo {
  /** Text that sorts as positions do; empty if the server has none. */
  readonly position: string;
  /** Time since any instance moved or confirmed it. */
  readonly idleMs: number;
  /** It is of another database's feed; `position` is empty then. */
  readonly isForeign?: boolean;
}

export interface CorrectableTier {
  servers(): readonly string[];
  stand(server: string): Promise<CorrectedUpTo>;
  /** Starts another epoch at this position, or returns the one that another instance started first. */
  begin(server: string, position: string): Promise<CorrectedUpTo>;
  /** Throws unless all fences are in place. */
  fence(server: string, changes: readonly Change[]): Promise<void>;
  /** Throws if the position is now before `from`, missing, or in another epoch: then the fences went elsewhere. */
  moveOn(server: string, from: string, position: string): Promise<void>;
  /** The server may be trusted until it is not heard of any more. `began` is when the feed was read. */
  believe(server: string, began: number): void;
}

export type CorrectTier<Position> = (round: Round<Position>, signal?: AbortSignal) => Promise<void>;

/** Changes are kept for a day; a position that was not confirmed for this long may be older than the oldest change. */
const idleMostMs = 20 * 3_600_000;
/** How often a position that does not change is confirmed, by any instance: a quiet server is asked once per poll, not twice. */
const confirmMs = 60_000;
/** A position of another database that was not confirmed for this long is abandoned. */
const abandonedMs = 3 * confirmMs;
/** Rows of the feed, each of up to 64 new links. */
const page = 250;
/** Longer than a ticket is valid by any clock. */
const leaveMs = 3_000;

export function createCorrectTier<Position extends object>(
  tier: CorrectableTier,
  feed: Feed<Position>,
  log: Logger,
): CorrectTier<Position> {
  let failing = false;
  /** Two reads, the first from before any ticket that may still be in use; unset in the first seconds. */
  let before: Round<Position> | undefined;
  let next: Round<Position> | undefined;

  function remember(round: Round<Position>): void {
    next ??= round;
    if (round.began - next.ended < leaveMs) return;
    before = next;
    next = round;
  }

  /** No further than `to`: an import can write changes faster than they are fenced here, and would have no end. */
  async function replay(server: string, from: string, to: string, signal: AbortSignal | undefined): Promise<void> {
    for (let cursor = feed.fromText(from); ; ) {
      const read = await feed.after(cursor, page);
      await tier.fence(server, read.changes);
      cursor = read.next;
      if (read.changes.length < page || feed.toText(cursor) >= to) return;
      signal?.throwIfAborted();
    }
  }

  async function correct(server: string, round: Round<Position>, signal: AbortSignal | undefined): Promise<void> {
    const position = feed.toText(round.position);
    let stand = await tier.stand(server);
    requireOurs(stand);
    if (stand.position === "" || stand.idleMs > idleMostMs) {
      if (before === undefined) return;
      stand = await tier.begin(server, feed.toText(before.position));
      requireOurs(stand);
    }
    if (stand.position < position) await replay(server, stand.position, position, signal);
    await tier.fence(server, round.notFinal);
    // It says itself that it was corrected up to here, after the feed was read.
    const isDone = stand.position >= position && round.notFinal.length === 0 && stand.idleMs < confirmMs;
    if (!isDone) await tier.moveOn(server, stand.position, position);
    tier.believe(server, round.began);
  }

  return async (round, signal) => {
    remember(round);
    const results = await Promise.allSettled(tier.servers().map((server) => correct(server, round, signal)));
    if (signal?.aborted) return;
    const failure = results.find((result) => result.status === "rejected");
    if (failure !== undefined && !failing) {
      log.warn({ error: failure.reason }, "cannot correct the shared cache; not using it meanwhile");
    }
    if (failure === undefined && failing) log.info("correcting the shared cache works again");
    failing = failure !== undefined;
  };
}

function requireOurs({ isForeign, idleMs }: CorrectedUpTo): void {
  if (!isForeign || idleMs >= abandonedMs) return;
  throw new Error(
    "this Redis is used by servers of another database, whose links and limits have the same names: " +
      "give each database its own Redis, or another database number (redis://host/1)",
  );
}
