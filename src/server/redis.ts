import type { Dependency } from "../http/health.ts";
import type { Redis, RedisOptions } from "../redis/client.ts";
import { createLimitsBreakers, type LimitsRedis } from "./limits.ts";
import type { Wiring } from "./wiring.ts";

/**
 * The server's connections to Redis. Two even if it is one Redis: a lookup waits for less time than a limit. Without an
 * address there are none. They connect and reconnect by themselves: nothing waits for Redis.
 */
export interface RedisClients {
  /** Not guarded: lookups add their own breakers. */
  readonly cache: Redis | undefined;
  /** Behind its circuit breakers. */
  readonly limits: LimitsRedis | undefined;
  readonly dependencies: readonly Dependency[];
  /** Reads the figures of all of its servers. */
  readonly sample: (() => Promise<unknown>) | undefined;
}

// Includes the thresholds of alerts: 5 and 20 ms.
const buckets = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1];

export async function openRedis({ core: { config, clock }, metrics, log, opened }: Wiring): Promise<RedisClients> {
  const { REDIS_URL: cacheUrl, limitsRedisUrl: limitsUrl } = config;
  if (limitsUrl === undefined) return { cache: undefined, limits: undefined, dependencies: [], sample: undefined };
  const { connectRedis } = await import("../redis/client.ts");
  const { withBreakers } = await import("../redis/with-breakers.ts");
  const { reportRedisInfo } = await import("../redis/info-metrics.ts");
  const [{ cacheScripts }, { leaseScripts }, { counterScripts }] = await Promise.all([
    import("../redis/cache.ts"),
    import("../redis/leases.ts"),
    import("../redis/counters.ts"),
  ]);
  const observe = metrics.histogram(
    "redis_command_duration_seconds",
    "Redis commands, from call to answer or timeout.",
    ["use", "command"],
    buckets,
  );
  const open = (use: "cache" | "limits", url: string, options: RedisOptions): Redis => {
    const redis = connectRedis(url, { ...options, observe: (command, seconds) => observe({ use, command }, seconds) });
    opened.defer(() => redis.close());
    return redis;
  };

  const ofCache = { deadlineMs: config.QL_REDIS_WAIT_MS, scripts: cacheScripts };
  const cache = cacheUrl === undefined ? undefined : open("cache", cacheUrl, ofCache);
  const unguarded = open("limits", limitsUrl, { scripts: [...leaseScripts, ...counterScripts] });
  const { all, visitors } = createLimitsBreakers({
    nodes: unguarded.owners,
    rule: config.breaker,
    clock,
    metrics,
    log,
  });
  const limits: LimitsRedis = Object.assign(withBreakers(unguarded, all), { visitors });
  const apart = cacheUrl !== limitsUrl;
  const samples = [
    ...(cache === undefined ? [] : [reportRedisInfo(cache, apart ? "cache" : "both", metrics)]),
    ...(apart ? [reportRedisInfo(limits, "limits", metrics)] : []),
  ];
  return {
    sample: () => Promise.all(samples.map((sample) => sample())),
    cache,
    limits,
    dependencies: [
      ...(cache === undefined ? [] : [{ name: "redis", ping: cache.ping }]),
      ...(apart ? [{ name: "limits-redis", ping: limits.ping }] : []),
    ],
  };
}
