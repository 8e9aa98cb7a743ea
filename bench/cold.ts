/**
 * What the first visit of a link costs: nothing of it is in memory, and its limit needs a lease.
 *
 * Method: links with a limit of 10,000 hits a month, each visited once over 64 connections, 8,000 in a round; eight
 * rounds before the first one are not counted, because the compiler of the runtime is busy with them: after 20,000 visits it still
 * took a sixth of the CPU of a visit. In a round all are visited, one after the other. CPU is that of the server's process until it has recorded all hits and clicks and has
 * returned all leases, seven seconds after the last visit of all. With PostgreSQL and Redis it is that of all three.
 *
 * The stampede is 2,000 visitors of as many links at once, on PostgreSQL and Redis, on connections that are open: how many
 * are told to come again. The first one comes to a server that has just started. All count, and the worst is compared with
 * the target.
 *
 * Embedded, the other side is `bare-cold.ts`: a bare `Bun.serve` on a copy of the same database, which runs the same
 * statements by hand.
 *
 * Another copy of the program, with its own `npm install`, is measured in the same rounds:
 *
 *     git worktree add ../before 2e323dc && (cd ../before && npm install)
 *     QL_BENCH_BEFORE=../before npm run bench -- cold
 */
import { cpSync } from "node:fs";
import { join, resolve } from "node:path";
import { freePort } from "../test/ground/ports.ts";
import { startPostgres } from "../test/ground/postgres.ts";
import { cleanEnvironment, type Environment, runProcess, startProcess, until } from "../test/ground/process.ts";
import { startRedis } from "../test/ground/redis.ts";
import { type Server, sourceFolder, startServer } from "../test/ground/server.ts";
import { tempFolder } from "../test/ground/temp.ts";
import type { Bench, Figure, Target } from "./bench.ts";
import { cpuMicros, cpuMicrosOfTree } from "./cpu.ts";
import { createLine, visit } from "./line.ts";
import { compare, rotated, spreadOf } from "./rounds.ts";
import { median, progress, round, table } from "./show.ts";
import { createLinks, untilIdle } from "./subject.ts";

const targets = {
  bare: { most: 2 },
  before: { most: 0.3 },
  scaledBefore: { most: 0.4 },
  refused: { most: 0 },
} as const satisfies Record<string, Target>;

const rounds = 4;
const warmRounds = 8;
const linksPerRound = 8_000;
const linksInAll = (warmRounds + rounds) * linksPerRound;
const linksPerPost = 1_000;
const crowd = 2_000;
const crowds = 5;
const hitsPerMonth = 10_000;
const connections = 64;
/** A lease lives for five seconds, and its rest is returned with the next recording. */
const returnedMs = 7_000;

interface Contender {
  readonly name: string;
  readonly port: number;
  readonly codes: readonly string[];
  readonly micros: number[];
  /** The part after the last answer: what is recorded and returned. */
  readonly microsAfter: number[];
  readonly perSecond: number[];
  cpu(): number;
  idle(): Promise<void>;
  stop(): Promise<void>;
}

export const cold: Bench = {
  name: "cold",
  shows: "CPU of the first visit of a link with a limit, against the same statements by hand and an older commit",
  needs: ["postgresql", "redis-server"],
  parts: ["embedded", "scaled", "stampede"],
  async run(parts) {
    const folder = Bun.env.QL_BENCH_BEFORE;
    const before = folder === undefined ? undefined : resolve(folder, "src");
    if (before === undefined) console.log("  without an older commit: set QL_BENCH_BEFORE, as bench/cold.ts says");
    const isWanted = (part: string) => parts.length === 0 || parts.includes(part);
    return [
      ...(isWanted("embedded") ? await embedded(before) : []),
      ...(isWanted("scaled") ? await scaled(before) : []),
      ...(isWanted("stampede") ? await stampede() : []),
    ];
  },
};

