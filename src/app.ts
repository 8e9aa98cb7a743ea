import { createBackground } from "./background.ts";
import { withDeadline } from "./base/deadline.ts";
import type { Logger } from "./base/log.ts";
import { createMetrics } from "./base/metrics.ts";
import { createCache } from "./cache/cache.ts";
import { follow } from "./cache/follow.ts";
import { type Config, prepareDataFolder } from "./config.ts";
import { type Core, openCore } from "./core.ts";
import { openCounters } from "./counters.ts";
import { openHits } from "./hits.ts";
import type { HttpApi } from "./http/api.ts";
import type { Dependency } from "./http/health.ts";
import { startServer } from "./http/server.ts";
import { createGuesses } from "./limits/guesses.ts";
import type { LinkApiSettings } from "./links/api.ts";
import { cacheKey } from "./links/link.ts";
import { createBots } from "./redirect/bots.ts";
import { type Known, linkSource, sizeOfKnown } from "./redirect/resolve.ts";
import { createRedirect } from "./redirect/serve.ts";
import type { Redis } from "./redis/client.ts";
import { createFeed } from "./sql/feed.ts";
import { lockFolder } from "./sql/folder-lock.ts";
import { scopes } from "./tenants/keys.ts";

/**
 * The composition root of the server: settings → adapters → subjects → socket. The only file that knows every part;
 * `core.ts` holds what it shares with the command line.
 */
export interface Running {
  readonly port: number;
  /** Set on the very first start: the key of the tenant `default`, which is nowhere else. */
  readonly firstKey: string | undefined;
  stop(): Promise<void>;
}

const stopMs = 8_000; // of the ten seconds that a stop may take, the part for requests that are still running
const flushMs = 5_000;
const cleanMs = 3_600_000;
const sqlDeadlineMs = 100;

export async function startApp(config: Config, log: Logger): Promise<Running> {
  if (config.embedded) prepareDataFolder(config);
  // What was opened, to be closed in the opposite order: at the end, or when a later step fails.
  const opened = new AsyncDisposableStack();
  try {
    return await serve(config, log, opened);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

async function serve(config: Config, log: Logger, opened: AsyncDisposableStack): Promise<Running> {
  const lock = config.embedded ? lockFolder(config.QL_DATA) : undefined;
  opened.defer(() => lock?.release());
  const changed = (domain: string, code: string, to: number) => cache.announce(cacheKey(domain, code), to);
  const core = await openCore(config, { log, changed, lockHeld: true });
  opened.defer(() => core.close());
  const { sql, clock, tenants, keys, store } = core;
  const metrics = createMetrics();

  // SQLite answers before a timer could run.
  const target: typeof store.target = config.embedded
    ? store.target
    : (domain, code) => withDeadline(store.target(domain, code), sqlDeadlineMs, "PostgreSQL");
  const cache = createCache<Known>({
    source: linkSource(target),
    clock,
    metrics,
    sizeBytes: config.QL_CACHE_MB * 1_048_576,
    sizeOf: sizeOfKnown,
  });
  metrics.gauge("quicklink_cache_links", "Links in memory.", () => cache.found);
  metrics.gauge("quicklink_cache_missing", "Codes in memory that lead nowhere.", () => cache.missing);

  const hits = await openHits(core, log);
  opened.defer(() => hits.close());
  metrics.gauge("quicklink_meters", "Links whose hits are being counted.", () => hits.meters.size);

  const feed = createFeed(sql);
  const announce = (change: { domain: string; code: string; version: number }) =>
    changed(change.domain, change.code, change.version);
  const follower = await follow(feed, announce, cache.followed, clock, log);
  opened.defer(() => follower.stop());
  const redis = await openRedis(config, opened);
  const counters = await openCounters(redis?.client, clock);
  const guesses = createGuesses({
    counters: counters.guesses,
    perMinute: config.QL_GUESSES_PER_MINUTE,
    clock,
    secretFor: core.secretFor,
  });
  metrics.gauge("quicklink_guessers", "Addresses that must wait before they guess again.", () => guesses.blocked);
  const background = createBackground(core);
  opened.defer(() => background.close());

  const createMany: LinkApiSettings["createMany"] = async ({ tenant }, inputs) => {
    const results = await background.createMany(tenant, inputs, "tenant");
    for (const result of results) if ("link" in result) announce(result.link);
    return results;
  };
  let loading: Promise<HttpApi> | undefined;
  const api = () => {
    loading ??= import("./api.ts").then(({ composeApi }) =>
      composeApi({ core, counters, guesses, createMany, busiest: background.busiest, log, metrics }),
    );
    return loading;
  };

  const server = startServer({
    hostname: config.HOST,
    port: config.PORT,
    baseUrl: config.baseUrl,
    redirect: createRedirect({
      cache,
      isBot: createBots(),
      meters: hits.meters,
      guesses,
      addressOf: (request) => server.addressOf(request),
      clock,
      metrics,
      log,
    }),
    api,
    dependencies: [{ name: "sql", ping: () => sql.ping() }, ...(redis ? [redis.dependency] : [])],
    canRedirect: () => cache.found > 0,
    metrics,
    metricsToken: config.QL_METRICS_TOKEN,
    trustedProxies: config.QL_TRUSTED_PROXIES,
    bodyLimitBytes: config.QL_BODY_LIMIT,
    clock,
    log,
  });

  opened.defer(() => server.stop(stopMs));
  setImmediate(() => void api());

  // Only now that nothing can fail any more: a key that nobody got to see would be lost.
  const firstKey = (await tenants.isEmpty()) ? await createFirstTenant(core) : undefined;

  const attempt = async (what: string, work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      log.warn({ error }, `${what} failed; it will be tried again`);
    }
  };
  const flushKeys = () => attempt("recording when keys were used", keys.flush);
  const timers = [
    setInterval(flushKeys, flushMs),
    setInterval(() => attempt("clearing away what is long past", background.clean), cleanMs),
  ];

  return {
    port: server.port,
    firstKey,
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await server.stop(stopMs);
      await flushKeys();
      await opened.disposeAsync();
    },
  };
}

interface OpenRedis {
  readonly client: Redis;
  readonly dependency: Dependency;
}

/** Connects by itself and again, whenever it is there: nothing waits for it. */
async function openRedis(config: Config, opened: AsyncDisposableStack): Promise<OpenRedis | undefined> {
  if (config.REDIS_URL === undefined) return undefined;
  const { connectRedis } = await import("./redis/client.ts");
  const client = connectRedis(config.REDIS_URL);
  opened.defer(() => client.close());
  return { client, dependency: { name: "redis", ping: () => client.ping() } };
}

async function createFirstTenant({ tenants, keys }: Core): Promise<string> {
  const tenant = await tenants.create("default", "Default");
  return (await keys.create(tenant.id, { name: "first key", scopes })).secret;
}
