/**
 * What announcing an upload costs, of which checking the quota is a part.
 *
 * Method: `POST /api/files` at a fixed rate to the real server, embedded and with PostgreSQL and Redis, by four tenants with a
 * limit on their storage and on their API calls. A time is from the moment a request was due to its answer. After each round
 * the uploads are cancelled. CPU is that of the server, PostgreSQL and Redis. Beside it, in the same rounds and at the same
 * rate, this process alone:
 *
 * - a script call that does what the requirements ask for: compare, and add to one key (`bareScript`);
 * - the check of the quota as the server makes it, which also takes over what SQL says, and remembers the file;
 * - the same two statements by hand, on each database.
 *
 * Statements and calls are counted first, one request after the other: PostgreSQL logs what it runs, Redis counts scripts. Those
 * of authentication and of the limit of API calls are shown separately: they are those of `GET /api/tenant`.
 *
 * With `QL_BENCH_BEFORE`, an older copy of the program is compared too: see `older.ts`.
 */
import { Database as Sqlite } from "bun:sqlite";
import { join } from "node:path";
import { Client, Pool } from "pg";
import { systemClock } from "../src/base/clock.ts";
import { newId } from "../src/base/ids.ts";
import { storageLimit } from "../src/limits/storage-limit.ts";
import { connectRedis, defineScript } from "../src/redis/client.ts";
import { createRedisCounters } from "../src/redis/counters.ts";
import { type DurablePostgres, startPostgres } from "../test/ground/postgres.ts";
import { cleanEnvironment, type Environment, runProcess, until } from "../test/ground/process.ts";
import { type RedisServer, startRedis } from "../test/ground/redis.ts";
import { sourceFolder, startServer } from "../test/ground/server.ts";
import { tempFolder } from "../test/ground/temp.ts";
import type { Bench, Figure, Target } from "./bench.ts";
import { cpuMicros, cpuMicrosOfTree } from "./cpu.ts";
import { olderFolder } from "./older.ts";
import { openPacer } from "./paced.ts";
import { paceCalls } from "./paced-calls.ts";
import { compare, rotated, spreadOf } from "./rounds.ts";
import { median, progress, quantile, round, table } from "./show.ts";

const targets = {
  statements: { most: 2 },
  calls: { most: 2 },
  checkMs: { most: 1 },
  before: { most: 1 },
} as const satisfies Record<string, Target>;

const rounds = 5;
const roundMs = 2_000;
const perSecond = 300;
const tenants = 4;
const counted = 20;
const atOnce = 16;
const file = { name: "plan.pdf", size: 48_213, type: "application/pdf" };

/** As in the requirements, with the limit as an argument. */
const bareScript = defineScript(`#!lua
local used = tonumber(redis.call("GET", KEYS[1]) or 0)
if used + tonumber(ARGV[1]) > tonumber(ARGV[2]) then return { -1, used } end
return { 1, redis.call("INCRBY", KEYS[1], ARGV[1]) }`);

interface Sample {
  readonly ms: readonly number[];
  readonly lateMs: readonly number[];
  readonly micros?: number;
}

interface Contender {
  readonly name: string;
  readonly samples: Sample[];
  /** Of one request, if they can be counted. */
  readonly cost?: Cost;
  round(): Promise<Sample>;
  stop(): Promise<unknown>;
}

/** Of the announcement, and of what every request of the API has. */
interface Cost {
  readonly statements: number;
  readonly calls: number;
  readonly everyStatements: number;
  readonly everyCalls: number;
}

export const uploads: Bench = {
  name: "uploads",
  shows: "announcing an upload: statements, Redis calls, CPU, and time at a fixed rate, against a bare script call",
  needs: ["postgresql", "redis-server"],
  run,
};

