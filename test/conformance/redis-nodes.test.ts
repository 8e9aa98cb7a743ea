import { expect, test } from "bun:test";
import { createBreakers } from "../../src/base/breaker.ts";
import { systemClock } from "../../src/base/clock.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import { connectRedis } from "../../src/redis/client.ts";
import { withBreakers } from "../../src/redis/with-breakers.ts";
import { until } from "../ground/process.ts";
import { redisAvailable, startRedisCluster } from "../ground/redis.ts";

const rule = { failures: 5, windowMs: 60_000, share: 0.1, pauseMostMs: 30_000 };

if (redisAvailable()) {
  test("a node of a Cluster that is dead is left alone, and the others are not", async () => {
    const cluster = await startRedisCluster();
    // Else the others refuse everything as soon as they notice.
    for (const shard of cluster.shards) await shard.command("CONFIG", "SET", "cluster-require-full-coverage", "no");
    const redis = connectRedis(cluster.url, { deadlineMs: 1_000 });
    const changes: string[] = [];
    const breakers = createBreakers({
      of: "test",
      nodes: redis.owners,
      rule,
      metrics: createMetrics(),
      clock: systemClock,
      onChange: (open, node) => changes.push(`${node} ${open}`),
    });
    const careful = withBreakers(redis, breakers);
    const [dead, ...others] = cluster.shards;
    const nodeOf = (shard: { port: number } | undefined) => `127.0.0.1:${shard?.port}`;
    const keyOn = (node: string) => {
      for (let i = 0; ; i++) if (redis.ownerOf(`key-${i}`) === node) return `key-${i}`;
    };
    await until("the cluster", async () => redis.owners().length === 3 || undefined);
    const lost = keyOn(nodeOf(dead));
    const kept = others.map((shard) => keyOn(nodeOf(shard)));
    const get = (key: string) => careful.send(key, ["GET", key]);
    // Its connections are made one by one, when they are first needed.
    for (const key of [lost, ...kept])
      await until("an answer", async () =>
        redis.send(key, ["GET", key]).then(
          () => true,
          () => undefined,
        ),
      );
    for (const key of [lost, ...kept]) expect(await get(key)).toBeNull();

    dead?.pause();
    await until("it to be left alone", async () => {
      // Together, as visitors come; the others answer meanwhile, so the way to the cluster is not taken for dead.
      await Promise.allSettled([...kept.map(get), ...Array.from({ length: 3 }, () => get(lost))]);
      return breakers.of(nodeOf(dead)).open || undefined;
    });
    for (const key of kept) for (let i = 0; i < 10; i++) expect(await get(key)).toBeNull();
    expect(changes).toEqual([`${nodeOf(dead)} true`]);

    dead?.resume();
    await redis.close();
    await cluster.stop();
  }, 60_000);
}
