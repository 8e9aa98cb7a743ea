/**
 * Two regions. The first has PostgreSQL and a Redis; the second writes to that PostgreSQL, reads from its own replica,
 * has its own Redis for links, and counts limits in the first region's.
 */
import { Client } from "pg";
import { startSubject } from "../../bench/subject.ts";
import { type Replica, startReplica } from "../../test/ground/postgres.ts";
import { startProxy } from "../../test/ground/proxy.ts";
import { startRedis } from "../../test/ground/redis.ts";
import { type Server, startServer } from "../../test/ground/server.ts";
import { createLink, type HotLink } from "../coherence/hot-link.ts";

export const regions = ["a", "b"] as const;
export type Region = (typeof regions)[number];

export interface Site {
  readonly servers: Readonly<Record<Region, Server>>;
  readonly replica: Replica;
  readonly links: readonly HotLink[];
  /** The code of a link that is never changed. */
  readonly idle: string;
  /** Of the replica, as the primary knows it. */
  lagMs(): Promise<number>;
  /** So much later comes every answer of the primary and the ledger to b. */
  far(ms: number): void;
  stop(): Promise<void>;
}

const linkCount = 12;

export async function startSite(): Promise<Site> {
  const [redisA, redisB] = await Promise.all([startRedis(), startRedis()]);
  const LIMITS_REDIS_URL = redisA.url;
  const subject = await startSubject("postgres", { REDIS_URL: redisA.url, LIMITS_REDIS_URL });
  const { postgres, env, server: a } = subject;
  if (postgres === undefined) throw new Error("there is no PostgreSQL");
  const replica = await startReplica(postgres);
  const DATABASE_REPLICA_URL = String(env.DATABASE_URL).replace(`:${postgres.port}/`, `:${replica.port}/`);
  const ways = await Promise.all([startProxy(postgres.port), startProxy(redisA.port)]);
  const [primary, ledger] = ways;
  const b = await startServer({
    env: {
      ...env,
      DATABASE_URL: primary.url(String(env.DATABASE_URL)),
      DATABASE_REPLICA_URL,
      REDIS_URL: redisB.url,
      LIMITS_REDIS_URL: ledger.url(LIMITS_REDIS_URL),
    },
    key: a.key,
  });
  const links: HotLink[] = [];
  for (let i = 0; i < linkCount; i++) links.push(await createLink(a, `hot-${i}`));
  const { code: idle } = await createLink(a, "idle");
  const sql = new Client({ connectionString: String(env.DATABASE_URL) });
  await sql.connect();
  return {
    servers: { a, b },
    replica,
    links,
    idle,
    far(ms) {
      for (const way of ways) way.delay(ms, "back");
    },
    async lagMs() {
      const lag = "select coalesce(max(extract(epoch from replay_lag)) * 1000, 0) as ms from pg_stat_replication";
      return Number((await sql.query<{ ms: string }>(lag)).rows[0]?.ms);
    },
    async stop() {
      await sql.end();
      await b.stop();
      for (const way of ways) way.stop();
      await replica.stop();
      await subject.stop();
      await Promise.all([redisA.stop(), redisB.stop()]);
    },
  };
}