async function run(): Promise<readonly Figure[]> {
  const folder = olderFolder();
  const shown = progress();
  const contenders: Contender[] = [];
  try {
    for (const [suffix, source] of [
      ["", sourceFolder],
      ...(folder ? [[", before", join(folder, "src")]] : []),
    ] as const) {
      shown.now(`starting servers${suffix}`);
      contenders.push(await startEmbedded(`embedded${suffix}`, source));
      contenders.push(await startScaled(`PostgreSQL and Redis${suffix}`, source));
    }
    contenders.push(...(await byHand()));
    for (let i = 0; i <= rounds; i++) {
      for (const contender of rotated(contenders, i)) {
        shown.now(`round ${i} of ${rounds}: ${contender.name}`);
        const sample = await contender.round();
        if (i > 0) contender.samples.push(sample);
      }
    }
    shown.end();
    return report(contenders);
  } finally {
    shown.end();
    for (const contender of contenders) await contender.stop();
  }
}

function report(contenders: readonly Contender[]): Figure[] {
  const over = ({ samples }: Contender, kind: "ms" | "lateMs", share: number) =>
    samples.map((sample) => quantile(sample[kind], share));
  const micros = ({ samples }: Contender) => samples.flatMap((sample) => sample.micros ?? []);
  table([
    [
      `${perSecond} a second`,
      "p50 ms",
      "p99 ms",
      "min",
      "late",
      "CPU µs",
      "statements",
      "Redis calls",
      "and of every request",
      "",
    ],
    ...contenders.map((one) => [
      one.name,
      round(median(over(one, "ms", 0.5))),
      round(median(over(one, "ms", 0.99))),
      round(Math.min(...over(one, "ms", 0.99))),
      round(median(over(one, "lateMs", 0.99))),
      micros(one).length === 0 ? "" : round(median(micros(one))),
      ...(one.cost === undefined
        ? []
        : [one.cost.statements, one.cost.calls, one.cost.everyStatements, one.cost.everyCalls].map((n) => round(n))),
    ]),
  ]);
  const named = (name: string) => contenders.find((one) => one.name === name);
  const [check, bare] = [named(checkName), named(bareName)];
  const [ours, cost] = [named("PostgreSQL and Redis"), named("PostgreSQL and Redis")?.cost];
  if (check === undefined || bare === undefined || ours === undefined || cost === undefined)
    throw new Error("a contender is missing");
  const checks = over(check, "ms", 0.99);
  const ratio = compare(checks, over(bare, "ms", 0.99));
  console.log(`  p99 of the check / of the bare script call: ${round(ratio.figure)} (${ratio.spread})`);
  return [
    { name: "statements of an announcement", figure: cost.statements, target: targets.statements },
    { name: "Redis calls of an announcement", figure: cost.calls, target: targets.calls },
    {
      name: `p99 of the check at ${perSecond} a second, ms`,
      figure: median(checks),
      spread: spreadOf(checks),
      target: targets.checkMs,
    },
    ...["embedded", "PostgreSQL and Redis"].flatMap((name) => {
      const [now, before] = [named(name), named(`${name}, before`)];
      if (now === undefined || before === undefined) return [];
      return [{ name: `${name}: CPU / before`, ...compare(micros(now), micros(before)), target: targets.before }];
    }),
  ];
}

async function startEmbedded(name: string, source: string): Promise<Contender> {
  const { server, keys } = await serverWithTenants(source, {});
  return {
    ...{ name, samples: [] },
    round: () => announceAndCancel(server.port, keys, () => cpuMicros(server.pid)),
    stop: server.stop,
  };
}

async function startScaled(name: string, source: string): Promise<Contender> {
  const [redis, postgres] = [await startRedis(), await startPostgres({ durable: true })];
  const url = await postgres.createDatabase("bench");
  const env = { DATABASE_URL: url, REDIS_URL: redis.url, QL_CODE_SALT: crypto.randomUUID() };
  await command(source, { ...env, QL_DATA: tempFolder("data") }, "migrate");
  const { server, keys } = await serverWithTenants(source, env);
  const cpu = () => cpuMicros(server.pid) + cpuMicros(redis.pid) + cpuMicrosOfTree(postgres.pid);
  return {
    ...{ name, samples: [] },
    cost: await costOf(server.port, keys, url, postgres, redis),
    round: () => announceAndCancel(server.port, keys, cpu),
    async stop() {
      await server.stop();
      await postgres.stop();
      await redis.stop();
    },
  };
}

