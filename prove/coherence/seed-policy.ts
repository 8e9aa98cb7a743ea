/**
 * What our first cache design would have served: a change deletes the key, and the next reader that finds nothing reads
 * the row and stores it for an hour. On the same Redis and PostgreSQL, with nothing slowed down.
 *
 * Each link is changed twice in a row under two readers. A reader that read the row before a change and stores it after
 * the deletion leaves the old value, which is not corrected before the hour is over.
 */
import { Client } from "pg";
import { connectRedis, type Redis } from "../../src/redis/client.ts";
import { until } from "../../test/ground/process.ts";

export interface SeedPolicy {
  readonly links: number;
  /** Links that are served in an old version although nothing is in flight any more. */
  readonly staleFills: number;
  /** Since the change was acknowledged, as far as we waited. */
  readonly longestMs: number;
}

const links = 1_000;
const readers = 2;
const lingerMs = 4;
const betweenMostMs = 3;
const lifeSeconds = "3600";

export async function trySeedPolicy(databaseUrl: string, redisUrl: string): Promise<SeedPolicy> {
  const redis = connectRedis(redisUrl, { deadlineMs: 5_000 });
  const clients = Array.from({ length: readers + 1 }, () => new Client({ connectionString: databaseUrl }));
  try {
    await until("Redis", () =>
      redis.ping().then(
        () => true,
        () => undefined,
      ),
    );
    await Promise.all(clients.map((client) => client.connect()));
    const [writer, ...reading] = clients as [Client, ...Client[]];
    await writer.query("create table seed_policy (code text primary key, version int not null)");
    const acked = new Map<string, number>();
    for (let i = 0; i < links; i++) {
      const code = `seed-${i}`;
      await writer.query("insert into seed_policy values ($1, 1)", [code]);
      await underReaders(redis, reading, code, async () => {
        await change(redis, writer, code);
        await Bun.sleep(Math.random() * betweenMostMs);
        await change(redis, writer, code);
        acked.set(code, performance.now());
        await Bun.sleep(lingerMs);
      });
    }
    const ages: number[] = [];
    for (const [code, at] of acked) {
      const stored = await redis.send(keyOf(code), ["GET", keyOf(code)]);
      if (stored !== null && Number(stored) < 3) ages.push(performance.now() - at);
    }
    return { links, staleFills: ages.length, longestMs: Math.max(0, ...ages) };
  } finally {
    await Promise.all(clients.map((client) => client.end()));
    await redis.close();
  }
}

const keyOf = (code: string): string => `seed-policy:${code}`;

async function change(redis: Redis, writer: Client, code: string): Promise<void> {
  await writer.query("update seed_policy set version = version + 1 where code = $1", [code]);
  await redis.send(keyOf(code), ["DEL", keyOf(code)]);
}

async function underReaders(redis: Redis, reading: readonly Client[], code: string, work: () => Promise<void>) {
  let wanted = true;
  const reads = reading.map(async (client) => {
    while (wanted) {
      if ((await redis.send(keyOf(code), ["GET", keyOf(code)])) !== null) continue;
      const { rows } = await client.query<{ version: number }>("select version from seed_policy where code = $1", [
        code,
      ]);
      await redis.send(keyOf(code), ["SETEX", keyOf(code), lifeSeconds, String(rows[0]?.version)]);
    }
  });
  await work();
  wanted = false;
  await Promise.all(reads);
}
