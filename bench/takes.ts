/**
 * What a charge to a counter costs: in Redis, compared with the least that Redis can do, and in process.
 *
 * Method: 64 callers in this process, over one connection, repeatedly call four commands: `INCR` of one key; a script
 * that does nothing but has as many arguments as a take; a take from a total; and a take from a sliding window with all
 * of its 60 buckets in use. Each take has its own ID. Rounds are interleaved. The figure is the CPU time
 * of Redis' own process per call; the rate beside it depends on the caller as well. In process, the same takes are made
 * one after the other.
 *
 * The target is relative to INCR. The empty script shows how close to it a script can get: no call of ours is smaller,
 * and its cost above INCR is the price of scripts, not of limits.
 */
import { systemClock } from "../src/base/clock.ts";
import { createMemoryCounters } from "../src/in-memory/counters.ts";
import type { Counters, Limit } from "../src/limits/counters.ts";
import { totalWindow, type Window } from "../src/limits/window.ts";
import { connectRedis, defineScript, type Redis } from "../src/redis/client.ts";
import { createRedisCounters } from "../src/redis/counters.ts";
import { until } from "../test/ground/process.ts";
import { startRedis } from "../test/ground/redis.ts";
import type { Figure, Target } from "./bench.ts";
import { cpuMicros } from "./cpu.ts";
import { compare, rotated } from "./rounds.ts";
import { median, progress, round, table } from "./show.ts";

/** A take may cost Redis as much as two of INCR. */
const targets = { incrs: { most: 2 } } as const satisfies Record<string, Target>;

const rounds = 7;
const roundMs = 1_000;
const warmMs = 4_000;
const callers = 64;
/** On a busy machine 250 ms pass quickly, and this does not measure deadlines. */
const deadlineMs = 10_000;

/** A sliding minute has as many buckets, but takes a minute to fill. */
const sliding: Window = { kind: "sliding", bucketMs: 50, buckets: 60 };

const empty = defineScript('#!lua\nreturn { "granted", "settled", "0" }');
// As many arguments as a take has, of about the same length.
const emptyKeys = Array.from({ length: 3 }, (_, i) => `tenant:{bench}:${i}`);
const emptyArguments = Array.from({ length: 14 }, (_, i) => String(60_000 + i));

interface Contender {
  readonly name: string;
  readonly call: () => Promise<void>;
}

interface Sample {
  readonly perSecond: number;
  readonly redisMicros: number;
}

export async function takes(): Promise<readonly Figure[]> {
  const server = await startRedis();
  const redis = connectRedis(server.url, { deadlineMs });
  const shown = progress();
  try {
    await connected(redis);
    const counters = createRedisCounters({ redis });
    const contenders: readonly Contender[] = [
      { name: "INCR", call: async () => void (await redis.send("bare", ["INCR", "bare"])) },
      { name: "empty script", call: async () => void (await redis.script(empty, emptyKeys, emptyArguments)) },
      { name: "take, total", call: taking(counters, limitOf("total", totalWindow)) },
      { name: "take, sliding", call: taking(counters, limitOf("sliding", sliding)) },
    ];
    const samples: Sample[][] = contenders.map(() => []);
    for (const contender of contenders) await sample(contender, server.pid, warmMs);
    for (let i = 0; i < rounds; i++) {
      for (const [place, contender] of rotated([...contenders.entries()], i)) {
        shown.now(`takes: round ${i + 1} of ${rounds}, ${contender.name}`);
        samples[place]?.push(await sample(contender, server.pid, roundMs));
      }
    }
    const inProcess = await inProcessPerSecond();
    shown.end();
    return report(contenders, samples, inProcess);
  } finally {
    shown.end();
    await redis.close();
    await server.stop();
  }
}

function report(contenders: readonly Contender[], samples: readonly Sample[][], inProcess: number): readonly Figure[] {
  const rates = samples.map((all) => all.map((one) => one.perSecond));
  table([
    ["counters", "calls/s", "most", "Redis' CPU µs per call"],
    ...contenders.map(({ name }, place) => [
      name,
      round(median(rates[place] ?? [])),
      round(Math.max(...(rates[place] ?? []))),
      round(median((samples[place] ?? []).map((one) => one.redisMicros))),
    ]),
    ["take, in process", round(inProcess), "", ""],
  ]);
  const micros = samples.map((all) => all.map((one) => one.redisMicros));
  const [bare = [], ...others] = micros;
  return others.map((own, place) => ({
    name: `Redis' CPU of one ${contenders[place + 1]?.name} / INCR`,
    target: targets.incrs,
    ...compare(own, bare),
  }));
}

async function sample({ call }: Contender, pid: number, ms: number): Promise<Sample> {
  const [cpu, started] = [cpuMicros(pid), performance.now()];
  let calls = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() - started < ms) {
        await call();
        calls++;
      }
    }),
  );
  const seconds = (performance.now() - started) / 1_000;
  return { perSecond: calls / seconds, redisMicros: (cpuMicros(pid) - cpu) / calls };
}

/** More than can be charged here: a denial is cheaper, and not what is measured. */
const limitOf = (name: string, window: Window): Limit => ({
  ...{ name, subject: "bench", max: Number.MAX_SAFE_INTEGER, window, key: `tenant:{bench}:${name}` },
});

function taking(counters: Counters, limit: Limit): Contender["call"] {
  let ids = 0;
  return async () => {
    const { kind } = await counters.take(`{bench}/${limit.name}/${++ids}`, [{ limit, amount: 1 }]);
    if (kind !== "granted") throw new Error(`a take was ${kind}`);
  };
}

async function inProcessPerSecond(): Promise<number> {
  const call = taking(createMemoryCounters({ clock: systemClock }), limitOf("sliding", sliding));
  const started = performance.now();
  let calls = 0;
  for (; performance.now() - started < roundMs; calls++) await call();
  return (calls * 1_000) / (performance.now() - started);
}

async function connected(redis: Redis): Promise<void> {
  await until("Redis to be connected to", () =>
    redis.ping().then(
      () => true,
      () => undefined,
    ),
  );
}
