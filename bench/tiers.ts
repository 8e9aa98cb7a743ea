/**
 * What a redirect costs, depending on where the link is found: in memory, in Redis or in SQL.
 *
 * Method: one server on PostgreSQL and Redis, with memory for about 7,500 links. A sample visits 5,000 different links
 * once each, over 8 connections. For memory, these are the same links every time, visited once just before. For Redis,
 * two such sets take turns, so that each pushes the other out of memory. For SQL, the links were never visited before.
 * Samples are interleaved. The server's own counters must confirm which tier answered.
 *
 * The figure is CPU time per redirect: of the server until it has recorded the visits, which costs the same in all
 * cases, and of the processes of Redis and PostgreSQL. So the difference is what a tier costs.
 */

import { systemClock } from "../src/base/clock.ts";
import { createTenants } from "../src/tenants/tenants.ts";
import { until } from "../test/ground/process.ts";
import { type RedisServer, startRedis } from "../test/ground/redis.ts";
import { cpuMicros, cpuMicrosOfTree } from "./cpu.ts";
import { visit } from "./line.ts";
import { codeOf, writeLinks } from "./many-links.ts";
import { rotated } from "./rounds.ts";
import { median, progress, round, table } from "./show.ts";
import { figures, openDatabase, type Subject, startSubject, untilIdle } from "./subject.ts";

const rounds = 7;
const linksPerSample = 5_000;
const connections = 8;
const cacheMb = 8;
/** The feed is read twice a second; if the machine stalls for longer, a few lookups go to SQL. */
const shareLeast = 0.9;

const tiers = ["memory", "redis", "sql"] as const;
type Tier = (typeof tiers)[number];

interface Sample {
  readonly server: number;
  readonly redis: number;
  readonly postgres: number;
  /** How many of the visits this tier answered. */
  readonly share: number;
}

export async function costOfTiers(): Promise<void> {
  const redis = await startRedis();
  const subject = await startSubject("postgres", { REDIS_URL: redis.url, QL_CACHE_MB: String(cacheMb) });
  const shown = progress();
  try {
    const sets = rounds + 4;
    shown.now("tiers: writing links");
    await fill(subject, sets * linksPerSample);
    const setOf = (set: number) => Array.from({ length: linksPerSample }, (_, i) => codeOf(set * linksPerSample + i));
    const [memory, ...inRedis] = [setOf(0), setOf(1), setOf(2)];
    const look = (codes: readonly string[]) => visit(subject.server.port, codes, connections);
    // In its first seconds the server does not use Redis. Its first key is its place in the change feed.
    await until("the server to use Redis", async () => Number(await redis.command("DBSIZE")) > 0 || undefined);
    for (const codes of inRedis) await look(codes);
    const samples: Record<Tier, Sample[]> = { memory: [], redis: [], sql: [] };
    for (let i = 0; i <= rounds; i++) {
      shown.now(`tiers: round ${i} of ${rounds}`);
      const sets: Record<Tier, readonly string[]> = { sql: setOf(i + 3), redis: inRedis[i % 2] ?? [], memory };
      for (const tier of rotated(tiers, i)) {
        if (tier === "memory") await look(memory);
        const taken = await sample(subject, redis, tier, () => look(sets[tier]));
        if (i > 0) samples[tier].push(taken);
      }
    }
    shown.end();
    report(samples);
  } finally {
    shown.end();
    await subject.stop();
    await redis.stop();
  }
}

async function fill({ env }: Subject, links: number): Promise<void> {
  const sql = openDatabase(String(env.DATABASE_URL));
  const tenant = await createTenants(sql, systemClock).bySlug("default");
  if (tenant === undefined) throw new Error("the server made no tenant");
  await writeLinks(sql, tenant.id, 0, links);
  await sql.close();
}

async function sample(
  { server, postgres }: Subject,
  redis: RedisServer,
  tier: Tier,
  work: () => Promise<void>,
): Promise<Sample> {
  await untilIdle(server);
  const read = async () => ({
    server: cpuMicros(server.pid),
    redis: cpuMicros(redis.pid),
    postgres: postgres === undefined ? 0 : cpuMicrosOfTree(postgres.pid),
    share: answeredBy(tier, await figures(server)),
  });
  const before = await read();
  await work();
  await untilIdle(server);
  const after = await read();
  const each = (name: keyof Sample) => (after[name] - before[name]) / linksPerSample;
  const share = each("share");
  if (share < shareLeast) throw new Error(`only ${share} of the visits were answered by ${tier}`);
  return { server: each("server"), redis: each("redis"), postgres: each("postgres"), share };
}

function answeredBy(tier: Tier, figure: (series: string) => number): number {
  if (tier !== "sql") return figure(`quicklink_cache_hit_total{tier="${tier}"}`);
  return figure('quicklink_cache_miss_total{tier="redis"}');
}

function report(samples: Readonly<Record<Tier, readonly Sample[]>>): void {
  const of = (tier: Tier, name: keyof Sample) => samples[tier].map((one) => one[name]);
  table([
    ["a redirect from", "server's CPU µs", "min", "Redis' CPU µs", "PostgreSQL's CPU µs", "from there"],
    ...tiers.map((tier) => [
      tier,
      round(median(of(tier, "server"))),
      round(Math.min(...of(tier, "server"))),
      round(median(of(tier, "redis"))),
      round(median(of(tier, "postgres"))),
      `${round(100 * median(of(tier, "share")))}%`,
    ]),
  ]);
  const [memory, redis, sql] = tiers.map((tier) => of(tier, "server"));
  const more = (one: readonly number[] = []) => round(median(one.map((micros, i) => micros - (memory?.[i] ?? 0))));
  console.log(
    `  the server's CPU on top of memory: ${more(redis)} µs for asking Redis, ${more(sql)} µs for Redis and SQL`,
  );
}
