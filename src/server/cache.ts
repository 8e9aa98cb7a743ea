import { createBreakers } from "../base/breaker.ts";
import type { PersonId } from "../base/ids.ts";
import type { Logger } from "../base/log.ts";
import { type Cache, createCache, type Source } from "../cache/cache.ts";
import { type ChangeRates, createChangeRates } from "../cache/changes.ts";
import { createCorrectTier } from "../cache/correct-tier.ts";
import type { Change, Publish } from "../cache/feed.ts";
import { type Follower, follow } from "../cache/follow.ts";
import { gatheredSource, type LoadMany } from "../cache/gathered-source.ts";
import { type CacheCounts, countCache, uncounted } from "../cache/hit-counts.ts";
import { partOf } from "../cache/tier.ts";
import { createTiered } from "../cache/tiered.ts";
import { ttlMs } from "../cache/ttl.ts";
import type { HotLinks } from "../clicks/hot-links.ts";
import { type Core, lookupConnections, lookupsKeptOpen, openLookups, openReplica } from "../core.ts";
import { type Hosts, openHosts } from "../domains/hosts.ts";
import { createDomainStore } from "../domains/store.ts";
import { keysOfChange, type LinkKey } from "../links/link.ts";
import { createLinkStore } from "../links/store.ts";
import type { SharedValue } from "../redirect/cache-format.ts";
import { type CachedLink, linkSource, sizeOfCached } from "../redirect/link-source.ts";
import type { RedisCache, RedisCacheOptions } from "../redis/cache.ts";
import type { Redis } from "../redis/client.ts";
import { onWake, wake } from "../redis/wake.ts";
import { createFeed } from "../sql/feed.ts";
import { databaseName } from "../sql/migrate.ts";
import { watchReplica } from "../sql/replica.ts";
import type { Sql } from "../sql/sql.ts";
import type { KeyHash } from "../tenants/keys.ts";
import {
  createKnownTenants,
  isTenantKey,
  type KnownTenants,
  keyOfTenantChange,
  loadPlans,
  loadTenants,
  sizeOfPlan,
  sizeOfTenant,
  type TenantKey,
} from "../tenants/known-tenants.ts";
import type { Limits, TenantRecord } from "../tenants/tenants.ts";
import type { Wiring } from "./wiring.ts";

/**
 * Where redirects look up links and their tenants: memory, then Redis if there is one, then SQL; and the change feed that
 * keeps the first two no older than promised.
 *
 * In a region with a replica, lookups and the feed both read the replica, so reads are never ahead of the feed. A
 * change made here is then not announced here before the replica has it, because it cannot be read until then.
 */
export interface LinkCache {
  readonly links: Cache<CachedLink, LinkKey>;
  /** Whom links and API calls belong to, and what their plans allow. */
  readonly tenants: KnownTenants;
  /** Decides whose host a request came to. */
  readonly hosts: Hosts;
  /** The database that lookups read, if it is not the primary. */
  readonly replica: Sql | undefined;
  /** Reads how far it is behind. */
  readonly sampleReplica: (() => Promise<void>) | undefined;
  /** Loads these before the first visit. Those that cannot be loaded are skipped. */
  warm(keys: readonly LinkKey[]): Promise<void>;
  /** After a commit: this process serves nothing older, and the other servers are woken. */
  readonly publish: Publish;
}

/** Links. */
const sqlWaiting = 10_000;
const sqlFailures = 0.5;
const tenantBytes = 8 * 1_048_576;
const planBytes = 1_048_576;
const lagBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 3, 10];
const newPauseMs = 20;
const newWaiting = 100;
const warmAtOnce = 4;
const warmTries = 5;
const warmPauseMs = 500;

export interface CacheParts {
  /** That of the cache; without it, memory is in front of SQL. */
  readonly redis: Redis | undefined;
  /** Of `openVisits`. */
  readonly visits: Sql;
  readonly hot: HotLinks;
}

