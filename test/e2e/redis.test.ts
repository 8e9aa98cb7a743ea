import { describe, expect, test } from "bun:test";
import { postgresAvailable } from "../ground/postgres.ts";
import { until } from "../ground/process.ts";
import { redisAvailable, startRedis } from "../ground/redis.ts";
import { startSite } from "./servers.ts";

interface Ready {
  readonly status: string;
  readonly dependencies: Record<string, { readonly ok: boolean }>;
}

if (postgresAvailable() && redisAvailable()) {
  describe("with Redis", () => {
    test("its state is shown, and its death degrades nothing but that, until it is back", async () => {
      const redis = await startRedis();
      const site = await startSite("PostgreSQL", { REDIS_URL: redis.url });
      const ready = async () => (await site.visit("/readyz")).json<Ready>();
      await until("Redis", async () => (await ready()).dependencies.redis?.ok || undefined);
      expect((await ready()).status).toBe("ready");

      const link = await site.create({ url: "https://example.com/" });
      expect((await site.reach(`/${link.code}`)).status).toBe(302);
      await redis.kill();
      await until("the loss", async () => (await ready()).dependencies.redis?.ok === false || undefined);
      expect((await ready()).status).toBe("degraded");
      expect((await site.reach(`/${link.code}`)).status).toBe(302);

      await redis.restart();
      await until("the return", async () => (await ready()).status === "ready" || undefined);
      expect(await site.server.stop()).toBe(0);
      await redis.stop();
    });

    test("a Redis of its own for limits is shown beside the other, or alone", async () => {
      const [cache, limits] = await Promise.all([startRedis(), startRedis()]);
      const parts = async (env: Record<string, string>) => {
        const site = await startSite("PostgreSQL", env);
        const ready = async () => (await site.visit("/readyz")).json<Ready>();
        await until("all of it", async () => (await ready()).status === "ready" || undefined);
        const { dependencies } = await ready();
        expect(await site.server.stop()).toBe(0);
        return Object.keys(dependencies);
      };
      expect(await parts({ REDIS_URL: cache.url, LIMITS_REDIS_URL: limits.url })).toEqual([
        ...["sql", "redis", "limits-redis"],
      ]);
      expect(await parts({ LIMITS_REDIS_URL: limits.url })).toEqual(["sql", "limits-redis"]);
      expect(await parts({ REDIS_URL: cache.url, LIMITS_REDIS_URL: cache.url })).toEqual(["sql", "redis"]);
      await Promise.all([cache.stop(), limits.stop()]);
    });
  });
}
