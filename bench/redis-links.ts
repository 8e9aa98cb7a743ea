/** Links in a private Redis, written and read as a server does, but without a server. */
import { systemClock } from "../src/base/clock.ts";
import { linkForm } from "../src/redirect/cache-format.ts";
import { type CachedLink, cachedLink } from "../src/redirect/link-source.ts";
import { createRedisCache, type RedisCache } from "../src/redis/cache.ts";
import { connectRedis, type Redis } from "../src/redis/client.ts";
import type { LinkNumber, TenantNumber } from "../src/sql/schema.ts";
import { until } from "../test/ground/process.ts";
import { type RedisServer, startRedis } from "../test/ground/redis.ts";
import { codeOf, urlOf } from "./many-links.ts";

export interface RedisLinks {
  readonly server: RedisServer;
  readonly redis: Redis;
  readonly tier: RedisCache<CachedLink>;
  /** Writes the links from `from` up to, but not including, `to`. */
  fill(from: number, to: number, more?: Partial<CachedLink>): Promise<void>;
  close(): Promise<void>;
}

/** On a busy machine 50 ms pass quickly, and this does not measure deadlines. */
const deadlineMs = 10_000;
const atOnce = 500;
const position = "00000000000000000000.0000000000000001";

export async function openRedisLinks(): Promise<RedisLinks> {
  const server = await startRedis();
  const redis = connectRedis(server.url, { deadlineMs });
  await until("Redis to be connected to", () =>
    redis.ping().then(
      () => true,
      () => undefined,
    ),
  );
  const tier = createRedisCache({ redis, form: linkForm, clock: systemClock });
  for (const one of tier.servers()) {
    await tier.stand(one);
    await tier.begin(one, position);
  }
  return {
    server,
    redis,
    tier,
    async fill(from, to, more = {}) {
      for (let n = from; n < to; n += atOnce) {
        for (let i = n; i < Math.min(to, n + atOnce); i++) put(tier, codeOf(i), more);
        await redis.ping(); // answered after what was sent before it
      }
    },
    async close() {
      await redis.close();
      await server.stop();
    },
  };
}

function put(tier: RedisCache<CachedLink>, code: string, more: Partial<CachedLink>): void {
  const ticket = tier.ticket(code);
  if (ticket === undefined) throw new Error("Redis may not be written to");
  tier.put(code, { version: 1, value: { ...plainLink(code), ...more } }, ticket);
}

const plainLink = (code: string): CachedLink =>
  cachedLink({
    ...{ url: urlOf(code), file: null, permanent: false, expiresAt: null, fallbackUrl: null },
    ...{ password: false, suspended: false, hitsPerMonth: null, choice: null },
    clicks: { link: 12_345_678 as LinkNumber, tenant: -1_234 as TenantNumber, tags: [], facts: true },
  });
