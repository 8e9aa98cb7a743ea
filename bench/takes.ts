/**
 * What a charge to a counter costs: in Redis, compared with the least that Redis can do, and in process.
 *
 * Method: 64 callers in this process, over one connection, repeatedly call four commands: `INCR` of one key; a script
 * that does nothing but has as many arguments as a take; a take from a total; and a take from a sliding window with all
 * of its 60 buckets in use. Each take has its own ID. Rounds are interleaved. Next to the rate is the CPU time of the
 * Redis process per call, which shows what could still be saved when the caller is the bottleneck. In process, the same
 * takes are made one after the other.
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
import { cpuMicros } from "./cpu.ts";
import { judge, median, progress, round, table } from "./show.ts";

const rounds = 7;
const roundMs = 1_000;
const warmMs = 4_000;
const callers = 64;
/** On a busy machine 250 ms pass quickly, and this does not measure deadlines. */
const deadlineMs = 10_000;
/** A take may cost twice as much as INCR. */
const incrsMost = 2;

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

export async function takes(): Promise<void> {
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
      for (let turn = 0; turn < contenders.length; turn++) {
        const place = (i + turn) % contenders.length;
        const contender = contenders[place];
        if (contender === undefined) continue;
        shown.now(`takes: round ${i + 1} of ${rounds}, ${contender.name}`);
        samples[place]?.push(await sample(contender, server.pid, roundMs));
      }
    }
    const inProcess = await inProcessPerSecond();
    shown.end();
    report(contenders, samples, inProcess);
  } finally {
    shown.end();
    await redis.close();
    await server.stop();
  }
}

function report(contenders: readonly Contender[], samples: readonly Sample[][], inProcess: number): void {
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
  const [bare = [], ...others] = rates;
  for (const [place, own] of others.entries()) {
    const ratios = own.map((perSecond, i) => (bare[i] ?? Number.NaN) / perSecond);
    const spread = `rounds ${round(Math.min(...ratios))} to ${round(Math.max(...ratios))}`;
    judge(`INCRs in the time of one ${contenders[place + 1]?.name} (${spread})`, median(ratios), incrsMost);
  }
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
