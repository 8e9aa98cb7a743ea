import type { Metrics } from "../base/metrics.ts";
import type { Redis } from "./client.ts";
import { type RedisInfo, readInfo } from "./info.ts";

/**
 * Redis's own metrics, read every 15 s, so that alerts need no separate exporter. All of our processes ask the same
 * servers, so the merged value is the maximum, not the sum. A server that does not answer has no values, rather than
 * old ones.
 */
export type RedisUse = "cache" | "limits" | "both";

const labels = ["use", "node"];
const merged = "max";

export function reportRedisInfo(redis: Redis, use: RedisUse, metrics: Metrics): () => Promise<void> {
  let infos = new Map<string, RedisInfo>();

  async function poll(): Promise<void> {
    const answers = await Promise.allSettled(
      redis.servers().map(async (server) => [redis.nodeOf(server), await readInfo(redis, server)] as const),
    );
    infos = new Map(answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : [])));
  }

  const read = (field: "usedBytes" | "maxBytes" | "evictedKeys") => () =>
    [...infos].map(([node, info]) => [{ use, node }, info[field]] as const);
  const gauge = (name: string, help: string, field: "usedBytes" | "maxBytes") =>
    metrics.series("gauge", { name, help, labels, merged }, read(field));
  gauge("redis_memory_used_bytes", "Memory used by Redis.", "usedBytes");
  gauge("redis_memory_max_bytes", "maxmemory of Redis; 0 means no limit.", "maxBytes");
  metrics.series(
    "counter",
    { name: "redis_evicted_keys_total", help: "Keys that Redis evicted to free memory.", labels, merged },
    read("evictedKeys"),
  );

  return poll;
}
