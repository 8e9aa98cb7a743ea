import { createBreaker } from "./base/breaker.ts";
import { withDeadline } from "./base/deadline.ts";
import type { Logger } from "./base/log.ts";
import type { Metrics } from "./base/metrics.ts";
import { type Cache, createCache, type Source } from "./cache/cache.ts";
import { createChangeRates } from "./cache/changes.ts";
import { createCorrect } from "./cache/correct.ts";
import { type CacheCounts, countCache } from "./cache/counts.ts";
import { type Announced, follow } from "./cache/follow.ts";
import { guarded } from "./cache/guard.ts";
import { lifeMs } from "./cache/life.ts";
import { createTiered } from "./cache/tiered.ts";
import { type Core, openReplica } from "./core.ts";
import type { HotLinks } from "./hot.ts";
import { cacheKey } from "./links/link.ts";
import { createLinkStore, type LinkStore } from "./links/store.ts";
import { linkForm } from "./redirect/form.ts";
import { type Known, linkSource, sizeOfKnown } from "./redirect/resolve.ts";
import type { RedisCache, RedisCacheOptions } from "./redis/cache.ts";
import type { Redis } from "./redis/client.ts";
import { createFeed } from "./sql/feed.ts";
import type { Sql } from "./sql/sql.ts";

/**
 * Looking up links, put together: memory, behind it Redis if there is one, behind that SQL; and the change feed that
 * keeps the first two no older than promised.
 *
 * In a region with a replica, that is the SQL of lookups and the feed: what is read is never ahead of what is followed.
 * A change that was made here is then not announced here either before the replica has it, for until then nobody could
 * say what it is.
 */
export interface Lookup {
  readonly cache: Cache<Known>;
  /** What lookups read from, if that is not what everything is written to. */
  readonly replica: Sql | undefined;
  /** Has these at hand before somebody asks for them. Those that cannot be had are left out. */
  warm(keys: readonly string[]): Promise<void>;
  /** After a commit: nothing older is served from here, and the others are woken. */
  changed(change: Announced): void;
  stop(): Promise<void>;
}

export interface LookupSettings {
  readonly core: Core;
  /** Of the cache; without it, memory stands before SQL. */
  readonly redis: Redis | undefined;
  readonly hot: HotLinks;
  readonly metrics: Metrics;
  readonly log: Logger;
}

const sqlDeadlineMs = 100;
const sqlWaiting = 200;
const sqlFailures = 0.5;
const redisFailures = 0.1;
const warmAtOnce = 4;
const channel = "ql:invalidate";

export async function openLookup({ core, redis, hot, metrics, log }: LookupSettings): Promise<Lookup> {
  const { config, clock } = core;
  const counts = countCache(metrics);
  const replica = await openReplica(config, log);
  const feed = createFeed(replica ?? core.sql);
  const fromSql = sqlSource(core, replica && createLinkStore(replica), counts, log);
  const changes = createChangeRates(clock);
  const life = (key: string) => lifeMs(hot.perMinute(key), changes.perDay(key));
  const tier = redis && (await openTier(redis, core, { lifeMs: life, onEmpty: () => fill(hot.keys()) }, metrics, log));
  const source = tier ? createTiered({ tier, sql: fromSql, counts }) : counted(fromSql, counts);
  const cache = createCache<Known>({
    source,
    clock,
    counts,
    sizeBytes: config.QL_CACHE_MB * 1_048_576,
    sizeOf: sizeOfKnown,
  });
  metrics.gauge("quicklink_cache_links", "Links in memory.", () => cache.found);
  metrics.gauge("quicklink_cache_missing", "Codes in memory that lead nowhere.", () => cache.missing);

  let followedAt = clock.elapsed();
  metrics.gauge(
    "quicklink_feed_age_seconds",
    "How long ago the change feed was last read to its end.",
    () => (clock.elapsed() - followedAt) / 1_000,
    "max",
  );
  const follower = await follow({
    feed,
    announce({ domain, code, version }) {
      const key = cacheKey(domain, code);
      changes.add(key);
      cache.announce(key, version);
    },
    followed(elapsed) {
      followedAt = elapsed;
      cache.followed(elapsed);
    },
    ...(tier && { correct: createCorrect(tier, feed, log) }),
    clock,
    log,
  });
  const listening = await redis?.listen(channel, follower.wake);
  const wakeOthers = redis && oncePerTurn((code: string) => wake(redis, code));

  /** A Redis that lost everything gets the hottest links back first. */
  function fill(keys: readonly string[]): void {
    void some(keys, (key) => source.load(key, 0));
  }

  return {
    cache,
    replica,
    warm: (keys) => some(keys, cache.lookup),
    changed({ domain, code, version }) {
      const key = cacheKey(domain, code);
      if (replica === undefined) cache.announce(key, version);
      // Best effort, and not waited for: the feed says the same a moment later.
      tier?.fenceOne(key, version).catch(() => {});
      wakeOthers?.(key);
    },
    async stop() {
      listening?.close();
      await follower.stop();
      await replica?.close();
    },
  };
}

