/** The failure matrix, row by row: the fault, what visitors may notice, and how it is removed. */
import { until } from "../../test/ground/process.ts";
import { type RedisServer, startRedisCluster, startRedisSentinel } from "../../test/ground/redis.ts";
import { fallsBack, type Impact, interrupted, memoryOnly, unavailable, unnoticed } from "./judge.ts";
import type { Kind } from "./questions.ts";
import { editedLinks, type Site } from "./site.ts";
import type { Tally } from "./tally.ts";
import type { BreakerTimes, Gained } from "./watch.ts";

export interface Row {
  readonly name: string;
  /** What the requirements say, in a few words. */
  readonly seed: string;
  readonly impact: Impact;
  readonly lastsMs?: number;
  /** How many of the hot links are asked for, and how often. */
  readonly hotLinks?: number;
  readonly perSecond?: number;
  begin(site: Site): Promise<void> | void;
  end(site: Site): Promise<void> | void;
  /** How we know that the fault happened: a row without its fault shows nothing. */
  felt(seen: Seen, site: Site): Promise<readonly Felt[]> | readonly Felt[];
}

/** A sign of the fault, and how much of it there must be. */
export interface Felt {
  readonly measure: string;
  readonly what: string;
  readonly figure: number;
  readonly least: number;
}

/** What there is to know when the outage ends. */
export interface Seen {
  readonly outage: Tally;
  readonly breakers: readonly BreakerTimes[];
  /** Until the end of the outage. */
  readonly gained: Gained;
}

const pastRedis = ({ gained }: Seen): readonly Felt[] => [
  { measure: "past_redis", what: "lookups that went past Redis", figure: gained.pastRedis, least: 1 },
];

const redisGone = (seen: Seen): readonly Felt[] => [
  {
    ...{ measure: "breakers", what: "breakers of Redis that opened", least: 1 },
    figure: seen.breakers.filter(({ of }) => of === "cache" || of === "limits").length,
  },
  ...pastRedis(seen),
];

/** What only SQL knows could not be had. */
const sqlGone = ({ outage }: Seen): readonly Felt[] => [
  {
    ...{ measure: "sql_gone", what: "503s for links that only SQL knows, of the kind with the fewest", least: 1 },
    figure: Math.min(...(["cold", "cold_limited", "missing"] satisfies Kind[]).map((kind) => outage.by[kind].refused)),
  },
];

const servedStale = ({ gained }: Seen): Felt => ({
  ...{ measure: "stale", what: "visits served from what may be out of date", figure: gained.stale, least: 1 },
});

const fallback = { seed: "falls back to SQL, +10-15 ms", impact: fallsBack };
const noSql = { seed: "503", impact: unavailable };
const slowRedisMs = 200;
const slowSqlMs = 150;
const edits = 40;
const roomBytes = 20_000;
const resetMs = 300;
const resetTimes = 5;
/** Two of three nodes stay: half of what is in Redis, with room for chance. */
const othersLeast = 0.4;
const nothing = () => {};

/** With servers that go to PostgreSQL and Redis straight. */
export const direct: readonly Row[] = [
  {
    ...{ name: "redis_refused", ...fallback, felt: redisGone },
    async begin({ redis }) {
      await redis.command("SAVE");
      await redis.kill();
    },
    end: ({ redis }) => redis.restart(),
  },
  {
    ...{ name: "redis_stopped", ...fallback, felt: redisGone },
    begin: ({ redis }) => redis.pause(),
    end: ({ redis }) => redis.resume(),
  },
  {
    ...{ name: "redis_full", seed: "evicts, slightly more misses", impact: fallsBack },
    async begin({ redis }) {
      await redis.command("CONFIG", "RESETSTAT");
      const used = await figure(redis, "memory", "used_memory");
      await redis.command("CONFIG", "SET", "maxmemory-policy", "volatile-lru");
      await redis.command("CONFIG", "SET", "maxmemory", String(used + roomBytes));
    },
    end: unbounded,
    felt: async (_, { redis }) => [
      { measure: "evicted", what: "evicted keys", figure: await figure(redis, "stats", "evicted_keys"), least: 1 },
    ],
  },
  {
    ...{ name: "redis_refuses_writes", seed: "warming fails, users unaffected", impact: fallsBack },
    async begin({ redis }) {
      await redis.command("CONFIG", "RESETSTAT");
      await redis.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
      await redis.command("CONFIG", "SET", "maxmemory", "1");
    },
    end: unbounded,
    felt: async (_, { redis }) => [
      { measure: "writes_refused", what: "writes that Redis refused", figure: await refusedWrites(redis), least: 1 },
    ],
  },
  {
    ...{ name: "redis_came_back_empty", seed: "misses, then warm again", impact: fallsBack, felt: pastRedis },
    async begin({ redis }) {
      await redis.flush();
      await redis.command("SAVE");
      await redis.restart();
    },
    end: nothing,
  },
  {
    ...{ name: "redis_came_back_old", seed: "not foreseen", impact: fallsBack },
    async begin({ redis, servers, questions }) {
      const links = await editedLinks(servers[0], edits, async () => void (await redis.command("SAVE")));
      await redis.restart();
      questions.addWarm(links);
    },
    end: nothing,
    felt: async (seen, { redis }) => [
      ...pastRedis(seen),
      {
        ...{ measure: "old_keys", what: "keys from before the edits", least: edits },
        figure: await figure(redis, "persistence", "rdb_last_load_keys_loaded"),
      },
    ],
  },
  {
    ...{ name: "sql_refused", ...noSql, felt: sqlGone },
    begin: ({ postgres }) => postgres.kill(),
    end: ({ postgres }) => postgres.restart(),
  },
  {
    ...{ name: "sql_stopped", ...noSql, felt: sqlGone },
    begin: ({ postgres }) => postgres.pause(),
    end: ({ postgres }) => postgres.resume(),
  },
  {
    ...{ name: "all_refused", seed: "not foreseen", impact: memoryOnly },
    async begin({ redis, postgres }) {
      await redis.command("SAVE");
      await Promise.all([redis.kill(), postgres.kill()]);
    },
    async end({ redis, postgres }) {
      await Promise.all([redis.restart(), postgres.restart()]);
    },
    felt: (seen) => [...sqlGone(seen), servedStale(seen)],
  },
  {
    ...{
      name: "hot_key",
      seed: "none if mitigated: memory absorbs it",
      impact: unnoticed,
      hotLinks: 1,
      perSecond: 500,
    },
    felt: ({ outage, gained }) => [
      {
        ...{ measure: "by_memory", what: "visits answered from memory", figure: gained.byMemory },
        // The metrics are read while visitors come, so a few at either end are not in both counts.
        least: Math.floor(0.98 * (outage.by.hot.asked + outage.by.hot_limited.asked)),
      },
    ],
    begin: nothing,
    end: nothing,
  },
];