async function embedded(before: string | undefined): Promise<Figure[]> {
  const { copy, ...ours } = await startEmbedded("embedded", sourceFolder);
  const bare = await startBareCold(copy, ours.codes);
  const older = before === undefined ? undefined : await startEmbedded("embedded, before", before);
  await measure([ours, bare, ...(older === undefined ? [] : [older])]);
  return [
    { name: "embedded / by hand", target: targets.bare, ...compare(ours.micros, bare.micros) },
    ...(older === undefined
      ? []
      : [{ name: "embedded / before", target: targets.before, ...compare(ours.micros, older.micros) }]),
  ];
}

async function scaled(before: string | undefined): Promise<Figure[]> {
  const ours = await startScaled("PostgreSQL and Redis", sourceFolder);
  const older = before === undefined ? undefined : await startScaled("PostgreSQL and Redis, before", before);
  await measure([ours, ...(older === undefined ? [] : [older])]);
  if (older === undefined) return [];
  const compared = compare(ours.micros, older.micros);
  return [{ name: "PostgreSQL and Redis / before", target: targets.scaledBefore, ...compared }];
}

async function stampede(): Promise<Figure[]> {
  const { port, codes, cpu, idle, stop } = await startScaled("PostgreSQL and Redis", sourceFolder, crowds * crowd);
  try {
    const lines = Array.from({ length: crowd }, createLine);
    const refused: number[] = [];
    const [lastMs, cpuMs]: [number[], number[]] = [[], []];
    for (let i = 0; i < crowds; i++) {
      await Promise.all(lines.map((line) => line.ask(port, "/healthz")));
      const [before, started] = [cpu(), performance.now()];
      const answers = await Promise.all(lines.map((line, place) => line.ask(port, `/${codes[i * crowd + place]}`)));
      lastMs.push(performance.now() - started);
      cpuMs.push((cpu() - before) / 1_000);
      refused.push(answers.filter((answer) => answer !== 302).length);
      await Bun.sleep(returnedMs);
      await idle();
    }
    for (const line of lines) line.hangUp();
    const shown = (figures: readonly number[]) => figures.map((figure) => round(figure, 0)).join(" ");
    table([
      [`${crowd} visitors at once`, "refused", "ms until the last answer", "CPU ms"],
      ["PostgreSQL and Redis", refused.join(" "), shown(lastMs), shown(cpuMs)],
    ]);
    const figure = Math.max(...refused);
    return [{ name: "refused of a stampede", target: targets.refused, figure, spread: spreadOf(refused) }];
  } finally {
    await stop();
  }
}

async function measure(contenders: readonly Contender[]): Promise<void> {
  const shown = progress();
  try {
    for (let i = 0; i < warmRounds + rounds; i++) {
      shown.now(`cold: round ${i + 1} of ${warmRounds + rounds}, ${contenders.map(({ name }) => name).join(", ")}`);
      await sample(rotated(contenders, i), i);
    }
    shown.end();
    table([
      ["first visits of links with a limit", "redirects/s", "CPU µs per redirect", "min", "after its answer"],
      ...contenders.map(({ name, perSecond, micros, microsAfter }) => [
        name,
        round(median(perSecond)),
        round(median(micros)),
        round(Math.min(...micros)),
        round(median(microsAfter)),
      ]),
    ]);
  } finally {
    shown.end();
    for (const contender of contenders) await contender.stop();
  }
}

async function sample(contenders: readonly Contender[], place: number): Promise<void> {
  const visited: { contender: Contender; before: number; answered: number; seconds: number }[] = [];
  for (const contender of contenders) {
    const { port, codes, cpu } = contender;
    const [before, started] = [cpu(), performance.now()];
    await visit(port, codes.slice(place * linksPerRound, (place + 1) * linksPerRound), connections);
    visited.push({ contender, before, answered: cpu(), seconds: (performance.now() - started) / 1_000 });
  }
  if (place < warmRounds - 1) return;
  await Bun.sleep(returnedMs);
  for (const { contender, before, answered, seconds } of visited) {
    const { micros, microsAfter, perSecond, cpu } = contender;
    if (place < warmRounds) continue;
    const now = cpu();
    micros.push((now - before) / linksPerRound);
    microsAfter.push((now - answered) / linksPerRound);
    perSecond.push(linksPerRound / seconds);
  }
  for (const { idle } of contenders) await idle();
}

