import type { Clock } from "./base/clock.ts";
import { withDeadline } from "./base/deadline.ts";
import type { Counters } from "./limits/counters.ts";
import { createMemoryCounters } from "./memory/counters.ts";
import type { Redis } from "./redis/client.ts";

/**
 * Where limits are counted: in Redis, which every process shares, or else in this process.
 *
 * In process each kind has counters of its own. Strangers decide how many addresses guess, and must not fill the room
 * that tenants' limits need; and nobody ever asks again about a call or a guess by its id, so those need not be kept.
 */
export interface OpenCounters {
  /** Emails and storage: what may be undone, or asked again, by its id. */
  readonly ledger: Counters;
  /** API calls. */
  readonly calls: Counters;
  /** API calls of this process alone; the same as `calls` when nobody else counts. */
  readonly ownCalls: Counters;
  readonly guesses: Counters;
}

const idsKept = 1_000;
const guessersMost = 20_000;

export async function openCounters(redis: Redis | undefined, clock: Clock): Promise<OpenCounters> {
  const ownCalls = createMemoryCounters({ clock, idsMost: idsKept });
  if (redis === undefined) {
    return {
      ledger: createMemoryCounters({ clock }),
      calls: ownCalls,
      ownCalls,
      guesses: createMemoryCounters({ clock, idsMost: idsKept, keysMost: guessersMost }),
    };
  }
  const { createRedisCounters } = await import("./redis/counters.ts");
  const shared = createRedisCounters({ redis, clock });
  return { ledger: shared, calls: shared, ownCalls, guesses: shared };
}

export interface SharedCounters extends OpenCounters {
  close(): Promise<void>;
}

const connectMs = 2_000;

/** For a command, which ends soon: waits for Redis, but not for long. If it is not there, the counters say so. */
export async function connectCounters(url: string, clock: Clock): Promise<SharedCounters> {
  const { connectRedis } = await import("./redis/client.ts");
  const connected = Promise.withResolvers<void>();
  const redis = connectRedis(url, { onChange: (state) => state === "ready" && connected.resolve() });
  await withDeadline(connected.promise, connectMs, "Redis").catch(() => {});
  return { ...(await openCounters(redis, clock)), close: () => redis.close() };
}
