/**
 * What several processes on one port cost: CPU per redirect, memory and start of a worker.
 *
 * Method: three servers on the same PostgreSQL and Redis: one process, and `--workers 2` and `--workers 4`. One link is in
 * their memory. All processes of a server share one core, and the client, which never sleeps (`awake.ts`), has the other, with all 14
 * headers of Chrome, interleaved round by round. Before that, each process has about as many requests, because each compiles its code for itself. The figure is the CPU time of all processes of a server, the supervisor
 * included, per request. It contains what they do when nobody comes, such as reading the change feed, and what the
 * requests leave behind: writing the hits of the last second. What they do when nobody comes is also shown alone.
 *
 * Memory is read once they were idle for three seconds after the rounds: private is what one more worker adds, RSS counts
 * the pages that all share in each of them. The start of a worker is its own CPU time until all are ready, and the time
 * from the start of the server until then.
 */
import { until } from "../test/ground/process.ts";
import { startRedis } from "../test/ground/redis.ts";
import { type Server, startServer } from "../test/ground/server.ts";
import { loadAwake } from "./awake.ts";
import type { Bench, Figure, Target } from "./bench.ts";
import { children, cpuMicros, cpuMicrosOfTree, pin, twoCores } from "./cpu.ts";
import { chromeHeaders, type Loaded } from "./load.ts";
import { memoryOf } from "./memory-of.ts";
import { compare, rotated } from "./rounds.ts";
import { median, progress, round, table } from "./show.ts";
import { createLink, figures, startSubject } from "./subject.ts";

const target: Target = { most: 1.1 };
const counts = [1, 2, 4] as const;
const rounds = 7;
/** For each process, which all get the same: each compiles its code for itself. */
const warmSeconds = 6;
const roundSeconds = 2;
/** Of all processes together: the kernel gives each connection to one of them. */
const connections = 64;
const recordedMs = 1_300;
const quietMs = 3_000;
const idleMs = 10_000;

export const workers: Bench = {
  name: "workers",
  shows: "CPU per redirect with 1, 2 and 4 processes; memory and start of a worker",
  needs: ["postgresql", "redis-server"],
  run,
};

interface Contender {
  readonly count: number;
  readonly server: Server;
  readonly startMs: number;
  /** Of each process that serves, until all were ready. */
  readonly startCpuMs: number;
  readonly micros: number[];
  readonly perSecond: number[];
  idleMs: number;
}

async function run(): Promise<readonly Figure[]> {
  const redis = await startRedis();
  const subject = await startSubject("postgres", { REDIS_URL: redis.url });
  const contenders: Contender[] = [];
  const shown = progress();
  try {
    const { env } = subject;
    const { dataDir, key } = subject.server;
    const code = await createLink(subject.server);
    for (const count of counts) {
      const started = performance.now();
      const args = count === 1 ? [] : ["--workers", String(count)];
      const server = await startServer({ env, dataDir, key, args });
      const ready = async () => (await figures(server))("quicklink_workers") === count || undefined;
      await until(`${count} processes to answer`, ready);
      const startMs = performance.now() - started;
      const startCpuMs = median(serving(server, count).map((pid) => cpuMicros(pid) / 1_000));
      contenders.push({ count, server, startMs, startCpuMs, micros: [], perSecond: [], idleMs: 0 });
    }
    await subject.server.stop();
    for (const { server } of contenders) await inMemoryOfAll(server, code);
    const cores = twoCores();
    for (const { server, count } of contenders) {
      for (const pid of new Set([server.pid, ...serving(server, count)])) await pin(pid, cores.server);
    }
    const ask = ({ server }: Contender, seconds: number) =>
      loadAwake({
        ...{ port: server.port, paths: [`/${code}`], headers: chromeHeaders },
        ...{ connections, seconds, core: cores.client },
      });
    for (const one of contenders) {
      shown.now(`warming up ${one.count} workers`);
      await ask(one, one.count * warmSeconds);
    }
    for (let i = 0; i < rounds; i++) {
      for (const one of rotated(contenders, i)) {
        shown.now(`round ${i + 1} of ${rounds}: ${one.count} workers`);
        await sample(one, () => ask(one, roundSeconds));
      }
    }
    await Bun.sleep(quietMs);
    const before = contenders.map(({ server }) => cpuMicrosOfTree(server.pid));
    await Bun.sleep(idleMs);
    for (const [place, one] of contenders.entries()) {
      one.idleMs = (cpuMicrosOfTree(one.server.pid) - (before[place] ?? Number.NaN)) / idleMs;
    }
    shown.end();
    report(contenders);
    const [single, ...several] = contenders;
    if (single === undefined) throw new Error("there is no server with one process");
    return several.map((one) => ({
      ...{ name: `CPU per redirect, ${one.count} workers / one process`, target },
      ...compare(one.micros, single.micros),
    }));
  } finally {
    shown.end();
    await Promise.all(contenders.map(({ server }) => server.stop()));
    await subject.stop();
    await redis.stop();
  }
}

/** So many answers in a row, each on a new connection, which the kernel gives to one process or the other. */
const warmVisits = 40;

/** Otherwise the first visitors of a busy machine get a 503, because the database takes too long. */
async function inMemoryOfAll({ url }: Server, code: string): Promise<void> {
  await until("all processes to have the link in memory", async () => {
    for (let i = 0; i < warmVisits; i++) {
      const headers = { connection: "close" };
      const { status } = await fetch(`${url}/${code}`, { redirect: "manual", headers });
      if (status !== 302) return undefined;
    }
    return true;
  });
}

/** The processes that answer. */
const serving = ({ pid }: Server, count: number): number[] => (count === 1 ? [pid] : children(pid));

async function sample({ server, micros, perSecond }: Contender, ask: () => Promise<Loaded>): Promise<void> {
  const before = cpuMicrosOfTree(server.pid);
  const { requests, seconds } = await ask();
  await Bun.sleep(recordedMs);
  micros.push((cpuMicrosOfTree(server.pid) - before) / requests);
  perSecond.push(requests / seconds);
}

function report(contenders: readonly Contender[]): void {
  table([
    [
      ...["processes", "CPU µs per request", "min", "requests/s", "idle CPU ms/s"],
      ...["start ms", "CPU ms of each", "RSS MB of each", "private MB of each", "private MB of all"],
    ],
    ...contenders.map(({ count, server, startMs, startCpuMs, micros, perSecond, idleMs }) => {
      const each = serving(server, count).map(memoryOf);
      const all = count === 1 ? each : [memoryOf(server.pid), ...each];
      return [
        count === 1 ? "1" : `${count} and a supervisor`,
        round(median(micros)),
        round(Math.min(...micros)),
        round(median(perSecond)),
        round(idleMs),
        round(startMs),
        round(startCpuMs),
        round(median(each.map(({ rssMb }) => rssMb))),
        round(median(each.map(({ privateMb }) => privateMb))),
        round(all.reduce((sum, { privateMb }) => sum + privateMb, 0)),
      ];
    }),
  ]);
}
