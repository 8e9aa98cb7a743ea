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
import type { Claim } from "../proof.ts";

export const seedPolicy = "seed_policy";

const links = 1_000;
/** If none of them was stale: a few in a thousand are, so that once in a while a thousand has none. */
const linksMost = 10_000;
const readers = 2;
const lingerMs = 4;
const betweenMostMs = 3;
const lifeSeconds = "3600";

export async function trySeedPolicy(databaseUrl: string, redisUrl: string): Promise<Claim> {
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
    const stale = new Set<string>();
    for (let i = 0; i < links || (stale.size === 0 && i < linksMost); i++) {
      const code = `seed-${i}`;
      await writer.query("insert into seed_policy values ($1, 1)", [code]);
      await underReaders(redis, reading, code, async () => {
        await change(redis, writer, code);
        await Bun.sleep(Math.random() * betweenMostMs);
        await change(redis, writer, code);
        acked.set(code, performance.now());
        await Bun.sleep(lingerMs);
      });
      if (await isStale(redis, code)) stale.add(code);
    }
    const ages: number[] = [];
    for (const [code, at] of acked) if (await isStale(redis, code)) ages.push(performance.now() - at);
    console.log(
      `${seedPolicy} links=${acked.size} stale_fills=${ages.length} longest_ms=${Math.round(Math.max(0, ...ages))} (when we stopped looking)`,
    );
    return {
      ...{ scenario: seedPolicy, measure: "stale_fills" },
      promise: "to delete the key on a change is not enough: old versions stay in Redis",
      ...{ done: `${acked.size} links changed under ${readers} readers, with our first design`, times: acked.size },
      ...{ figure: ages.length, bound: { least: 1 } },
    };
  } finally {
    await Promise.all(clients.map((client) => client.end()));
    await redis.close();
  }
}

/** Nobody reads or changes it any more. */
async function isStale(redis: Redis, code: string): Promise<boolean> {
  const stored = await redis.send(keyOf(code), ["GET", keyOf(code)]);
  return stored !== null && Number(stored) < 3;
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
