/** The stores that counters have to behave alike on: in process, one Redis, a Redis Cluster of three shards. */
import { afterAll, beforeAll, describe } from "bun:test";
import { manualClock, systemClock } from "../../src/base/clock.ts";
import { createMemoryCounters } from "../../src/in-memory/counters.ts";
import type { Counters } from "../../src/limits/counters.ts";
import { connectRedis, type Redis } from "../../src/redis/client.ts";
import { createRedisCounters } from "../../src/redis/counters.ts";
import { until } from "../ground/process.ts";
import { redisAvailable, startRedis, startRedisCluster } from "../ground/redis.ts";

export interface CounterStore {
  readonly counters: Counters;
  /** The store's time. */
  now(): Promise<number>;
  /** The store's time moves on by so much: at once where it is ours, else it is waited for. */
  pass(ms: number): Promise<void>;
  /** Where keys can be looked at and spoilt. */
  readonly redis: Redis | undefined;
  stop(): Promise<void>;
}

const startOfTime = Date.UTC(2026, 10, 16, 12, 0, 0);

/** For cases that depend on an answer of Redis, not on how fast a busy machine gives it. */
export const patientMs = 5_000;

async function memory(): Promise<CounterStore> {
  const clock = manualClock(startOfTime);
  return {
    counters: createMemoryCounters({ clock }),
    now: async () => clock.now(),
    pass: async (ms) => clock.advance(ms),
    redis: undefined,
    stop: async () => {},
  };
}

async function onRedis(start: () => Promise<{ url: string; stop(): Promise<void> }>): Promise<CounterStore> {
  const server = await start();
  const redis = connectRedis(server.url, { deadlineMs: patientMs });
  await connected(redis);
  const now = async () => {
    const [seconds, micros] = (await redis.send("any", ["TIME"])) as [string, string];
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  };
  return {
    counters: createRedisCounters({ redis, clock: systemClock }),
    now,
    pass: async (ms) => {
      const end = (await now()) + ms;
      await until(`${ms} ms to pass`, async () => (await now()) >= end || undefined);
    },
    redis,
    stop: async () => {
      await redis.close();
      await server.stop();
    },
  };
}

export async function connected(redis: Redis): Promise<void> {
  await until("Redis to be connected to", () =>
    redis.ping().then(
      () => true,
      () => undefined,
    ),
  );
}

const stores: readonly (readonly [name: string, start: () => Promise<CounterStore>])[] = [
  ["in process", memory],
  ...(redisAvailable()
    ? ([
        ["Redis", () => onRedis(startRedis)],
        ["Redis Cluster", () => onRedis(startRedisCluster)],
      ] as const)
    : []),
];

/** Runs the suite once for each store, and stops what it started. */
export function onEachStore(suite: (store: () => CounterStore, name: string) => void): void {
  for (const [name, start] of stores) {
    describe(name, () => {
      let store: CounterStore | undefined;
      beforeAll(async () => {
        store = await start();
      });
      afterAll(async () => {
        await store?.stop();
      });
      suite(() => {
        if (store === undefined) throw new Error("the store has not started");
        return store;
      }, name);
    });
  }
}
