import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { LinkMeta } from "../../src/cache/link-meta.ts";
import { connectRedis, type Redis } from "../../src/redis/client.ts";
import { createMetaCache } from "../../src/redis/link-meta.ts";
import { type RedisServer, redisAvailable, startRedis } from "../ground/redis.ts";
import { connected, patientMs } from "./counter-stores.ts";

const meta: LinkMeta = { version: 3, hits: 15_234, expiresAt: 1_703_000_000_000, status: "active" };

if (redisAvailable()) {
  describe("what Redis has of a link for the operator", () => {
    let server: RedisServer;
    let redis: Redis;

    beforeAll(async () => {
      server = await startRedis();
      redis = connectRedis(server.url, { deadlineMs: patientMs });
      await connected(redis);
    });

    afterAll(async () => {
      await redis.close();
      await server.stop();
    });

    test("is stored under the documented names", async () => {
      await createMetaCache(redis).put("abc123", meta);
      expect(JSON.parse(await server.command("GET", "ql:v1:meta:{abc123}"))).toEqual({
        ...{ c: 15_234, e: 1_703_000_000, s: "active", v: 3 },
      });
    });

    test.each([
      meta,
      { ...meta, expiresAt: null, status: "disabled" },
      { ...meta, hits: 0, status: "expired" },
    ] as const)("comes back as it was put: %p", async (one) => {
      const cache = createMetaCache(redis);
      await cache.put("a", one);
      expect(await cache.get("a")).toEqual(one);
    });

    test.each([
      [0, 828],
      [0.5, 900],
      [1, 972],
    ])("is kept for a quarter of an hour, more or less 8 %%: at %p for %d s", async (random, seconds) => {
      await createMetaCache(redis, () => random).put("a", meta);
      expect(Number(await server.command("TTL", "ql:v1:meta:{a}"))).toBeWithin(seconds - 5, seconds + 1);
    });

    test("is nothing where there is nothing, or what is not ours", async () => {
      const cache = createMetaCache(redis);
      expect(await cache.get("never-there")).toBeUndefined();
      for (const garbage of [
        "not JSON",
        "null",
        "{}",
        '{"c":1,"e":null,"s":"new","v":1}',
        '{"c":-0.5,"e":1,"s":"active","v":1}',
      ]) {
        await server.command("SET", "ql:v1:meta:{a}", garbage);
        expect(await cache.get("a")).toBeUndefined();
      }
    });
  });
}
