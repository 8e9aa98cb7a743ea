import type { Clock } from "../base/clock.ts";
import { withDeadline } from "../base/deadline.ts";
import { createMemoryCounters } from "../in-memory/counters.ts";
import type { Counters } from "../limits/counters.ts";
import type { Redis } from "../redis/client.ts";

/**
 * Where limits are counted: in Redis, which all processes share, or in this process.
 *
 * In process each kind has its own counters. Strangers determine how many networks guess, report and try passwords:
 * they must not fill the space that tenants' limits need, nor each other's. When there are too many of their counters,
 * the least recently used are forgotten. To have a counter forgotten, an attacker would need
 * - for guesses (or reports) `networksMost` further networks that guess: each time, for the 100 guesses that one
 *   network has per minute. All those networks may guess as often anyway, which is 200 times as much;
 * - for a link's wrong passwords `passwordsMost` other links with a password, each tried once: the counters of links
 *   have their own space. There are more counters of networks, but the link's own limit is behind them.
 *
 * - for the tries at an account `accountsMost` other accounts, each tried once: with 60 tries an hour for a network, that
 *   takes more than 800 networks, which may try as often anyway.
 *
 * Calls and guesses are never looked up again by ID, so their IDs need not be kept. A right password refunds its
 * attempt by ID, soon after.
 */
export interface OpenCounters {
  /** Emails and storage: charges that may be undone or repeated by ID. */
  readonly ledger: Counters;
  /** API calls. */
  readonly calls: Counters;
  /** API calls of this process only; the same as `calls` when there are no shared counters. */
  readonly ownCalls: Counters;
  readonly guesses: Counters;
  readonly reports: Counters;
  /** Wrong passwords of links. */
  readonly attempts: Counters;
  /** Tries to get into accounts, and requests for mails about them. */
  readonly signIns: Counters;
}

const idsKept = 1_000;
const attemptsKept = 2_000;
export const networksMost = 20_000;
export const passwordsMost = 50_000;
export const accountsMost = 50_000;

export async function openCounters(redis: Redis | undefined, clock: Clock): Promise<OpenCounters> {
  const ownCalls = createMemoryCounters({ clock, idsMost: idsKept });
  if (redis === undefined) {
    return {
      ledger: createMemoryCounters({ clock }),
      calls: ownCalls,
      ownCalls,
      guesses: createMemoryCounters({ clock, idsMost: idsKept, keysMost: networksMost, forgets: true }),
      reports: createMemoryCounters({ clock, idsMost: idsKept, keysMost: networksMost, forgets: true }),
      attempts: createMemoryCounters({ clock, idsMost: attemptsKept, keysMost: passwordsMost, forgets: true }),
      signIns: createMemoryCounters({ clock, idsMost: attemptsKept, keysMost: accountsMost, forgets: true }),
    };
  }
  const { createRedisCounters } = await import("../redis/counters.ts");
  const shared = createRedisCounters({ redis, clock });
  return {
    ledger: shared,
    calls: shared,
    ownCalls,
    guesses: shared,
    reports: shared,
    attempts: shared,
    signIns: shared,
  };
}

export interface SharedCounters extends OpenCounters {
  close(): Promise<void>;
}

const connectMs = 2_000;

/** For a command, which ends soon: waits for Redis, but not for long. If Redis is unavailable, the counters say so. */
export async function connectCounters(url: string, clock: Clock): Promise<SharedCounters> {
  const { connectRedis } = await import("../redis/client.ts");
  const connected = Promise.withResolvers<void>();
  const redis = connectRedis(url, { onChange: (state) => state === "ready" && connected.resolve() });
  await withDeadline(connected.promise, connectMs, "Redis").catch(() => {});
  return { ...(await openCounters(redis, clock)), close: () => redis.close() };
}
