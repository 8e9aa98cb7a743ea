import type { Clock } from "../base/clock.ts";
import type { Change } from "../cache/feed.ts";
import { cacheKey } from "../links/link.ts";
import { linkForm } from "../redirect/cache-format.ts";
import type { CachedLink } from "../redirect/link-source.ts";
import { createRedisCache, type RedisCache, type RedisCacheOptions } from "../redis/cache.ts";
import type { Redis } from "../redis/client.ts";

/** The cache of links in Redis, the same for servers and commands. */
export const openTier = (
  redis: Redis,
  clock: Clock,
  more: Pick<RedisCacheOptions<CachedLink>, "written" | "lifeMs" | "missingMs" | "jitter" | "onEmpty"> = {},
): RedisCache<CachedLink> => createRedisCache({ redis, form: linkForm, keyOf, clock, ...more });

const keyOf = (change: Change): string | undefined =>
  change.kind === "link" ? cacheKey(change.domain, change.code) : undefined;
