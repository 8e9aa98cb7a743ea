import { createBreakers } from "./base/breaker.ts";
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
import { type Core, lookupConnections, openLookups, openReplica } from "./core.ts";
import { type Hosts, openHosts } from "./domains/hosts.ts";
import { createDomainStore, domainCode } from "./domains/store.ts";
import type { HotLinks } from "./hot.ts";
import { cacheKey, type LinkKey } from "./links/link.ts";
import { createLinkStore } from "./links/store.ts";
import { type Known, linkSource, sizeOfKnown } from "./redirect/resolve.ts";
import type { RedisCache, RedisCacheOptions } from "./redis/cache.ts";
import type { Redis } from "./redis/client.ts";
import { onWake, wake } from "./redis/wake.ts";
import { createFeed } from "./sql/feed.ts";
import { watchReplica } from "./sql/replica.ts";
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
  readonly cache: Cache<Known, LinkKey>;
  /** Whose host a request came to. */
  readonly hosts: Hosts;
  /** What lookups read from, if that is not what everything is written to. */
  readonly replica: Sql | undefined;
  /** Has these at hand before somebody asks for them. Those that cannot be had are left out. */
  warm(keys: readonly LinkKey[]): Promise<void>;
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

const sqlWaiting = 200;
const sqlFailures = 0.5;
const lagBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 3, 10];
const newPauseMs = 20;
const newWaiting = 100;
const warmAtOnce = 4;
const warmTries = 5;
const warmPauseMs = 500;

export async function openLookup(settings: LookupSettings): Promise<Lookup> {
  const { core, redis, hot, metrics, log } = settings;
  const { config, clock } = core;
  const counts = countCache(metrics);
  const replica = await openReplica(config, log);
  const watching = watchReplica(replica, metrics);
  const feed = createFeed(replica ?? core.sql);
  const lookups = await openLookups(config, replica ?? core.sql, log);
  const fromSql = sqlSource(lookups, counts, settings);
  const changes = createChangeRates(clock);
  const usualMs = config.QL_CACHE_TTL_SECONDS * 1_000;
  const life = (key: string) => lifeMs(hot.perMinute(key), changes.perDay(key), usualMs);
  const tier = redis && (await openGuarded(redis, counts, settings, { lifeMs: life, onEmpty: () => fill(hot.keys()) }));
  const tiered = tier && createTiered({ tier, sql: fromSql, counts, clock });
  const source = tiered ?? counted(fromSql, counts);
  const cache = createCache<Known, LinkKey>({
    source,
    clock,
    counts,
    sizeBytes: config.QL_CACHE_MB * 1_048_576,
    sizeOf: sizeOfKnown,
    wait: config.wait,
    jitter: config.QL_CACHE_JITTER,
  });
  metrics.gauge("quicklink_cache_links", "Links in memory.", () => cache.found);
  metrics.gauge("quicklink_cache_missing", "Codes in memory that lead nowhere.", () => cache.missing);

  const hosts = await openHosts({ load: createDomainStore(replica ?? core.sql).verified, own: config.ownNames, log });
  metrics.gauge("quicklink_domains", "Domains of tenants that links are served on.", () => hosts.size, "max");

  let followedAt = clock.elapsed();
  metrics.gauge(
    "quicklink_feed_age_seconds",
    "How long ago the change feed was last read to its end.",
    () => (clock.elapsed() - followedAt) / 1_000,
    "max",
  );
  const observeLag = metrics.histogram(
    "quicklink_feed_lag_seconds",
    "From a change made elsewhere to its being known here, by both machines' clocks.",
    [],
    lagBuckets,
  );
  const follower = await follow({
    feed,
    announce({ domain, code, version, at }) {
      if (code === domainCode) return hosts.changed(domain);
      const key = cacheKey(domain, code);
      changes.add(key, version);
      if (cache.announce(key, version)) observeLag({}, Math.max(0, clock.now() - at) / 1_000);
    },
    followed(elapsed) {
      followedAt = elapsed;
      cache.followed(elapsed);
    },
    ...(tier && { correct: createCorrect(tier, feed, log) }),
    clock,
    log,
  });
  const listening = redis && (await onWake(redis, follower.wake));
  const wakeOthers = redis && oncePerTurn((code: string) => wake(redis, code));

  const created = tiered && writeThrough((key) => tiered.writeThrough(key, 1));

  /** A Redis that lost everything gets the hottest links back first. */
  function fill(keys: readonly string[]): void {
    void some(keys, (key) => source.load(key, 0));
  }

  return {
    cache,
    hosts,
    replica,
    warm: (keys) => some(keys, (key) => cache.lookup(key)),
    changed({ domain, code, version }) {
      const key = cacheKey(domain, code);
      if (code === domainCode) {
        if (replica === undefined) hosts.changed(domain);
        return wakeOthers?.(key);
      }
      if (replica === undefined) cache.announce(key, version);
      // Best effort, and not waited for: the feed says the same a moment later.
      if (version !== 1 || !created?.(key)) tier?.fenceOne(key, version).catch(() => {});
      wakeOthers?.(key);
    },
    async stop() {
      listening?.close();
      watching.stop();
      hosts.stop();
      await follower.stop();
      if (lookups !== core.sql && lookups !== replica) await lookups.close();
      await replica?.close();
    },
  };
}

