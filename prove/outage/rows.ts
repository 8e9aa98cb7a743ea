/** The failure matrix of the requirements, row by row: what goes wrong, and how it is put right again. */
import { until } from "../../test/ground/process.ts";
import { type RedisServer, startRedisSentinel } from "../../test/ground/redis.ts";
import { editedLinks, type Site } from "./site.ts";

export interface Row {
  readonly name: string;
  /** What the requirements say, in a few words. */
  readonly seed: string;
  /** Who is away. */
  readonly away: "redis" | "sql" | "nobody";
  readonly lastsMs?: number;
  /** How many of the hot links are asked for, and how often. */
  readonly hotLinks?: number;
  readonly perSecond?: number;
  begin(site: Site): Promise<void> | void;
  end(site: Site): Promise<void> | void;
  /** What else is worth knowing. */
  tell?(site: Site): Promise<string>;
}

const fallback = "falls back to SQL, +10-15 ms";
const noSql = "503";
const slowRedisMs = 200;
const slowSqlMs = 150;
const edits = 40;
const roomBytes = 20_000;
const resetMs = 300;
const nothing = () => {};

/** With servers that go to PostgreSQL and Redis straight. */
export const direct: readonly Row[] = [
  {
    ...{ name: "redis_refused", seed: `${fallback}, reconnects`, away: "redis" },
    async begin({ redis }) {
      await redis.command("SAVE");
      await redis.kill();
    },
    end: ({ redis }) => redis.restart(),
  },
  {
    ...{ name: "redis_stopped", seed: `${fallback}, next request retries`, away: "redis" },
    begin: ({ redis }) => redis.pause(),
    end: ({ redis }) => redis.resume(),
  },
  {
    ...{ name: "redis_full", seed: "evicts, some more misses", away: "redis" },
    async begin({ redis }) {
      const used = await figure(redis, "memory", "used_memory");
      await redis.command("CONFIG", "SET", "maxmemory-policy", "volatile-lru");
      await redis.command("CONFIG", "SET", "maxmemory", String(used + roomBytes));
    },
    end: unbounded,
    tell: async ({ redis }) => `evicted=${await figure(redis, "stats", "evicted_keys")}`,
  },
  {
    ...{ name: "redis_refuses_writes", seed: "warming fails, users unaffected", away: "redis" },
    async begin({ redis }) {
      await redis.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
      await redis.command("CONFIG", "SET", "maxmemory", "1");
    },
    end: unbounded,
  },
  {
    ...{ name: "redis_came_back_empty", seed: "misses, then warm again", away: "redis" },
    async begin({ redis }) {
      await redis.flush();
      await redis.command("SAVE");
      await redis.restart();
    },
    end: nothing,
  },
  {
    ...{ name: "redis_came_back_old", seed: "not foreseen", away: "redis" },
    async begin({ redis, servers, questions }) {
      const links = await editedLinks(servers[0], edits, async () => void (await redis.command("SAVE")));
      await redis.restart();
      questions.addWarm(links);
    },
    end: nothing,
    tell: async ({ redis }) =>
      `edited=${edits} old_keys=${await figure(redis, "persistence", "rdb_last_load_keys_loaded")}`,
  },
  {
    ...{ name: "sql_refused", seed: noSql, away: "sql" },
    begin: ({ postgres }) => postgres.kill(),
    end: ({ postgres }) => postgres.restart(),
  },
  {
    ...{ name: "sql_stopped", seed: noSql, away: "sql" },
    begin: ({ postgres }) => postgres.pause(),
    end: ({ postgres }) => postgres.resume(),
  },
  {
    ...{ name: "hot_key", seed: "memory absorbs it", away: "nobody", hotLinks: 1, perSecond: 500 },
    begin: nothing,
    end: nothing,
  },
];

/** With servers that go there by a proxy. */
export const proxied: readonly Row[] = [
  {
    ...{ name: "redis_slow", seed: `${fallback}, next request retries`, away: "redis" },
    begin: ({ toRedis }) => toRedis.delay(slowRedisMs, "back"),
    end: ({ toRedis }) => toRedis.pass(),
  },
  {
    ...{ name: "redis_partition", seed: fallback, away: "redis" },
    begin: ({ toRedis }) => toRedis.drop(),
    end: ({ toRedis }) => toRedis.pass(),
  },
  {
    ...{ name: "redis_resets", seed: `${fallback}, reconnects`, away: "redis" },
    begin: ({ toRedis }) => resets(toRedis.reset),
    end: nothing,
  },
  {
    ...{ name: "sql_slow", seed: noSql, away: "sql" },
    begin: ({ toSql }) => toSql.delay(slowSqlMs, "back"),
    end: ({ toSql }) => toSql.pass(),
  },
  {
    ...{ name: "sql_partition", seed: "serves stale from the cache", away: "sql" },
    begin: ({ toSql }) => toSql.drop(),
    end: ({ toSql }) => toSql.pass(),
  },
  {
    ...{ name: "sql_resets", seed: noSql, away: "sql" },
    begin: ({ toSql }) => resets(toSql.reset),
    end: nothing,
  },
];

/** The sentinel, not we, puts it right. */
export async function failover(): Promise<{ url: string; row: Row; stop(): Promise<void> }> {
  const { url, master, stop } = await startRedisSentinel();
  const row: Row = {
    ...{ name: "redis_failed_over", seed: "< 1 s of errors", away: "redis" },
    begin: () => master.kill(),
    end: nothing,
  };
  return { url, row, stop };
}

async function figure(redis: RedisServer, section: string, name: string): Promise<number> {
  return Number(new RegExp(`^${name}:(\\d+)`, "m").exec(await redis.command("INFO", section))?.[1]);
}

async function unbounded({ redis }: Site): Promise<void> {
  await redis.command("CONFIG", "SET", "maxmemory", "0");
  await until("Redis to take writes", () => redis.command("SET", "room", "", "EX", "1"));
}

/** Again and again, so that connections are lost in the middle of things. */
async function resets(reset: () => void): Promise<void> {
  for (let i = 0; i < 5; i++) {
    reset();
    await Bun.sleep(resetMs);
  }
}
