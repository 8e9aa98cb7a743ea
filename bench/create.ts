/**
 * What it costs to create a link that is durable before it is answered.
 *
 * Method: wrk sends `POST /api/links` over 16 connections to the real server, on SQLite and on a private PostgreSQL that
 * waits for the disk. The same statements run by hand in a process without HTTP, validation or rules, each link in one
 * transaction: on SQLite one after the other, on PostgreSQL over 16 connections. What is compared is the CPU time per
 * link, of the server or that process and of PostgreSQL. The server shares a transaction between links that arrive
 * together, so the table also has 16 links in a transaction by hand. Links are counted in SQL afterwards: every link
 * that was answered must be there.
 *
 * With `QL_BENCH_BEFORE`, an older copy of the program is compared too: see `older.ts`.
 *
 * Links per second depend on the disk. "per bare commit" is relative to a bare loop of one-row commits on the same disk
 * (bun:sqlite, WAL, synchronous=FULL) in the same round.
 */
import { Database as Sqlite } from "bun:sqlite";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { cli } from "../test/ground/server.ts";
import { removeFolder, tempFolder } from "../test/ground/temp.ts";
import type { Bench, Figure } from "./bench.ts";
import { runByHand } from "./by-hand.ts";
import { cpuMicros, cpuMicrosOfTree } from "./cpu.ts";
import { load } from "./load.ts";
import { olderFolder, startOlder } from "./older.ts";
import { compare, rotated } from "./rounds.ts";
import { median, progress, round, table } from "./show.ts";
import { authorization, type Database, databases, destination, type Subject, startSubject } from "./subject.ts";

const rounds = 3;
const warmSeconds = 3;
const roundSeconds = 3;
const bareMs = 1_000;
const connections = 16;
const byHandMs = 2_000;
const timeoutSeconds = 20; // a disk that others use may keep a commit waiting

const mostByHand = { most: 2.5 };
const mostBefore = { most: 0.35 };

interface Sample {
  readonly perSecond: number;
  readonly clientMicros: number;
  readonly databaseMicros: number;
}

interface Side {
  readonly name: string;
  readonly database: Database;
  readonly measure: () => Promise<Sample>;
}

export const create: Bench = {
  name: "create",
  shows: "CPU per create, against the same statements by hand; creates per second with durable commits",
  needs: ["wrk", "postgresql"],
  parts: databases,
  run,
};

async function run(parts: readonly string[]): Promise<readonly Figure[]> {
  const folder = olderFolder();
  const subjects: Subject[] = [];
  const older: Subject[] = [];
  const shown = progress();
  try {
    for (const database of databases.filter((name) => parts.length === 0 || parts.includes(name))) {
      shown.now(`starting ${database}`);
      subjects.push(await startSubject(database));
      if (folder !== undefined) older.push(await startOlder(folder, database));
    }
    for (const subject of [...subjects, ...older]) {
      shown.now(`warming up ${subject.database}`);
      await measure(subject, warmSeconds);
    }
    const sides: readonly Side[] = [
      ...subjects.map((subject) => serverSide("QuickLink", subject)),
      ...older.map((subject) => serverSide("before", subject)),
      ...(await Promise.all(subjects.map((subject) => handSide("by hand", subject, 1)))),
      ...(await Promise.all(subjects.map((subject) => handSide("by hand, 16 in one", subject, connections)))),
    ];
    const samples = new Map(sides.map((side): [Side, Sample[]] => [side, []]));
    const bare: number[] = [];
    for (let i = 0; i < rounds; i++) {
      for (const side of rotated([undefined, ...sides], i)) {
        shown.now(`round ${i + 1} of ${rounds}: ${side === undefined ? "bare commits" : nameOf(side)}`);
        if (side === undefined) bare.push(bareCommits());
        else samples.get(side)?.push(await side.measure());
      }
    }
    shown.end();
    report(samples, bare);
    return figuresOf(
      samples,
      subjects.map(({ database }) => database),
    );
  } finally {
    await Promise.all([...subjects, ...older].map((subject) => subject.stop()));
  }
}

const nameOf = ({ name, database }: Side): string => `${database}, ${name}`;

const serverSide = (name: string, subject: Subject): Side => ({
  ...{ name, database: subject.database },
  measure: () => measure(subject, roundSeconds),
});