/** SQLite answers before a timer could run, and has one reader; PostgreSQL may be slow, away or busy. */
function sqlSource(sql: Sql, counts: CacheCounts, { core, metrics, log }: LookupSettings): Source<Known> {
  const { config, store, clock } = core;
  if (config.embedded) return linkSource(store.target);
  const breakers = createBreakers({
    of: "sql",
    nodes: () => ["sql"],
    // A lookup that hangs keeps its connection: fewer can fail at once than there are connections.
    rule: {
      ...config.breaker,
      failures: Math.max(1, Math.min(config.breaker.failures, lookupConnections(config) - 1)),
      share: sqlFailures,
    },
    metrics,
    clock,
    onChange: (open) =>
      open
        ? log.error("PostgreSQL fails lookups; they leave it alone for a while")
        : log.info("PostgreSQL answers again"),
  });
  return guarded(linkSource(createLinkStore(sql).target), {
    atOnce: lookupConnections(config),
    waiting: sqlWaiting,
    waitMs: config.QL_SQL_WAIT_MS,
    counts,
    clock,
    run: breakers.of("sql").run,
  });
}

const counted = (sql: Source<Known>, { miss }: CacheCounts): Source<Known> => ({
  load(key, atLeast, visit) {
    miss.memory++;
    return sql.load(key, atLeast, visit);
  },
});

/** The tier as a server may use it: left alone while it fails. */
async function openGuarded(
  redis: Redis,
  { events }: CacheCounts,
  { core: { clock, config }, metrics, log }: LookupSettings,
  options: Pick<RedisCacheOptions<Known>, "lifeMs" | "onEmpty">,
): Promise<RedisCache<Known>> {
  const { openTier } = await import("./tier.ts");
  const { guarded: withBreaker } = await import("./redis/guarded.ts");
  const breakers = createBreakers({
    of: "cache",
    nodes: redis.owners,
    rule: config.breaker,
    metrics,
    clock,
    onChange: (open, node) =>
      open
        ? log.warn({ node }, "Redis fails too often; lookups leave it alone for a while")
        : log.info({ node }, "Redis answers lookups again"),
  });
  return openTier(withBreaker(redis, breakers), clock, {
    ...options,
    missingMs: config.QL_CACHE_MISSING_TTL_SECONDS * 1_000,
    jitter: config.QL_CACHE_JITTER,
    written: (kind) => void events[kind === "link" ? "link_written" : "missing_written"]++,
  });
}

/** A server that has just started is busy, and SQL may miss its deadline once. */
async function patiently<Key>(key: Key, work: (key: Key) => Promise<unknown>): Promise<void> {
  for (let tries = 1; tries <= warmTries; tries++) {
    const done = await work(key).then(
      () => true,
      () => false,
    );
    if (done) return;
    await new Promise((resolve) => setTimeout(resolve, warmPauseMs).unref());
  }
}

/** A few at a time, so that visitors come first. */
async function some<Key>(keys: readonly Key[], work: (key: Key) => Promise<unknown>): Promise<void> {
  const waiting = [...keys];
  const next = async () => {
    for (let key = waiting.shift(); key !== undefined; key = waiting.shift()) await patiently(key, work);
  };
  await Promise.all(Array.from({ length: warmAtOnce }, next));
}

/**
 * Puts new links into Redis, so that the first visitor on any server finds them there. At most fifty a second, and a hundred
 * may wait: reading each link back doubled what PostgreSQL spent on a create, so those who create links by the thousand
 * get fences for the rest. Answers whether there is room.
 */
function writeThrough(work: (key: string) => Promise<void>): (key: string) => boolean {
  const waiting: string[] = [];
  let running = false;
  const next = async () => {
    running = true;
    for (let key = waiting.shift(); key !== undefined; key = waiting.shift()) {
      await work(key).catch(() => {}); // what fails is read by its first visitor
      await new Promise((resolve) => setTimeout(resolve, newPauseMs).unref());
    }
    running = false;
  };
  return (key) => {
    if (waiting.length >= newWaiting) return false;
    waiting.push(key);
    if (!running) void next();
    return true;
  };
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
