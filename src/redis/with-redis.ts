import { type Clock, systemClock } from "../base/clock.ts";
import { connectRedis, type Redis } from "./client.ts";

/** A connection to Redis for one task that can wait longer than a visitor. Throws if Redis is unavailable. */
export async function withRedis<Result>(
  url: string,
  work: (redis: Redis) => Promise<Result>,
  clock: Clock = systemClock,
): Promise<Result> {
  const redis = connectRedis(url, { deadlineMs });
  try {
    await connected(redis, clock);
    return await work(redis);
  } finally {
    await redis.close();
  }
}

const deadlineMs = 2_000;
const connectMs = 3_000;
const lookMs = 50;

async function connected(redis: Redis, clock: Clock): Promise<void> {
  for (const started = clock.elapsed(); ; ) {
    try {
      return await redis.ping();
    } catch (error) {
      if (clock.elapsed() - started > connectMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  }
}