/** In a database of its own, with the same tables. */
async function handSide(name: string, { database, postgres }: Subject, each: number): Promise<Side> {
  const folder = tempFolder("by-hand");
  const url = await postgres?.createDatabase("by_hand");
  const env = { QL_DATA: folder, ...(url !== undefined && { DATABASE_URL: url, QL_CODE_SALT: crypto.randomUUID() }) };
  if (url !== undefined) await cli(["migrate"], { env });
  const { code, stdout, stderr } = await cli(["tenant", "create", "hand", "--name", "Hand", "--json"], { env });
  const tenant = /ten_[0-9a-z]{26}/.exec(stdout)?.[0];
  if (code !== 0 || tenant === undefined) throw new Error(`no tenant\n${stdout}${stderr}`);
  const address = url ?? join(folder, "quicklink.sqlite");
  const lines = postgres === undefined ? 1 : connections;
  return {
    ...{ name, database },
    measure: () => runByHand({ address, tenant, each, lines, ms: byHandMs, postgresPid: postgres?.pid ?? 0 }),
  };
}

async function measure(subject: Subject, seconds: number): Promise<Sample> {
  const { server, postgres } = subject;
  const databaseCpu = () => (postgres === undefined ? 0 : cpuMicrosOfTree(postgres.pid));
  const linksBefore = await linksOf(subject);
  const [serverBefore, databaseBefore] = [cpuMicros(server.pid), databaseCpu()];
  const script = post(subject);
  const loaded = await load({ url: `${server.url}/api/links`, connections, seconds, script, timeoutSeconds });
  const [serverAfter, databaseAfter] = [cpuMicros(server.pid), databaseCpu()];
  const made = (await linksOf(subject)) - linksBefore;
  if (made < loaded.requests) throw new Error(`${loaded.requests} creates were answered, but only ${made} are in SQL`);
  return {
    perSecond: loaded.requests / loaded.seconds,
    clientMicros: (serverAfter - serverBefore) / loaded.requests,
    databaseMicros: (databaseAfter - databaseBefore) / loaded.requests,
  };
}

const cpuOf = ({ clientMicros, databaseMicros }: Sample): number => clientMicros + databaseMicros;

function figuresOf(samples: ReadonlyMap<Side, readonly Sample[]>, measured: readonly Database[]): Figure[] {
  const cpu = (database: Database, name: string) =>
    [...samples].find(([side]) => side.database === database && side.name === name)?.[1].map(cpuOf);
  return measured.flatMap((database) => {
    const ours = cpu(database, "QuickLink") ?? [];
    const [hand, before] = [cpu(database, "by hand") ?? [], cpu(database, "before")];
    const name = `${database}: CPU of a create /`;
    return [
      { name: `${name} by hand`, ...compare(ours, hand), target: mostByHand },
      ...(before === undefined ? [] : [{ name: `${name} before`, ...compare(ours, before), target: mostBefore }]),
    ];
  });
}

function report(samples: ReadonlyMap<Side, readonly Sample[]>, bare: readonly number[]): void {
  const row = (side: Side, all: readonly Sample[]) => [
    nameOf(side),
    round(median(all.map((one) => one.perSecond))),
    round(median(all.map((one) => one.clientMicros))),
    side.database === "sqlite" ? "in process" : round(median(all.map((one) => one.databaseMicros))),
    // For each commit of the bare loop in the same round.
    round(median(all.map((one, i) => one.perSecond / (bare[i] ?? Number.NaN)))),
  ];
  table([
    ["", "links/s", "CPU µs each", "PostgreSQL CPU µs each", "per bare commit"],
    ["bare commits", round(median(bare)), "", "", "1"],
    ...[...samples].map(([side, all]) => row(side, all)),
  ]);
}

function bareCommits(): number {
  const folder = tempFolder("commits");
  const database = new Sqlite(join(folder, "bare.sqlite"));
  database.run("pragma journal_mode = wal");
  database.run("pragma synchronous = full");
  database.run("create table commits (url text) strict");
  const insert = database.query("insert into commits values (?)");
  const started = performance.now();
  let commits = 0;
  while (performance.now() - started < bareMs) {
    insert.run(destination);
    commits++;
  }
  const perSecond = (commits * 1_000) / (performance.now() - started);
  database.close();
  removeFolder(folder);
  return perSecond;
}

function post({ server }: Subject): string {
  const path = join(tempFolder("wrk"), "post.lua");
  const headers = Object.entries(authorization(server)).map(([name, value]) => `wrk.headers["${name}"] = "${value}"\n`);
  writeFileSync(path, `wrk.method = "POST"\nwrk.body = '${JSON.stringify({ url: destination })}'\n${headers.join("")}`);
  return path;
}

async function linksOf({ server, env }: Subject): Promise<number> {
  const sql = "select count(*) as n from links";
  if (env.DATABASE_URL === undefined) {
    const database = new Sqlite(join(server.dataDir, "quicklink.sqlite"), { readonly: true });
    try {
      return database.query<{ n: number }, []>(sql).get()?.n ?? 0;
    } finally {
      database.close();
    }
  }
  const client = new Client({ connectionString: env.DATABASE_URL });
  await client.connect();
  try {
    return Number((await client.query<{ n: string }>(sql)).rows[0]?.n);
  } finally {
    await client.end();
  }
}
