/**
 * What the tiers of the cache cost. Four benchmarks, each with its method at the top of its file: a redirect from
 * memory, Redis and SQL; the latency of Redis; how much memory a link takes in Redis; and a lookup in SQL by number of
 * links.
 */
import type { Bench } from "./bench.ts";
import { lookups } from "./lookups.ts";
import { redisBytes } from "./redis-bytes.ts";
import { redisLatency } from "./redis-latency.ts";
import { costOfTiers } from "./tiers.ts";

export const cache: Bench = {
  name: "cache",
  shows: "a redirect from memory, Redis and SQL; latency and bytes in Redis; lookups among a million links",
  needs: ["postgresql", "redis-server"],
  async run() {
    await costOfTiers();
    return [...(await redisLatency()), ...(await redisBytes()), ...(await lookups())];
  },
};
