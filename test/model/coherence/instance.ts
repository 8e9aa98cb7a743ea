/** One server's lookups, put together as `src/server/cache.ts` does it, with its interval in the hands of the test. */
import type { Clock } from "../../../src/base/clock.ts";
import { createLog } from "../../../src/base/log.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import type { Cache, Versioned } from "../../../src/cache/cache.ts";
import type { Change } from "../../../src/cache/feed.ts";
import { type CacheCounts, countCache } from "../../../src/cache/hit-counts.ts";
import type { Form } from "../../../src/cache/tier.ts";
import type { RedisCache } from "../../../src/redis/cache.ts";
import type { Redis } from "../../../src/redis/client.ts";
import { nameOf } from "../../ground/changes.ts";
import type { Code } from "./code.ts";
import type { ModelSql, Thing } from "./sql.ts";
import type { Steps } from "./steps.ts";

export interface Instance {
  readonly cache: Cache<Thing>;
  readonly tier: RedisCache<Thing>;
  readonly counts: CacheCounts;
  /** After a commit, as `Lookup` does it. */
  publish(change: Change): void;
  /** A message says that there are changes. */
  wake(): void;
  /** Half a second is over. */
  tick(): void;
}

export interface InstanceParts {
  readonly code: Code;
  readonly sql: ModelSql;
  readonly redis: Redis;
  readonly clock: Clock;
  readonly steps: Steps;
}

const form: Form<Thing> = {
  name: "v1",
  keysOf: (change) => [nameOf(change)],
  toJson: ({ name }) => ({ u: name }),
  fromJson: (json) => ({ name: String((json as { u: string }).u) }),
};
const sizeBytes = 1_000_000;
const pollMs = 500;
/** Its steps are taken one by one, by no clock. */
const wait = { redis: 600_000, sql: 600_000 };
const silent = createLog("silent", { write() {} }, false, () => 0);

export async function openInstance({ code, sql, redis, clock, steps }: InstanceParts): Promise<Instance> {
  const counts = countCache(createMetrics());
  const tier = code.redisCache.createRedisCache<Thing>({
    ...{ redis, form, clock, random: () => 0.5 },
    nextTurn: (start) => void steps.step("reads of a turn are gathered").then(start),
    later: (write) => void steps.step("a write to Redis waits").then(write),
  });
  const source = code.tiered.createTiered<Thing>({
    tier,
    sql: { load: (key): Promise<Versioned<Thing>> => sql.load(key) },
    counts,
    clock,
    random: () => 0,
  });
  const cache = code.cache.createCache<Thing>({ source, clock, counts, sizeBytes, sizeOf: () => 0, wait });
  const none = () => {};
  let tick = none;
  const after: Clock["after"] = (ms, work) => {
    if (ms > pollMs) return none; // a deadline
    tick = () => {
      tick = none;
      work();
    };
    return () => {
      tick = none;
    };
  };
  const follower = await code.follow.follow({
    feed: sql.feed,
    announce: (change) => cache.announce(nameOf(change), change.version),
    followed: cache.followed,
    correct: code.correct.createCorrectTier(tier, sql.feed, silent),
    clock: { ...clock, after },
    log: silent,
  });
  return {
    cache,
    tier,
    counts,
    publish(change) {
      cache.announce(nameOf(change), change.version);
      tier.fenceOne(nameOf(change), change.version).catch(() => {});
    },
    wake: follower.wake,
    tick: () => tick(),
  };
}
