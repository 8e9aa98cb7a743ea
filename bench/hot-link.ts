/**
 * What a limit costs for a link that is visited all the time.
 *
 * Method: one server on PostgreSQL and Redis, pinned to one core. wrk, on another core, requests a link without a limit
 * and a link with a limit of 1,000,000 in alternate rounds, over 32 connections. The figures are the CPU time of the
 * server process per redirect, as in `redirect`, and the number of scripts that Redis ran, from its own statistics
 * (requested and ended leases). A link with a limit of 10,000 would be used up in a second, so such a link is visited
 * 5,000 times at a fixed rate, several times with a new link.
 */
import { type RedisServer, startRedis } from "../test/ground/redis.ts";
import { cpuMicros, pin, twoCores } from "./cpu.ts";
import { browserHeaders, load } from "./load.ts";
import { openPacer } from "./paced.ts";
import { judge, median, progress, round, table } from "./show.ts";
import { createLink, type Subject, startSubject } from "./subject.ts";

const rounds = 17;
const warmSeconds = 3;
const roundSeconds = 1;
const connections = 32;
const callsMost = 0.02;
const cpuMost = 1.05;

const paced = { links: 3, visits: 5_000, perSecond: 2_000 };

interface Sample {
  readonly micros: number;
  readonly callsPerRedirect: number;
}

export async function hotLink(): Promise<void> {
  const redis = await startRedis();
  const subject = await startSubject("postgres", { REDIS_URL: redis.url });
  const shown = progress();
  try {
    const cores = twoCores();
    await pin(subject.server.pid, cores.server);
    const links = await Promise.all([undefined, 1_000_000].map((hitsPerMonth) => urlOf(subject, hitsPerMonth)));
    const samples: Sample[][] = links.map(() => []);
    for (const url of links) await sample(url, warmSeconds);
    for (let i = 0; i < rounds; i++) {
      for (let turn = 0; turn < links.length; turn++) {
        const place = (i + turn) % links.length;
        shown.now(`hot link: round ${i + 1} of ${rounds}`);
        samples[place]?.push(await sample(links[place] ?? "", roundSeconds));
      }
    }
    shown.now("hot link: a limit of 10,000");
    const small = await visitAtRate(subject, redis);
    shown.end();
    report(samples, small);

    async function sample(url: string, seconds: number): Promise<Sample> {
      const [cpu, calls] = [cpuMicros(subject.server.pid), await scriptCalls(redis)];
      const { requests } = await load({ url, connections, seconds, core: cores.client, headers: browserHeaders });
      return {
        micros: (cpuMicros(subject.server.pid) - cpu) / requests,
        callsPerRedirect: ((await scriptCalls(redis)) - calls) / requests,
      };
    }
  } finally {
    shown.end();
    await subject.stop();
    await redis.stop();
  }
}

function report([without = [], within = []]: readonly Sample[][], small: number): void {
  const micros = (samples: readonly Sample[]) => samples.map((one) => one.micros);
  const row = (name: string, samples: readonly Sample[]) => [
    name,
    round(median(micros(samples))),
    round(Math.min(...micros(samples))),
    round(median(samples.map((one) => one.callsPerRedirect)), 4),
  ];
  table([
    ["hot link", "CPU µs per redirect", "min", "Redis calls per redirect"],
    row("without a limit", without),
    row("a limit of 1,000,000", within),
    ["a limit of 10,000, half of it", "", "", round(small, 4)],
  ]);
  const ratios = within.map((one, i) => one.micros / (without[i]?.micros ?? Number.NaN));
  const spread = `rounds ${round(Math.min(...ratios))} to ${round(Math.max(...ratios))}`;
  const least = Math.min(...micros(within)) / Math.min(...micros(without));
  judge(`CPU with / without a limit (${spread}, least ${round(least)})`, median(ratios), cpuMost);
  judge("Redis calls per redirect, 1,000,000", median(within.map((one) => one.callsPerRedirect)), callsMost);
  judge("Redis calls per redirect, 10,000", small, callsMost);
}

async function visitAtRate(subject: Subject, redis: RedisServer): Promise<number> {
  const pacer = await openPacer(subject.server.port, 302);
  const calls: number[] = [];
  for (let i = 0; i < paced.links; i++) {
    const url = await urlOf(subject, 2 * paced.visits);
    const before = await scriptCalls(redis);
    const { latencies } = await pacer.run(
      [new URL(url).pathname],
      paced.perSecond,
      Bun.sleep((paced.visits * 1_000) / paced.perSecond),
    );
    calls.push(((await scriptCalls(redis)) - before) / latencies.length);
  }
  pacer.close();
  return median(calls);
}

const urlOf = async ({ server }: Subject, hitsPerMonth: number | undefined): Promise<string> =>
  `${server.url}/${await createLink(server, hitsPerMonth)}`;

async function scriptCalls(redis: RedisServer): Promise<number> {
  const stats = await redis.command("INFO", "commandstats");
  return [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}