export async function openCache(wiring: Wiring, { redis, visits, hot }: CacheParts): Promise<LinkCache> {
  const { core, metrics, log, opened } = wiring;
  const { config, clock } = core;
  const counts = countCache(metrics);
  const replica = await openReplica(config, log);
  opened.defer(() => replica?.close());
  const sql = replica ?? core.sql;
  const sampleReplica = watchReplica(replica, metrics);
  const changes = createChangeRates(clock);
  const tiers = await openTiers(wiring, { redis, sql, visits, hot, changes, counts });
  const links = createCache<CachedLink, LinkKey>({
    source: tiers.source,
    clock,
    counts,
    sizeBytes: config.QL_CACHE_MB * 1_048_576,
    sizeOf: sizeOfCached,
    wait: config.wait,
    jitter: config.QL_CACHE_JITTER,
  });
  const tenants = openTenants(wiring, tiers);
  metrics.gauge("quicklink_cache_links", "Links in memory.", () => links.found);
  metrics.gauge("quicklink_cache_missing", "Unknown codes in memory.", () => links.missing);
  const hosts = await openHosts({ load: createDomainStore(sql).verified, own: config.ownNames, log });
  metrics.gauge("quicklink_domains", "Custom domains served.", () => hosts.size, "max");

  const follower = await followFeed(wiring, { sql, tier: tiers.redis, links, tenants, hosts, changes });
  const listening = redis && (await onWake(redis, follower.wake));
  opened.defer(() => listening?.close());
  const wakeOthers = redis && oncePerTurn(() => wake(redis));
  return {
    links,
    tenants,
    hosts,
    replica,
    sampleReplica,
    warm: (keys) => some(keys, (key) => warmOne(links, tenants, key)),
    publish(change) {
      announceCaller(core, change);
      if (change.kind === "domain" && replica === undefined) hosts.changed(change.key);
      const { version } = change;
      const tenant = keyOfTenantChange(change);
      if (tenant !== undefined) tiers.redis?.fenceOne(tenant, version).catch(() => {});
      if (replica === undefined) tenants.announce(change);
      for (const key of keysOfChange(change)) {
        if (replica === undefined) links.announce(key, version);
        // Best effort and not awaited: the feed says the same a moment later.
        if (version !== 1 || !tiers.created?.(key)) tiers.redis?.fenceOne(key, version).catch(() => {});
      }
      wakeOthers?.();
    },
  };
}

interface Tiers {
  /** Where memory is filled from. */
  readonly source: Source<CachedLink>;
  readonly tenants: Source<TenantRecord>;
  readonly plans: Source<Limits>;
  readonly redis: RedisCache<SharedValue> | undefined;
  /** Writes a new link to Redis; returns whether there is room for it. */
  readonly created: ((key: string) => boolean) | undefined;
}

interface TierParts {
  readonly redis: Redis | undefined;
  readonly sql: Sql;
  readonly visits: Sql;
  readonly hot: HotLinks;
  readonly changes: ChangeRates;
  readonly counts: CacheCounts;
}

async function openTiers(wiring: Wiring, { redis, sql, visits, hot, changes, counts }: TierParts): Promise<Tiers> {
  const { core, log, opened } = wiring;
  const { config, clock } = core;
  const lookups = await openLookups(config, sql, log);
  if (lookups !== sql) opened.defer(() => lookups.close());
  const gathered = openGathered(wiring);
  const store = createLinkStore(config.embedded ? visits : lookups);
  const fromSql = gathered(linkSource(store.targets), counts);
  const [tenantsOf, plansOf] = [loadTenants(lookups), loadPlans(lookups)];
  if (!config.embedded)
    await openConnections(lookupsKeptOpen(config), log, [
      () => store.targets([nowhere]),
      () => tenantsOf([noTenant]),
      () => plansOf([noPlan]),
    ]);
  const tenants = gathered(tenantsOf, uncounted());
  const plans = gathered(plansOf, uncounted());
  if (redis === undefined)
    return { source: counted(fromSql, counts), tenants, plans, redis: undefined, created: undefined };
  const { isCachedLink, isTenantRecord } = await import("../redirect/cache-format.ts");
  const usualMs = config.QL_CACHE_TTL_SECONDS * 1_000;
  const tier = await openGuarded(redis, counts, wiring, {
    database: (await databaseName(sql)) ?? "",
    lifeMs: (key) => ttlMs(hot.perMinute(key), changes.perDay(key), usualMs),
    // A Redis that lost everything gets the hottest links back first.
    onEmpty: () => void some(hot.keys(), (key) => tiered.load(key, 0)),
  });
  const tiered = createTiered({ tier: partOf(tier, isCachedLink), sql: fromSql, counts, clock });
  const ofTenants = { tier: partOf(tier, isTenantRecord), sql: tenants, counts: uncounted(), clock };
  return {
    source: tiered,
    tenants: createTiered<TenantRecord>(ofTenants),
    plans,
    redis: tier,
    created: writeThrough((key) => tiered.writeThrough(key, 1)),
  };
}