async function serverWithTenants(source: string, env: Environment) {
  // Older copies of the program do not write their first key to a file.
  const server = await startServer({ source, env, key: "unknown" });
  const own = { ...env, QL_DATA: server.dataDir };
  await command(source, own, "plan", "set", "bench", "--storage", "1000000000000", "--api", "1000000");
  const keys: string[] = [];
  for (let i = 0; i < tenants; i++) {
    await command(source, own, "tenant", "create", `tenant-${i}`, "--plan", "bench");
    keys.push(
      /ql_\w+/.exec(await command(source, own, "key", "create", "bench", "--tenant", `tenant-${i}`))?.[0] ?? "",
    );
  }
  return { server, keys };
}

async function command(source: string, env: Environment, ...args: readonly string[]): Promise<string> {
  const program = [process.execPath, "--no-env-file", join(source, "main.ts")];
  const { code, stdout, stderr } = await runProcess([...program, ...args], { env: cleanEnvironment(env) });
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}\n${stdout}${stderr}`);
  return stdout;
}

async function announceAndCancel(port: number, keys: readonly string[], cpu: () => number): Promise<Sample> {
  const pacer = await openPacer(port, 201, { requestOf: (key) => requestOf(port, key) });
  try {
    const before = cpu();
    const { latencies, lateness } = await pacer.run(keys, perSecond, Bun.sleep(roundMs));
    return { ms: latencies, lateMs: lateness, micros: (cpu() - before) / latencies.length };
  } finally {
    pacer.close();
    await cancelAll(port, keys);
  }
}

function requestOf(port: number, key: string): string {
  const body = JSON.stringify(file);
  const head = `POST /api/files HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n`;
  return `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

async function cancelAll(port: number, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    const headers = { authorization: `Bearer ${key}` };
    for (;;) {
      const page = await fetch(`http://127.0.0.1:${port}/api/files?limit=100`, { headers });
      const { items } = (await page.json()) as { items: { id: string }[] };
      if (items.length === 0) break;
      for (let at = 0; at < items.length; at += atOnce) {
        const some = items.slice(at, at + atOnce);
        await Promise.all(
          some.map(({ id }) => fetch(`http://127.0.0.1:${port}/api/files/${id}`, { method: "DELETE", headers })),
        );
      }
    }
  }
}

async function costOf(
  port: number,
  keys: readonly string[],
  url: string,
  postgres: DurablePostgres,
  redis: RedisServer,
): Promise<Cost> {
  const [key = ""] = keys;
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const announce = () =>
    fetch(`http://127.0.0.1:${port}/api/files`, { method: "POST", headers, body: JSON.stringify(file) });
  for (let i = 0; i < 3; i++) await announce();
  const client = new Client({ connectionString: url });
  await client.connect();
  const logging = async (what: string) => {
    await client.query(`alter system set log_statement = '${what}'`);
    await client.query("select pg_reload_conf()");
    await Bun.sleep(200);
  };
  try {
    await logging("all");
    const every = await scriptsOf(redis, () => fetch(`http://127.0.0.1:${port}/api/tenant`, { headers }));
    const read = postgres.output().length;
    const calls = await scriptsOf(redis, announce);
    await logging("none");
    // The log arrives through a pipe.
    await until("the log of PostgreSQL", async () => postgres.output().includes("log_statement = 'none'") || undefined);
    const lines = postgres.output().slice(read).split("\n");
    const run = lines.filter((line) => /LOG:\s+(?:execute|statement)/.test(line));
    const isOfFiles = (line: string) => /"files"|"tenant_storage"/.test(line);
    const isOfKeys = (line: string) => !isOfFiles(line) && /"api_keys"|"tenants"/.test(line);
    return {
      statements: run.filter(isOfFiles).length / counted,
      calls: calls - every,
      everyStatements: run.filter(isOfKeys).length / counted,
      everyCalls: every,
    };
  } finally {
    await client.end();
  }
}

/** Of one request. */
async function scriptsOf(redis: RedisServer, request: () => Promise<Response>): Promise<number> {
  const before = await scriptCalls(redis);
  for (let i = 0; i < counted; i++) await request();
  return ((await scriptCalls(redis)) - before) / counted;
}