/** With servers that go there by a proxy. */
export const proxied: readonly Row[] = [
  {
    ...{ name: "redis_slow", ...fallback, felt: redisGone },
    begin: ({ toRedis }) => toRedis.delay(slowRedisMs, "back"),
    end: ({ toRedis }) => toRedis.pass(),
  },
  {
    ...{ name: "redis_partition", ...fallback, felt: redisGone },
    begin: ({ toRedis }) => toRedis.drop(),
    end: ({ toRedis }) => toRedis.pass(),
  },
  {
    ...{ name: "redis_resets", ...fallback, felt: pastRedis },
    begin: ({ toRedis }) => resets(toRedis.reset),
    end: nothing,
  },
  {
    ...{ name: "sql_slow", ...noSql, felt: sqlGone },
    begin: ({ toSql }) => toSql.delay(slowSqlMs, "back"),
    end: ({ toSql }) => toSql.pass(),
  },
  {
    ...{ name: "sql_partition", seed: "serves stale from the cache", impact: unavailable },
    begin: ({ toSql }) => toSql.drop(),
    end: ({ toSql }) => toSql.pass(),
    felt: (seen) => [...sqlGone(seen), servedStale(seen)],
  },
  {
    ...{ name: "sql_resets", ...noSql },
    begin: ({ toSql }) => resets(toSql.reset),
    end: nothing,
    felt: (_, { toSql }) => [
      { measure: "resets", what: "connections to SQL that were reset", figure: toSql.ended, least: resetTimes },
    ],
  },
];

export interface Failover {
  /** The settings that lead to it. */
  readonly url: string;
  readonly row: Row;
  stop(): Promise<void>;
}

/** The sentinel, not the test, repairs it. */
export async function sentinelFailover(): Promise<Failover> {
  const { url, master, replica, stop } = await startRedisSentinel();
  const row: Row = {
    ...{ name: "redis_failed_over", seed: "< 1 s interruption", impact: interrupted },
    begin: () => master.kill(),
    end: nothing,
    felt: async (seen) => [...pastRedis(seen), await promoted(replica)],
  };
  return { url, row, stop };
}

/**
 * One master of three dies, and its replica takes over. Meanwhile the other two answer for their links: each node has
 * its own breaker.
 */
export async function clusterFailover(): Promise<Failover> {
  const { url, shards, replicas, stop } = await startRedisCluster({ replicas: true });
  const [first, replica] = [shards[0], replicas[0]];
  if (first === undefined || replica === undefined) throw new Error("the cluster has no replica");
  const row: Row = {
    ...{ name: "cluster_failed_over", seed: "< 1 s interruption", impact: interrupted },
    lastsMs: 6_000,
    begin: () => first.kill(),
    end: nothing,
    async felt(seen) {
      const { warm, warm_limited } = seen.outage.by;
      const least = Math.floor(othersLeast * (warm.asked + warm_limited.asked));
      const what = "links that the other nodes answered";
      return [
        ...pastRedis(seen),
        await promoted(replica),
        { measure: "by_others", what, figure: seen.gained.byRedis, least: Math.max(1, least) },
      ];
    },
  };
  return { url, row, stop };
}

const promoted = async (replica: RedisServer): Promise<Felt> => ({
  ...{ measure: "promoted", what: "replicas that became the master", least: 1 },
  figure: Number((await replica.command("INFO", "replication")).includes("role:master")),
});

const refusedWrites = async (redis: RedisServer): Promise<number> =>
  Number(/^errorstat_OOM:count=(\d+)/m.exec(await redis.command("INFO", "errorstats"))?.[1] ?? 0);

async function figure(redis: RedisServer, section: string, name: string): Promise<number> {
  return Number(new RegExp(`^${name}:(\\d+)`, "m").exec(await redis.command("INFO", section))?.[1]);
}

async function unbounded({ redis }: Site): Promise<void> {
  await redis.command("CONFIG", "SET", "maxmemory", "0");
  await until("Redis to take writes", () => redis.command("SET", "room", "", "EX", "1"));
}

/** Again and again, so that connections are lost in the middle of things. */
async function resets(reset: () => void): Promise<void> {
  for (let i = 0; i < resetTimes; i++) {
    reset();
    await Bun.sleep(resetMs);
  }
}
