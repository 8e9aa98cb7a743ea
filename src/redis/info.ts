import type { Redis } from "./client.ts";

/** The figures from INFO that are used here. */
export interface RedisInfo {
  readonly version: string;
  readonly usedBytes: number;
  /** 0 means no limit. */
  readonly maxBytes: number;
  readonly policy: string;
  readonly evictedKeys: number;
}

/** `server` is one of `redis.servers()`. */
export async function readInfo(redis: Redis, server: string): Promise<RedisInfo> {
  const text = String(await redis.sendTo(server, ["INFO"]));
  const fields = new Map([...text.matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, name = "", value = ""]) => [name, value]));
  return {
    version: fields.get("redis_version") ?? "",
    usedBytes: Number(fields.get("used_memory") ?? 0),
    maxBytes: Number(fields.get("maxmemory") ?? 0),
    policy: fields.get("maxmemory_policy") ?? "",
    evictedKeys: Number(fields.get("evicted_keys") ?? 0),
  };
}
