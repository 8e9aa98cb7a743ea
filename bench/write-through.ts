/**
 * What it costs to write every new link to Redis when it is created, and what the first visitor gains.
 *
 * Method: two servers on one PostgreSQL and one Redis, in two variants: as they are, and as a copy of the program that
 * writes a fence instead, so that the first visitor reads SQL. wrk creates links on the first server over 16
 * connections; the CPU time of the server, PostgreSQL and Redis per create is read from the kernel. Then links are
 * created one by one, and each is visited once on the second server, which has not seen it before. Rounds are
 * interleaved.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { mutant } from "../test/ground/mutant.ts";
import { type RedisServer, startRedis } from "../test/ground/redis.ts";
import { type Server, startServer } from "../test/ground/server.ts";
import { tempFolder } from "../test/ground/temp.ts";
import type { Bench } from "./bench.ts";
import { cpuMicros, cpuMicrosOfTree } from "./cpu.ts";
import { createLine } from "./line.ts";
import { load } from "./load.ts";
import { rotated } from "./rounds.ts";
import { median, progress, quantile, round, table } from "./show.ts";
import { authorization, createLink, destination, figures, type Subject, startSubject } from "./subject.ts";

export const writeThrough: Bench = {
  name: "write-through",
  shows: "creates with and without putting the new link into Redis, and the first visit on another server",
  needs: ["wrk", "postgresql", "redis-server"],
  run,
};

const rounds = 3;
const roundSeconds = 3;
const connections = 16;
const visits = 200;
const settleMs = 50;

/** Writes a fence for a new link, as for a changed one. */
const without = () =>
  mutant([{ file: "server/cache.ts", from: "if (version !== 1 || !tiers.created?.(key)) tiers", to: "tiers" }]);

interface Site {
  readonly name: string;
  readonly subject: Subject;
  readonly redis: RedisServer;
  readonly other: Server;
}

interface Sample {
  readonly perSecond: number;
  readonly serverMicros: number;
  readonly postgresMicros: number;
  readonly redisMicros: number;
  readonly firstVisitMs: readonly number[];
  readonly fromRedis: number;
}

async function run(): Promise<readonly []> {
  const shown = progress();
  const sites = [await open("written through"), await open("a fence only", without())];
  try {
    const samples = new Map(sites.map((site): [Site, Sample[]] => [site, []]));
    for (let i = -1; i < rounds; i++) {
      for (const site of rotated(sites, i + 1)) {
        shown.now(i < 0 ? `warming up: ${site.name}` : `round ${i + 1} of ${rounds}: ${site.name}`);
        const sample = await measure(site);
        if (i >= 0) samples.get(site)?.push(sample);
      }
    }
    shown.end();
    report(samples);
    return [];
  } finally {
    for (const { subject, other, redis } of sites) {
      await other.stop();
      await subject.stop();
      await redis.stop();
    }
  }
}

async function open(name: string, source?: string): Promise<Site> {
  const redis = await startRedis();
  const first = await startSubject("postgres", { REDIS_URL: redis.url });
  const { env, server } = first;
  const other = await startServer({ env, key: server.key });
  if (source === undefined) return { name, subject: first, redis, other };
  await server.stop();
  const { key, port, dataDir } = server;
  const again = await startServer({ env, key, port, dataDir, source });
  const stop = async () => {
    await again.stop();
    await first.postgres?.stop();
  };
  return { name, subject: { ...first, server: again, stop }, redis, other };
}

async function measure({ subject, redis, other }: Site): Promise<Sample> {
  const { server, postgres } = subject;
  const cpu = () => [cpuMicros(server.pid), cpuMicrosOfTree(postgres?.pid ?? 0), cpuMicros(redis.pid)] as const;
  const before = cpu();
  const loaded = await load({
    url: `${server.url}/api/links`,
    connections,
    seconds: roundSeconds,
    script: post(server),
  });
  await Bun.sleep(settleMs);
  const after = cpu();
  const each = (i: 0 | 1 | 2) => (after[i] - before[i]) / loaded.requests;
  const { firstVisitMs, fromRedis } = await visitNew(server, other);
  return {
    perSecond: loaded.requests / loaded.seconds,
    ...{ serverMicros: each(0), postgresMicros: each(1), redisMicros: each(2) },
    firstVisitMs,
    fromRedis,
  };
}

/** New links, each visited once on the server that has not seen it. */
async function visitNew(server: Server, other: Server): Promise<Pick<Sample, "firstVisitMs" | "fromRedis">> {
  const line = createLine();
  const hits = async () => (await figures(other))('quicklink_cache_hit_total{tier="redis"}');
  const before = await hits();
  const firstVisitMs: number[] = [];
  for (let i = 0; i < visits; i++) {
    const code = await createLink(server);
    await Bun.sleep(settleMs);
    const started = performance.now();
    const answer = await line.ask(other.port, `/${code}`);
    if (answer === 302) firstVisitMs.push(performance.now() - started);
  }
  line.hangUp();
  return { firstVisitMs, fromRedis: ((await hits()) - before) / visits };
}

function post(server: Server): string {
  const path = join(tempFolder("wrk"), "post.lua");
  const headers = Object.entries(authorization(server)).map(([name, value]) => `wrk.headers["${name}"] = "${value}"\n`);
  writeFileSync(path, `wrk.method = "POST"\nwrk.body = '${JSON.stringify({ url: destination })}'\n${headers.join("")}`);
  return path;
}

function report(samples: ReadonlyMap<Site, readonly Sample[]>): void {
  const of = (
    all: readonly Sample[],
    name: "perSecond" | "serverMicros" | "postgresMicros" | "redisMicros" | "fromRedis",
  ) => median(all.map((one) => one[name]));
  table([
    ["", "creates/s", "server µs", "PostgreSQL µs", "Redis µs", "first visit p50 ms", "p99 ms", "from Redis"],
    ...[...samples].map(([{ name }, all]) => {
      const waits = all.flatMap(({ firstVisitMs }) => firstVisitMs);
      return [
        name,
        round(of(all, "perSecond")),
        round(of(all, "serverMicros")),
        round(of(all, "postgresMicros")),
        round(of(all, "redisMicros")),
        round(median(waits), 2),
        round(quantile(waits, 0.99), 2),
        `${round(100 * of(all, "fromRedis"))}%`,
      ];
    }),
  ]);
}