/**
 * Opens the connections that lookups keep open, and runs what they look up once on each. Opening one, and planning a statement that it does
 * not know, takes PostgreSQL longer than some visitors wait: the first crowd after a start was refused.
 */
async function openConnections(
  connections: number,
  log: Logger,
  lookups: readonly (() => Promise<unknown>)[],
): Promise<void> {
  try {
    // As many at once as there are connections, so each takes another one.
    for (const lookup of lookups) await Promise.all(Array.from({ length: connections }, lookup));
  } catch (error) {
    log.warn({ error }, "cannot open the connections for lookups; opening them when they are needed");
  }
}

/** What no lookup finds. */
const nowhere = { domain: "", code: "" };
const [noTenant, noPlan] = ["/0", ""];

function openTenants({ core }: Wiring, { tenants: source, plans }: Tiers): KnownTenants {
  const { clock, config } = core;
  const shared = { clock, counts: uncounted(), wait: config.wait, jitter: config.QL_CACHE_JITTER };
  return createKnownTenants({
    tenants: createCache<TenantRecord, TenantKey>({ ...shared, source, sizeBytes: tenantBytes, sizeOf: sizeOfTenant }),
    plans: createCache<Limits>({ ...shared, source: plans, sizeBytes: planBytes, sizeOf: sizeOfPlan }),
    sql: core.sql,
    read: core.tenants.byId,
  });
}

async function warmOne(links: Cache<CachedLink, LinkKey>, tenants: KnownTenants, key: LinkKey): Promise<void> {
  const { value } = await links.lookup(key);
  if (value !== undefined) await tenants.lookup(value.clicks.tenant);
}

interface Following {
  readonly sql: Sql;
  readonly tier: RedisCache<SharedValue> | undefined;
  readonly links: Cache<CachedLink, LinkKey>;
  readonly tenants: KnownTenants;
  readonly hosts: Hosts;
  readonly changes: ChangeRates;
}

async function followFeed(
  { core, metrics, log, opened }: Wiring,
  { sql, tier, links, tenants, hosts, changes }: Following,
): Promise<Follower> {
  const { clock, access, knownKeys } = core;
  let followedAt = clock.elapsed();
  metrics.gauge(
    "quicklink_feed_age_seconds",
    "Seconds since the change feed was last read to its end.",
    () => (clock.elapsed() - followedAt) / 1_000,
    "max",
  );
  const observeLag = metrics.histogram(
    "quicklink_feed_lag_seconds",
    "Time from a change on another server until it is known here, by both machines' clocks.",
    [],
    lagBuckets,
  );
  const feed = createFeed(sql);
  const follower = await follow({
    feed,
    announce(change) {
      if (change.kind === "domain") hosts.changed(change.key);
      announceCaller(core, change);
      tenants.announce(change);
      const { version } = change;
      let isNews = false;
      for (const key of keysOfChange(change)) {
        // Links of an import are too many to be counted, and have not changed since.
        if (change.kind === "link") changes.add(key, version);
        if (links.announce(key, version)) isNews = true;
      }
      if (isNews) observeLag({}, Math.max(0, clock.now() - change.at) / 1_000);
    },
    followed(elapsed) {
      followedAt = elapsed;
      links.followed(elapsed);
      tenants.followed(elapsed);
      access.followed(elapsed);
      knownKeys.followed(elapsed);
    },
    ...(tier && { correct: createCorrectTier(tier, feed, log) }),
    clock,
    log,
  });
  opened.defer(() => follower.stop());
  return follower;
}

