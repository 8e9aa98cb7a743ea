/**
 * What a limit costs for links that are visited all the time.
 *
 * Method: one server on PostgreSQL and Redis, pinned to one core. A client that never sleeps, on another core, requests one link without a limit
 * and one with a limit of 1,000,000; and, because one link with the default limit of 10,000 would be used up in half a
 * second, 100 links in turn without a limit and 100 with that. Rounds are interleaved and begin with another one each
 * time. The figures are, per redirect: the CPU time of the server's process, as in `redirect`, until the hits are written
 * and the leases returned; the CPU time of Redis' own process; and the number of scripts that Redis ran, from its own
 * statistics (requested and ended leases). One link with a limit of 10,000 is also visited 5,000 times at a fixed rate,
 * several times with a new link.
 */
import { type RedisServer, startRedis } from "../test/ground/redis.ts";
import { loadAwake } from "./awake.ts";
import type { Figure, Target } from "./bench.ts";
import { type Contender, ours, returnedMs } from "./contenders.ts";
import { cpuMicros, pin, twoCores } from "./cpu.ts";
import { openPacer } from "./paced.ts";
import { compare, rotated } from "./rounds.ts";
import { median, progress, round, table } from "./show.ts";
import { createLink, createLinks, type Subject, startSubject } from "./subject.ts";

const targets = { calls: { most: 0.02 }, cpu: { most: 1.05 } } as const satisfies Record<string, Target>;

const rounds = 9;
const warmSeconds = 3;
const roundSeconds = 1;
const connections = 32;

/** Of the default plan: hits per link and month. One link would use them up in half a second. */
const defaultLimit = 10_000;
const linksOfDefault = 100;

const atRate = { links: 3, visits: 5_000, perSecond: 2_000 };

interface Side extends Contender {
  readonly samples: Sample[];
}

interface Sample {
  readonly micros: number;
  readonly redisMicros: number;
  readonly callsPerRedirect: number;
}

export async function hotLink(): Promise<readonly Figure[]> {
  const redis = await startRedis();
  const subject = await startSubject("postgres", { REDIS_URL: redis.url });
  const shown = progress();
  try {
    const { server } = subject;
    const cores = twoCores();
    await pin(server.pid, cores.server);
    const side = async (name: string, count: number, hitsPerMonth?: number): Promise<Side> => ({
      ...ours(name, server, await createLinks(server, count, hitsPerMonth)),
      ...(hitsPerMonth === undefined ? {} : { writesMs: returnedMs }),
      samples: [],
    });
    const sides = [
      await side("one link without a limit", 1),
      await side("one link, a limit of 1,000,000", 1, 1_000_000),
      await side("100 links without a limit", linksOfDefault),
      await side("100 links, the default limit of 10,000", linksOfDefault, defaultLimit),
    ] as const;
    for (const one of sides) await sample(one, warmSeconds);
    for (let i = 0; i < rounds; i++) {
      for (const one of rotated(sides, i)) {
        shown.now(`hot link: round ${i + 1} of ${rounds}, ${one.name}`);
        one.samples.push(await sample(one, roundSeconds));
      }
    }
    shown.now("hot link: a limit of 10,000");
    const paced = await visitAtRate(subject, redis);
    shown.end();
    return report(sides, paced);

    async function sample({ port, paths, headers, writesMs }: Side, seconds: number): Promise<Sample> {
      const read = async () => [cpuMicros(server.pid), cpuMicros(redis.pid), await scriptCalls(redis)] as const;
      const before = await read();
      const { requests } = await loadAwake({ port, paths, headers, connections, seconds, core: cores.client });
      await Bun.sleep(writesMs);
      const after = await read();
      const each = (i: 0 | 1 | 2) => (after[i] - before[i]) / requests;
      return { micros: each(0), redisMicros: each(1), callsPerRedirect: each(2) };
    }
  } finally {
    shown.end();
    await subject.stop();
    await redis.stop();
  }
}

function report(sides: readonly [Side, Side, Side, Side], paced: number): readonly Figure[] {
  const of = ({ samples }: Side, kind: keyof Sample) => samples.map((one) => one[kind]);
  table([
    ["hot link", "CPU µs per redirect", "min", "Redis' CPU µs per redirect", "Redis calls per redirect"],
    ...sides.map((side) => [
      side.name,
      round(median(of(side, "micros"))),
      round(Math.min(...of(side, "micros"))),
      round(median(of(side, "redisMicros")), 3),
      round(median(of(side, "callsPerRedirect")), 4),
    ]),
    [`one link, a limit of 10,000, at ${atRate.perSecond} a second`, "", "", "", round(paced, 4)],
  ]);
  const [one, oneLimited, many, manyLimited] = sides;
  const cpu = (limited: Side, without: Side): Figure => ({
    name: `CPU, ${limited.name} / without`,
    target: targets.cpu,
    ...compare(of(limited, "micros"), of(without, "micros")),
  });
  const calls = (limited: Side): Figure => ({
    name: `Redis calls per redirect, ${limited.name}`,
    target: targets.calls,
    figure: median(of(limited, "callsPerRedirect")),
  });
  return [
    ...[cpu(manyLimited, many), cpu(oneLimited, one), calls(manyLimited), calls(oneLimited)],
    { name: "Redis calls per redirect, one link at a fixed rate, 10,000", target: targets.calls, figure: paced },
  ];
}

async function visitAtRate(subject: Subject, redis: RedisServer): Promise<number> {
  const pacer = await openPacer(subject.server.port, 302);
  const calls: number[] = [];
  for (let i = 0; i < atRate.links; i++) {
    const url = await urlOf(subject, 2 * atRate.visits);
    const before = await scriptCalls(redis);
    const { latencies } = await pacer.run(
      [new URL(url).pathname],
      atRate.perSecond,
      Bun.sleep((atRate.visits * 1_000) / atRate.perSecond),
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