/** SQLite answers before a timer could run, and has one reader; PostgreSQL may be slow, away or busy. */
function sqlSource(
  { config, store, clock }: Core,
  replica: LinkStore | undefined,
  counts: CacheCounts,
  log: Logger,
): Source<Known> {
  if (config.embedded) return linkSource(store.target);
  const { target } = replica ?? store;
  const inTime: typeof target = (domain, code) => withDeadline(target(domain, code), sqlDeadlineMs, "PostgreSQL");
  const breaker = createBreaker({
    clock,
    share: sqlFailures,
    onChange: (open) =>
      open
        ? log.error("PostgreSQL fails lookups; they leave it alone for a while")
        : log.info("PostgreSQL answers again"),
  });
  const settings = { atOnce: config.QL_DATABASE_POOL, waiting: sqlWaiting, counts, run: breaker.run };
  return guarded(linkSource(inTime), settings);
}

const counted = (sql: Source<Known>, { miss }: CacheCounts): Source<Known> => ({
  load(key, atLeast) {
    miss.absent++;
    return sql.load(key, atLeast);
  },
});

async function openTier(
  redis: Redis,
  { clock }: Core,
  options: Pick<RedisCacheOptions<Known>, "lifeMs" | "onEmpty">,
  metrics: Metrics,
  log: Logger,
): Promise<RedisCache<Known>> {
  const { createRedisCache } = await import("./redis/cache.ts");
  const { guarded: withBreaker } = await import("./redis/guarded.ts");
  const breaker = createBreaker({
    clock,
    share: redisFailures,
    onChange: (open) =>
      open
        ? log.warn("Redis fails too often; lookups leave it alone for a while")
        : log.info("Redis answers lookups again"),
  });
  metrics.gauge(
    "quicklink_cache_breaker_open",
    "1 while lookups leave Redis alone.",
    () => Number(breaker.open),
    "max",
  );
  const keyOf = ({ domain, code }: Announced) => cacheKey(domain, code);
  return createRedisCache({ redis: withBreaker(redis, breaker), forms: [linkForm], keyOf, clock, ...options });
}

/** The others read the feed at once instead of within half a second; whoever does not hear it does so then. */
async function wake(redis: Redis, code: string): Promise<void> {
  await redis.send(channel, ["PUBLISH", channel, JSON.stringify({ code })]).catch(() => {});
}

/** A few at a time, so that visitors come first. */
async function some(keys: readonly string[], work: (key: string) => Promise<unknown>): Promise<void> {
  const waiting = [...keys];
  const next = async () => {
    for (let key = waiting.shift(); key !== undefined; key = waiting.shift()) await work(key).catch(() => {});
  };
  await Promise.all(Array.from({ length: warmAtOnce }, next));
}

/** A thousand links in one request are one message. */
function oncePerTurn(work: (code: string) => void): (code: string) => void {
  let waiting = false;
  return (code) => {
    if (waiting) return;
    waiting = true;
    setImmediate(() => {
      waiting = false;
      work(code);
    });
  };
}