async function scriptCalls(redis: RedisServer): Promise<number> {
  const stats = await redis.command("INFO", "commandstats");
  return [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}

const bareName = "bare script call";
const checkName = "check of the quota in Redis";

async function byHand(): Promise<Contender[]> {
  const server = await startRedis();
  const redis = connectRedis(server.url);
  await until("Redis", () =>
    redis.ping().then(
      () => true,
      () => undefined,
    ),
  );
  const counters = createRedisCounters({ redis });
  const max = 1_000_000_000_000;
  const pace = async (call: (place: number) => Promise<unknown>) => await paceCalls(call, perSecond, roundMs);
  let asked = 0;
  async function check(place: number): Promise<void> {
    const tenant = `tenant-${place % tenants}`;
    const limit = storageLimit(tenant, max);
    const truth = { used: 0, version: 1, held: 0 };
    const verdict = await counters.holdInSync(
      `{${tenant}}/files/${++asked}`,
      { limit, amount: file.size },
      86_400_000,
      truth,
    );
    if (verdict.kind !== "granted") throw new Error(`the check was answered with ${verdict.kind}`);
  }
  const nothing = async () => {};
  return [
    {
      ...{ name: bareName, samples: [], stop: nothing },
      round: () =>
        pace((place) =>
          redis.script(bareScript, [`quota:tenant:{${place % tenants}}:used`], [String(file.size), String(max)]),
        ),
    },
    {
      ...{ name: checkName, samples: [] },
      async round() {
        const sample = await pace(check);
        await redis.send("any", ["FLUSHALL"]);
        return sample;
      },
      async stop() {
        await redis.close();
        await server.stop();
      },
    },
    sqliteByHand(pace),
    await postgresByHand(pace),
  ];
}

type Pace = (call: (place: number) => Promise<unknown>) => Promise<Sample>;

/** Both databases have the columns of our table, and the index by tenant. */
const createFilesTable = `create table files (id text primary key, tenant_id text not null, name text not null, size_bytes bigint not null,
  type text not null, sha256 text, state text not null, settled bigint not null, created_at bigint not null,
  upload_until bigint not null, stored_at bigint)`;
const createIndex = "create index files_of_tenant on files (tenant_id, id)";
const insert = (value: (place: number) => string) =>
  `insert into files values (${Array.from({ length: 11 }, (_, i) => value(i + 1)).join(", ")})`;
const admit = (value: (place: number) => string) =>
  `update files set upload_until = ${value(1)} where id = ${value(2)}`;

function newRow(place: number): (string | number | null)[] {
  const [id, at] = [newId("file", systemClock), systemClock.now()];
  return [id, `tenant-${place % tenants}`, file.name, file.size, file.type, null, "pending", 0, at, at, null];
}

function sqliteByHand(pace: Pace): Contender {
  const database = new Sqlite(join(tempFolder("by-hand"), "files.sqlite"));
  for (const pragma of ["journal_mode = wal", "synchronous = full"]) database.run(`pragma ${pragma}`);
  database.run(createFilesTable);
  database.run(createIndex);
  const [first, second] = [database.query(insert(() => "?")), database.query(admit(() => "?"))];
  return {
    ...{ name: "two statements by hand, SQLite", samples: [] },
    round: () =>
      pace(async (place) => {
        const row = newRow(place);
        first.run(...row);
        second.run(systemClock.now() + 900_000, row[0] ?? "");
      }),
    stop: async () => database.close(),
  };
}

async function postgresByHand(pace: Pace): Promise<Contender> {
  const postgres = await startPostgres({ durable: true });
  const pool = new Pool({ connectionString: await postgres.createDatabase("by_hand"), max: 10 });
  pool.on("error", () => {}); // when PostgreSQL stops
  await pool.query(createFilesTable);
  await pool.query(createIndex);
  const parameter = (place: number) => `$${place}`;
  return {
    ...{ name: "two statements by hand, PostgreSQL", samples: [] },
    round: () =>
      pace(async (place) => {
        const row = newRow(place);
        await pool.query({ name: "insert", text: insert(parameter), values: row });
        await pool.query({ name: "admit", text: admit(parameter), values: [systemClock.now() + 900_000, row[0]] });
      }),
    async stop() {
      await pool.end();
      await postgres.stop();
    },
  };
}