/** Callers are read from the primary, so what is announced can be read at once. */
function announceCaller({ access, knownKeys }: Core, change: Change): void {
  if (change.kind === "session") access.announce(change.key as PersonId, change.version);
  if (change.kind === "key") knownKeys.announce(change.key as KeyHash, change.version);
}

type Gathered = <Value>(load: LoadMany<Value>, counts: CacheCounts) => Source<Value>;

/**
 * SQLite has one reader, and answers all lookups of a turn before a timer could fire: it needs no deadline. PostgreSQL may
 * be slow, unavailable or busy.
 */
function openGathered({ core: { config, clock }, metrics, log }: Wiring): Gathered {
  const limits = { waiting: sqlWaiting, waitMs: config.QL_SQL_WAIT_MS, clock };
  if (config.embedded) {
    return (loadMany, counts) => {
      const source = gatheredSource(loadMany, { ...limits, counts, atOnce: 1, run: (work) => work() });
      return { load: (key, atLeast) => source.load(key, atLeast) };
    };
  }
  const breakers = createBreakers({
    of: "sql",
    nodes: () => ["sql"],
    // A hanging lookup keeps its connection, so fewer can fail at once than there are connections.
    rule: {
      ...config.breaker,
      failures: Math.max(1, Math.min(config.breaker.failures, lookupConnections(config) - 1)),
      share: sqlFailures,
    },
    metrics,
    clock,
    onChange: (open) =>
      open
        ? log.error("PostgreSQL lookups fail too often; pausing lookups")
        : log.info("PostgreSQL is available for lookups again"),
  });
  const { run } = breakers.of("sql");
  return (loadMany, counts) => gatheredSource(loadMany, { ...limits, counts, atOnce: lookupConnections(config), run });
}

const counted = (sql: Source<CachedLink>, { miss }: CacheCounts): Source<CachedLink> => ({
  load(key, atLeast, visit) {
    miss.memory++;
    return sql.load(key, atLeast, visit);
  },
});

/** The tier behind its circuit breakers. */
async function openGuarded(
  redis: Redis,
  { events }: CacheCounts,
  { core: { clock, config }, metrics, log }: Wiring,
  options: Pick<RedisCacheOptions<SharedValue>, "database" | "lifeMs" | "onEmpty">,
): Promise<RedisCache<SharedValue>> {
  const { sharedForm } = await import("../redirect/cache-format.ts");
  const { createRedisCache } = await import("../redis/cache.ts");
  const { withBreakers } = await import("../redis/with-breakers.ts");
  const breakers = createBreakers({
    of: "cache",
    nodes: redis.owners,
    rule: config.breaker,
    metrics,
    clock,
    onChange: (open, node) =>
      open
        ? log.warn({ node }, "Redis fails too often; pausing lookups in Redis")
        : log.info({ node }, "Redis is available for lookups again"),
  });
  return createRedisCache({
    redis: withBreakers(redis, breakers),
    form: sharedForm,
    clock,
    ...options,
    missingMs: config.QL_CACHE_MISSING_TTL_SECONDS * 1_000,
    jitter: config.QL_CACHE_JITTER,
    written(kind, key) {
      if (!isTenantKey(key)) events[kind === "link" ? "link_written" : "missing_written"]++;
    },
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
 * Writes new links to Redis, so that the first visitor on any server finds them there. At most fifty a second, and a
 * hundred may wait: reading each link back doubled PostgreSQL's work per create, so clients that create links by the
 * thousand get fences for the rest. Returns whether there is room.
 */
function writeThrough(work: (key: string) => Promise<void>): (key: string) => boolean {
  const waiting: string[] = [];
  let running = false;
  const next = async () => {
    running = true;
    for (let key = waiting.shift(); key !== undefined; key = waiting.shift()) {
      await work(key).catch(() => {}); // a failure leaves it to the first visitor
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
function oncePerTurn(work: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    setImmediate(() => {
      waiting = false;
      work();
    });
  };
}