/** With a copy of its database as it was before the first visit. */
async function startEmbedded(name: string, source: string): Promise<Contender & { copy: string }> {
  const { dataDir, key, codes } = await createdBy(source, {}, linksInAll);
  const copy = tempFolder("bare");
  cpSync(dataDir, copy, { recursive: true });
  const server = await startServer({ source, dataDir, key });
  return { ...contender(name, server, codes, () => cpuMicros(server.pid), []), copy };
}

async function startScaled(name: string, source: string, links = linksInAll): Promise<Contender> {
  const redis = await startRedis();
  const postgres = await startPostgres({ durable: true });
  const url = await postgres.createDatabase("bench");
  const env = { DATABASE_URL: url, REDIS_URL: redis.url, QL_CODE_SALT: crypto.randomUUID() };
  await command(source, { ...env, QL_DATA: tempFolder("data") }, "migrate");
  const { dataDir, key, codes } = await createdBy(source, env, links);
  await redis.command("FLUSHALL");
  const server = await startServer({ source, env, dataDir, key });
  // In its first seconds the server does not use Redis. Its first key is its place in the change feed.
  await until("the server to use Redis", async () => Number(await redis.command("DBSIZE")) > 0 || undefined);
  const cpu = () => cpuMicros(server.pid) + cpuMicros(redis.pid) + cpuMicrosOfTree(postgres.pid);
  return contender(name, server, codes, cpu, [() => postgres.stop(), () => redis.stop()]);
}

function contender(
  name: string,
  server: Server,
  codes: readonly string[],
  cpu: () => number,
  alsoStop: readonly (() => Promise<unknown>)[],
): Contender {
  return {
    ...{ name, port: server.port, codes, cpu, micros: [], microsAfter: [], perSecond: [] },
    idle: () => untilIdle(server),
    async stop() {
      await server.stop();
      for (const stop of alsoStop) await stop();
    },
  };
}

async function startBareCold(folder: string, codes: readonly string[]): Promise<Contender> {
  const port = freePort();
  const script = join(import.meta.dir, "bare-cold.ts");
  const database = join(folder, "quicklink.sqlite");
  const child = startProcess([process.execPath, "--no-env-file", script, String(port), database]);
  await until("the bare server to answer", async () => {
    if (!child.running()) throw new Error(`ended before it answered\n${child.output()}`);
    return await fetch(`http://127.0.0.1:${port}/none`).catch(() => undefined);
  });
  return {
    ...{ name: "the same statements by hand", port, codes, micros: [], microsAfter: [], perSecond: [] },
    cpu: () => cpuMicros(child.pid),
    async idle() {},
    async stop() {
      await child.stop();
    },
  };
}

/** Links with a limit of hits, of a tenant that may have any number of links. Their server has stopped again. */
async function createdBy(
  source: string,
  env: Environment,
  links: number,
): Promise<{ dataDir: string; key: string; codes: string[] }> {
  // Older copies of the program do not write their first key to a file.
  const server = await startServer({ source, env, key: "unknown" });
  const own = { ...env, QL_DATA: server.dataDir };
  await command(source, own, "tenant", "update", "default", "--plan", "unlimited");
  const key = /ql_\w+/.exec(await command(source, own, "key", "create", "bench"))?.[0] ?? "";
  const codes: string[] = [];
  while (codes.length < links) {
    codes.push(...(await createLinks({ ...server, key }, linksPerPost, hitsPerMonth)));
  }
  await server.stop();
  return { dataDir: server.dataDir, key, codes };
}

async function command(source: string, env: Environment, ...args: readonly string[]): Promise<string> {
  const program = [process.execPath, "--no-env-file", join(source, "main.ts")];
  const { code, stdout, stderr } = await runProcess([...program, ...args], { env: cleanEnvironment(env) });
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}\n${stdout}${stderr}`);
  return stdout;
}
